/* Names of a recording's values in graphs: "v12.relu". */
#include "trace/trace.h"

#include <stdio.h>
#include <stdlib.h>

static const char *kind_of(const ebb_recorded *r, const ebb_traced_value *value) {
    if (value->source == EBB_SOURCE_ARGUMENT) return "argument";
    if (value->source == EBB_SOURCE_CAPTURED) return "tensor";
    if (value->source == EBB_SOURCE_IMPORTED) return "import";
    const ebb_entry *entry = &r->entries.at[value->at];
    return entry->kind == EBB_ENTRY_OP         ? entry->op->name
           : entry->kind == EBB_ENTRY_NUMBER   ? "number"
           : entry->kind == EBB_ENTRY_BACKWARD ? "gradient"
                                               : "new";
}

const char *ebb_traced_name(const ebb_recorded *r, uint32_t v, char name[EBB_TRACE_NAME]) {
    (void)snprintf(name, EBB_TRACE_NAME, "v%u.%.40s", v, kind_of(r, &r->values.at[v]));
    return name;
}

/* Names of what comes of a value begin with its own: "v12.relu.grad". */
const char *ebb_trace_place(const ebb_trace *trace, const char *name) {
    const ebb_recorded *r = trace->last;
    char *end;
    if (!r || name[0] != 'v' || name[1] < '0' || name[1] > '9') return NULL;
    const unsigned long v = strtoul(name + 1, &end, 10);
    if (*end != '.' || v >= r->values.n) return NULL;
    const ebb_traced_value *value = &r->values.at[v];
    if (value->source != EBB_SOURCE_ENTRY) return NULL;
    const char *place = r->entries.at[value->at].place;
    return place[0] ? place : NULL;
}

uint32_t ebb_traced_find(const ebb_recorded *r, const char *name) {
    char own[EBB_TRACE_NAME];
    char *end;
    if (name[0] != 'v' || name[1] < '0' || name[1] > '9') return EBB_NONE;
    const unsigned long v = strtoul(name + 1, &end, 10);
    if (v < r->values.n && strcmp(end, ".assigned") == 0) return (uint32_t)v;
    if (v >= r->values.n || strcmp(ebb_traced_name(r, (uint32_t)v, own), name) != 0) return EBB_NONE;
    return (uint32_t)v;
}
