/* The lists of a planning graph: of ids, of pairs and of views. Each is as long as the file's own. */
#include "graph/planning/read.h"

#include <stdio.h>

#define LIST_PLACE_BYTES (EBB_PLACE_BYTES + 64)

static void list_place(const ebb_pgraph_reader *r, const char *prefix, const char *key,
                       char place[LIST_PLACE_BYTES]) {
    (void)snprintf(place, LIST_PLACE_BYTES, "%s: %s%s", r->place, prefix, key);
}

ebb_status ebb_read_list(ebb_pgraph_reader *r, const ebb_json *object, const char *key, bool required,
                         bool *present, const ebb_json **out, uint32_t *n) {
    size_t count = 0;
    *present = false;
    *out = NULL;
    ebb_status status =
        ebb_json_array(r->env, object, r->place, key, required ? NULL : present, out, &count);
    if (status != EBB_OK) return status;
    if (required) *present = true;
    if (count >= EBB_NONE)
        return ebb_fail(r->env, EBB_BAD_INPUT, "%s: %s has %zu elements, more than can be named", r->place,
                        key, count);
    *n = (uint32_t)count;
    return EBB_OK;
}

ebb_status ebb_read_ids(ebb_pgraph_reader *r, const ebb_json *object, const char *prefix, const char *key,
                        bool required, const char *what, size_t n_ids, bool *present, const ebb_id **out,
                        uint32_t *n) {
    const ebb_json *list = NULL;
    bool found;
    ebb_status status = ebb_read_list(r, object, key, required, &found, &list, n);
    if (present) *present = found;
    if (status != EBB_OK || !found) return status;
    ebb_id *ids = EBB_NEW(&r->draft.arena, ebb_id, *n);
    if (!ids) return EBB_NO_MEMORY;
    char place[LIST_PLACE_BYTES];
    list_place(r, prefix, key, place);
    for (uint32_t i = 0; i < *n; i++) {
        int64_t id = 0;
        status = ebb_json_at_i64(r->env, list, place, i, INT64_MIN, INT64_MAX, &id);
        if (status != EBB_OK) return status;
        if (id < 0 || (uint64_t)id >= n_ids) {
            char list_name[48];
            (void)snprintf(list_name, sizeof list_name, "%s%s", prefix, key);
            return ebb_pgraph_id_fault(r->env, r->place, list_name, i, id, what, n_ids);
        }
        ids[i] = (ebb_id)id;
    }
    *out = ids;
    return EBB_OK;
}

/* Element i of a list of [out, in] or [out, in, offset]. */
static ebb_status read_tuple(const ebb_pgraph_reader *r, const ebb_json *list, const char *place,
                             uint32_t i, size_t width, int64_t tuple[3]) {
    const ebb_json *element = ebb_json_at(list, i);
    if (!ebb_json_at(element, width - 1) || ebb_json_at(element, width))
        return ebb_fail(r->env, EBB_BAD_INPUT, "%s[%u] must be a list of %zu integers", place, i, width);
    char element_place[LIST_PLACE_BYTES + 16];
    (void)snprintf(element_place, sizeof element_place, "%s[%u]", place, i);
    for (size_t k = 0; k < width; k++) {
        int64_t max = k < 2 ? (int64_t)EBB_NONE - 1 : INT64_MAX;
        ebb_status status = ebb_json_at_i64(r->env, element, element_place, k, 0, max, &tuple[k]);
        if (status != EBB_OK) return status;
    }
    return EBB_OK;
}

ebb_status ebb_read_pairs(ebb_pgraph_reader *r, const ebb_json *object, const char *prefix, const char *key,
                          bool *present, const ebb_pair **out, uint32_t *n) {
    const ebb_json *list = NULL;
    bool found;
    ebb_status status = ebb_read_list(r, object, key, false, &found, &list, n);
    if (present) *present = found;
    if (status != EBB_OK || !found) return status;
    ebb_pair *pairs = EBB_NEW(&r->draft.arena, ebb_pair, *n);
    if (!pairs) return EBB_NO_MEMORY;
    char place[LIST_PLACE_BYTES];
    list_place(r, prefix, key, place);
    for (uint32_t i = 0; i < *n; i++) {
        int64_t tuple[3];
        status = read_tuple(r, list, place, i, 2, tuple);
        if (status != EBB_OK) return status;
        pairs[i] = (ebb_pair){.out = (uint32_t)tuple[0], .in = (uint32_t)tuple[1]};
    }
    *out = pairs;
    return EBB_OK;
}

ebb_status ebb_read_views(ebb_pgraph_reader *r, const ebb_json *object, ebb_pop *op) {
    const ebb_json *list = NULL;
    bool found;
    ebb_status status = ebb_read_list(r, object, "views", false, &found, &list, &op->n_views);
    if (status != EBB_OK || !found) return status;
    ebb_view *views = EBB_NEW(&r->draft.arena, ebb_view, op->n_views);
    if (!views) return EBB_NO_MEMORY;
    char place[LIST_PLACE_BYTES];
    list_place(r, "", "views", place);
    for (uint32_t i = 0; i < op->n_views; i++) {
        int64_t tuple[3];
        status = read_tuple(r, list, place, i, 3, tuple);
        if (status != EBB_OK) return status;
        views[i] =
            (ebb_view){.out = (uint32_t)tuple[0], .in = (uint32_t)tuple[1], .offset_bytes = tuple[2]};
    }
    op->views = views;
    return EBB_OK;
}
