/* .npz: two arrays of NumPy's .npy format (1.0 to 3.0): images u8 [n,h,w] or [n,h,w,1 or 3], and as many
 * labels, whole numbers. */
#include <stdio.h>
#include <unistd.h>

#include "data/data.h"

enum { NPY_MAX_RANK = 4, WORD = 8 };

typedef struct npy_array {
    char dtype[WORD]; /* "|u1", "<i8" */
    uint32_t rank;
    int64_t dim[NPY_MAX_RANK];
    const uint8_t *data;
    size_t n; /* bytes of data */
} npy_array;

/* ---- the head: a dictionary as Python prints it, of three keys in any order ---- */

typedef struct text_part {
    const char *at, *end;
} text_part;

static void skip(text_part *t) {
    while (t->at < t->end && (*t->at == ' ' || *t->at == '\n' || *t->at == '\t')) t->at++;
}

static bool take(text_part *t, const char *word) {
    const size_t n = strlen(word);
    skip(t);
    if ((size_t)(t->end - t->at) < n || memcmp(t->at, word, n) != 0) return false;
    t->at += n;
    return true;
}

static bool take_dtype(text_part *t, char out[WORD]) {
    size_t n = 0;
    if (!take(t, "'")) return false;
    while (t->at < t->end && *t->at != '\'' && n + 1 < WORD) out[n++] = *t->at++;
    out[n] = '\0';
    return take(t, "'");
}

static bool take_dim(text_part *t, int64_t *out) {
    char digits[20];
    size_t n = 0;
    skip(t);
    while (t->at < t->end && *t->at >= '0' && *t->at <= '9' && n + 1 < sizeof digits)
        digits[n++] = *t->at++;
    digits[n] = '\0';
    return ebb_parse_i64(digits, 0, INT64_MAX, out);
}

static bool take_shape(text_part *t, npy_array *out) {
    out->rank = 0;
    if (!take(t, "(")) return false;
    while (!take(t, ")")) {
        if (out->rank == NPY_MAX_RANK || !take_dim(t, &out->dim[out->rank++])) return false;
        if (!take(t, ",")) return take(t, ")");
    }
    return true;
}

static bool take_head(text_part *t, npy_array *out) {
    bool has_dtype = false, has_shape = false, has_order = false;
    if (!take(t, "{")) return false;
    while (!take(t, "}")) {
        bool good = false;
        if (!has_dtype && take(t, "'descr':"))
            good = has_dtype = take_dtype(t, out->dtype);
        else if (!has_order && take(t, "'fortran_order':"))
            good = has_order = take(t, "False");
        else if (!has_shape && take(t, "'shape':"))
            good = has_shape = take_shape(t, out);
        if (!good) return false;
        if (!take(t, ",")) return take(t, "}") && has_dtype && has_shape && has_order;
    }
    return has_dtype && has_shape && has_order;
}

/* ---- arrays ---- */

/* The bytes of an element of a number that we take; 0: of no such. */
static int64_t element_bytes(const char *dtype) {
    static const char *const known[] = {"|u1", "|i1", "<u2", "<i2", "<u4", "<i4", "<u8", "<i8"};
    for (size_t i = 0; i < EBB_COUNT(known); i++)
        if (strcmp(dtype, known[i]) == 0) return dtype[2] - '0';
    return 0;
}

static ebb_status read_array(const ebb_data *d, const data_member *m, const char *name, npy_array *out) {
    static const char magic[6] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};
    const uint8_t *b = m->held;
    const size_t n_before = m->n > 6 && b[6] == 1 ? 10 : 12;
    if (m->n < n_before || memcmp(b, magic, sizeof magic) != 0 || b[6] < 1 || b[6] > 3)
        return ebb_fail(d->env, EBB_BAD_INPUT, "%s: \"%s\" is no array of .npy, version 1 to 3", d->path,
                        name);
    size_t n_head = b[8] | (size_t)b[9] << 8;
    if (b[6] > 1) n_head |= (size_t)b[10] << 16 | (size_t)b[11] << 24;
    if (n_head > m->n - n_before)
        return ebb_fail(d->env, EBB_BAD_INPUT, "%s: \"%s\" ends within its head", d->path, name);
    text_part head = {(const char *)b + n_before, (const char *)b + n_before + n_head};
    int64_t bytes = 1;
    if (take_head(&head, out))
        bytes = element_bytes(out->dtype);
    else
        return ebb_fail(
            d->env, EBB_BAD_INPUT,
            "%s: \"%s\": its head is not the type, the order (not Fortran's) and at most %d sizes", d->path,
            name, NPY_MAX_RANK);
    if (bytes == 0)
        return ebb_fail(d->env, EBB_BAD_INPUT,
                        "%s: \"%s\" is of dtype %s; images are uint8, 0 to 255, and labels whole "
                        "numbers, little-endian",
                        d->path, name, out->dtype);
    for (uint32_t i = 0; i < out->rank; i++)
        if (!ebb_mul_i64(bytes, out->dim[i], &bytes)) bytes = 0;
    out->data = b + n_before + n_head;
    out->n = m->n - n_before - n_head;
    if (bytes > 0 && (uint64_t)bytes == out->n) return EBB_OK;
    return ebb_fail(
        d->env, EBB_BAD_INPUT,
        "%s: \"%s\" of dtype %s has %zu bytes behind its head, which are not those of its sizes", d->path,
        name, out->dtype, out->n);
}

