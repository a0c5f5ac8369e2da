/* log: what a search tried, for those who ask: one point for each candidate that is offered to the pool,
 * one round for the seeds and for each generation. Written between rounds by the caller's thread alone, so
 * that it is the same for any number of workers; a search that nobody logs pays a test for NULL. */
#include "sublinear/pool/pool.h"

enum { MAX_POINTS = 20000 }; /* of all searches together: a search that offers every child has millions */

void ebb_log_begin(ebb_search *s, ebb_method method) {
    ebb_select_log *log = s->log;
    if (!log) return;
    ebb_log_search search = {.method = method, .limit_bytes = s->budget_bytes, .effort = s->effort};
    log->failed = !EBB_PUSH(s->env, &log->searches, search) || log->failed;
}

static ebb_log_search *last(ebb_select_log *log) {
    return &log->searches.at[log->searches.n - 1];
}

void ebb_log_ran(ebb_search *s, ebb_log_how how) {
    if (s->log && !s->log->failed) last(s->log)->how = how;
}

void ebb_log_point_add(ebb_search *s, const ebb_worth *worth) {
    ebb_select_log *log = s->log;
    if (!log || log->failed || worth->excess_bytes == INT64_MAX) return;
    ebb_log_point point = {worth->peak_bytes, worth->time_ns};
    if (log->points.n == MAX_POINTS)
        last(log)->n_left_out++;
    else if (EBB_PUSH(s->env, &log->points, point))
        last(log)->n_points++;
    else
        log->failed = true;
}

void ebb_log_round_end(ebb_search *s) {
    ebb_select_log *log = s->log;
    if (!log || log->failed || s->n_members == 0) return;
    ebb_log_search *search = last(log);
    const ebb_worth *best = &s->members[0].best;
    search->n_scored = s->n_scored;
    if (best->excess_bytes == INT64_MAX) return;
    if (search->n_rounds > 0 && log->rounds.at[log->rounds.n - 1].n_scored == s->n_scored) return;
    ebb_log_round round = {.n_scored = s->n_scored,
                           .peak_bytes = best->peak_bytes,
                           .time_ns = best->time_ns,
                           .fits = search->method == EBB_METHOD_BUDGET && best->excess_bytes == 0};
    if (EBB_PUSH(s->env, &log->rounds, round))
        search->n_rounds++;
    else
        log->failed = true;
}

void ebb_select_log_deinit(ebb_env *env, ebb_select_log *log) {
    EBB_ARRAY_FREE(env, &log->searches);
    EBB_ARRAY_FREE(env, &log->rounds);
    EBB_ARRAY_FREE(env, &log->points);
}
