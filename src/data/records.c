/* Records of our own, numbers little-endian (docs/data.md):
 *
 *     0  "EBBREC01"   8  pictures, 64 bits   16  classes   20  height   24  width   28  channels
 *     32  a label of 32 bits for each picture, then height * width * channels bytes for each
 *
 * Pixels stay in the file until they are drawn. */
#include "data/data.h"

enum { HEAD_BYTES = 32, LABEL_BYTES = 4 };
static const char magic[8] = {'E', 'B', 'B', 'R', 'E', 'C', '0', '1'};

static uint64_t number(const uint8_t *at, uint32_t n) {
    uint64_t value = 0;
    while (n-- > 0) value = value << 8 | at[n];
    return value;
}

static ebb_status read_head(ebb_data *d, int64_t file_bytes) {
    uint8_t head[HEAD_BYTES] = {0};
    if (file_bytes >= HEAD_BYTES) {
        const ebb_status status = data_read(d, d->fd, 0, HEAD_BYTES, head);
        if (status != EBB_OK) return status;
    }
    if (memcmp(head, magic, sizeof magic) != 0)
        return ebb_fail(d->env, EBB_BAD_INPUT,
                        "%s: not the head of records, \"EBBREC01\", in its first %d bytes: give a folder, "
                        "records, .npz, .csv or .csv.gz",
                        d->path, HEAD_BYTES);
    const uint64_t n = number(head + 8, 8);
    d->n = n > INT32_MAX ? -1 : (int64_t)n;
    d->n_classes = (uint32_t)number(head + 16, 4);
    d->height = (uint32_t)number(head + 20, 4);
    d->width = (uint32_t)number(head + 24, 4);
    d->channels = (uint32_t)number(head + 28, 4);
    const ebb_status status = data_check_shape(d, "records");
    if (status != EBB_OK) return status;
    int64_t want = 0;
    if (!ebb_mul_i64(d->n, data_record_bytes(d) + LABEL_BYTES, &want) ||
        !ebb_add_i64(want, HEAD_BYTES, &want))
        want = -1;
    if (want != file_bytes)
        return ebb_fail(d->env, EBB_BAD_INPUT,
                        "%s: %lld bytes; %lld records of %u x %u x %u make %lld: get it again", d->path,
                        (long long)file_bytes, (long long)d->n, d->height, d->width, d->channels,
                        (long long)want);
    return EBB_OK;
}

ebb_status data_open_records(ebb_data *d) {
    int64_t file_bytes;
    ebb_status status = data_open_file(d->env, d->path, &d->fd, &file_bytes);
    if (status == EBB_OK) status = read_head(d, file_bytes);
    if (status != EBB_OK) return status;
    d->labels = EBB_NEW(&d->arena, uint32_t, d->n);
    if (!d->labels) return EBB_NO_MEMORY;
    status = data_read(d, d->fd, HEAD_BYTES, d->n * LABEL_BYTES, d->labels);
    if (status != EBB_OK) return status;
    for (int64_t i = 0; i < d->n; i++)
        d->labels[i] = (uint32_t)number((const uint8_t *)&d->labels[i], LABEL_BYTES);
    d->at = HEAD_BYTES + d->n * LABEL_BYTES;
    return data_check_labels(d);
}