static ebb_status take_images(ebb_data *d, const npy_array *a) {
    if (strcmp(a->dtype, "|u1") != 0 || a->rank < 3)
        return ebb_fail(d->env, EBB_BAD_INPUT,
                        "%s: \"images\" is %s of rank %u; it must be uint8 [n,height,width] or "
                        "[n,height,width,channels]",
                        d->path, a->dtype, a->rank);
    int64_t dim[NPY_MAX_RANK] = {a->dim[0], a->dim[1], a->dim[2], a->rank == 4 ? a->dim[3] : 1};
    for (int i = 1; i < NPY_MAX_RANK; i++)
        if (dim[i] > UINT32_MAX) dim[i] = UINT32_MAX; /* refused by the check */
    d->n = dim[0];
    d->height = (uint32_t)dim[1];
    d->width = (uint32_t)dim[2];
    d->channels = (uint32_t)dim[3];
    d->records = a->data;
    d->n_classes = 1;
    return data_check_shape(d, "images");
}

/* -1: below 0, or too large for a label. */
static int64_t label_at(const npy_array *a, int64_t i) {
    const int64_t bytes = element_bytes(a->dtype);
    const uint8_t *at = a->data + i * bytes;
    uint64_t value = 0;
    for (int64_t k = bytes; k-- > 0;) value = value << 8 | at[k];
    const bool negative = a->dtype[1] == 'i' && (at[bytes - 1] & 0x80);
    return negative || value >= EBB_DATA_MAX_CLASSES ? -1 : (int64_t)value;
}

static ebb_status take_labels(ebb_data *d, const npy_array *a) {
    const bool flat = a->rank == 1 || (a->rank == 2 && a->dim[1] == 1);
    if (!flat || a->dim[0] != d->n)
        return ebb_fail(d->env, EBB_BAD_INPUT,
                        "%s: \"labels\" must have rank 1 and %lld numbers, one for each image", d->path,
                        (long long)d->n);
    d->labels = EBB_NEW(&d->arena, uint32_t, d->n);
    if (!d->labels) return EBB_NO_MEMORY;
    for (int64_t i = 0; i < d->n; i++) {
        const int64_t label = label_at(a, i);
        if (label < 0)
            return ebb_fail(d->env, EBB_BAD_INPUT,
                            "%s: number %lld of \"labels\" is below 0, or not below %d", d->path,
                            (long long)i, EBB_DATA_MAX_CLASSES);
        d->labels[i] = (uint32_t)label;
        if (d->labels[i] >= d->n_classes) d->n_classes = d->labels[i] + 1;
    }
    return EBB_OK;
}

static ebb_status read_arrays(ebb_data *d, int fd, int64_t file_bytes) {
    static const char *const images[] = {"images.npy", "x_train.npy", "x.npy", NULL};
    static const char *const labels[] = {"labels.npy", "y_train.npy", "y.npy", NULL};
    data_member member;
    npy_array array = {.rank = 0};
    ebb_status status = data_zip_read(d, fd, file_bytes, images, &member);
    if (status != EBB_OK) return status;
    d->held = member.held;
    d->held_bytes = member.n;
    status = read_array(d, &member, "images", &array);
    if (status == EBB_OK) status = take_images(d, &array);
    if (status == EBB_OK) status = data_zip_read(d, fd, file_bytes, labels, &member);
    if (status != EBB_OK) return status;
    status = read_array(d, &member, "labels", &array);
    if (status == EBB_OK) status = take_labels(d, &array);
    ebb_free_aligned(d->env, member.held, member.n, 16);
    return status;
}

ebb_status data_open_npz(ebb_data *d) {
    int fd;
    int64_t file_bytes;
    ebb_status status = data_need_zlib(d->env, d->path);
    if (status == EBB_OK) status = data_open_file(d->env, d->path, &fd, &file_bytes);
    if (status != EBB_OK) return status;
    status = read_arrays(d, fd, file_bytes);
    (void)close(fd);
    return status;
}
