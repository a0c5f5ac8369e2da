/* trace: Chrome's trace events (the JSON object format), which chrome://tracing and Perfetto read: a lane
 * for each phase and one for what runs again, and a counter of bytes by category. Times are predicted, in
 * microseconds with three decimals: nanoseconds exactly. */
#include "report/views/views.h"

enum { PROCESS = 1, LANE_AGAIN = EBB_UPDATE + 1, N_LANES };

static void put_member(ebb_text *out, const char *key, const char *value) {
    ebb_json_out json;
    ebb_json_out_init(&json, out); /* at depth 0: neither commas nor line breaks */
    ebb_json_put_text(&json, key, value);
}

static void put_time(ebb_text *out, const char *key, int64_t ns) {
    ebb_text_add(out, ", \"%s\": %lld.%03d", key, (long long)(ns / 1000), (int)(ns % 1000));
}

static void print_names(ebb_text *out, const ebb_report *r) {
    static const char *const lanes[N_LANES] = {"forward", "backward", "update", "run again"};
    ebb_text_add(out, "{\"ph\": \"M\", \"pid\": %d, \"name\": \"process_name\", \"args\": {", PROCESS);
    put_member(out, "name", r->graph_name);
    ebb_text_add(out, "}}");
    for (int lane = 0; lane < N_LANES; lane++)
        ebb_text_add(
            out,
            ",\n{\"ph\": \"M\", \"pid\": %d, \"tid\": %d, \"name\": \"thread_name\", \"args\": {\"name\": "
            "\"%s\"}}",
            PROCESS, lane, lanes[lane]);
}

static void print_op(ebb_text *out, const ebb_report_step *step, uint32_t s) {
    ebb_text_add(out, ",\n{\"ph\": \"X\", \"pid\": %d, \"tid\": %d", PROCESS,
                 step->recompute ? LANE_AGAIN : (int)step->phase);
    put_time(out, "ts", step->start_ns);
    put_time(out, "dur", step->time_ns);
    ebb_text_add(out, ", \"cat\": \"%s\", ", ebb_phase_name(step->phase));
    put_member(out, "name", step->name);
    ebb_text_add(out, ", \"args\": {\"step\": %u, \"live_bytes\": %lld, ", s, (long long)step->live_bytes);
    put_member(out, "kind", step->kind);
    ebb_text_add(out, "}}");
}

static void print_counter(ebb_text *out, const int64_t bytes[EBB_N_CATEGORIES], int64_t ns) {
    ebb_text_add(out, ",\n{\"ph\": \"C\", \"pid\": %d, \"name\": \"live bytes\"", PROCESS);
    put_time(out, "ts", ns);
    ebb_text_add(out, ", \"args\": {");
    for (int c = 0; c < EBB_N_CATEGORIES; c++)
        ebb_text_add(out, "%s\"%s\": %lld", c == 0 ? "" : ", ", ebb_category_name((ebb_category)c),
                     (long long)bytes[c]);
    ebb_text_add(out, "}}");
}

void ebb_report_trace(ebb_text *out, const ebb_report *r) {
    ebb_text_add(out, "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n");
    print_names(out, r);
    for (uint32_t s = 0; s < r->n_steps; s++) {
        print_op(out, &r->steps[s], s);
        print_counter(out, r->steps[s].bytes, r->steps[s].start_ns);
    }
    if (r->n_steps > 0) print_counter(out, r->steps[r->n_steps - 1].bytes, r->time_ns);
    ebb_text_add(out, "\n]}\n");
}
