/* What the tests of the search share: envs, graphs by hand, and the long way to a candidate's figures. */
#ifndef EBB_TESTS_SUBLINEAR_SUPPORT_H
#define EBB_TESTS_SUBLINEAR_SUPPORT_H

#include <criterion/criterion.h>

#include "planner/planner.h"
#include "sublinear/select.h"
#include "support/count.h"
#include "support/random_pgraph.h"
#include "support/scarce.h"

/* ---- envs ---- */

ebb_env *start_env(void);
ebb_env *
start_fault_env(scarce_memory *memory); /* refuses nothing until fail_at is set, then that call alone */
/* Destroys it after checking that nothing made with it is left. */
void end_env(ebb_env *env);
/* Fails the test with the env's text when the status is not the wanted one. */
void want_status(const ebb_env *env, ebb_status status, ebb_status wanted);

/* ---- graphs by hand ---- */

/*     sketch s;
 *     sketch_begin(&s, env);
 *     ebb_id x = sketch_value(&s, EBB_ROLE_INPUT, 33);
 *     ebb_id y = sketch_op(&s, IDS(x), 33, 10);   an op of 10 ns that makes 33 bytes
 *     sketch_in_place(&s, 0, 0);                  the calls below speak of the op that was added last
 *     ebb_pgraph *graph = sketch_end(&s);  */
typedef struct sketch {
    ebb_env *env;
    ebb_pdraft draft;
} sketch;
typedef struct id_list {
    const ebb_id *at;
    uint32_t n;
} id_list;
#define IDS(...) \
    ((id_list){(const ebb_id[]){__VA_ARGS__}, sizeof((const ebb_id[]){__VA_ARGS__}) / sizeof(ebb_id)})
#define NO_IDS ((id_list){NULL, 0})

void sketch_begin(sketch *s, ebb_env *env);
ebb_id sketch_value(sketch *s, ebb_role role, int64_t bytes);
ebb_pop *sketch_sink(sketch *s, id_list in, int64_t time_ns);
ebb_id sketch_op(sketch *s, id_list in, int64_t bytes, int64_t time_ns);
ebb_pop *sketch_last(sketch *s);
void sketch_in_place(sketch *s, uint32_t out, uint32_t in);
/* The last op's only output is the view of its input `in`. */
void sketch_view(sketch *s, uint32_t in, int64_t offset_bytes);
/* An op that replaces the param or state `old`, its last input. */
ebb_id sketch_update(sketch *s, id_list in, ebb_id old);
ebb_pgraph *sketch_end(sketch *s);

/* A random graph; the test fails when there is none. */
ebb_pgraph *draw_pgraph(ebb_env *env, uint64_t seed, const random_pgraph_options *options);

/* ---- candidates ---- */

/* A space and its scorer. */
typedef struct bench {
    ebb_space *space;
    ebb_scorer *scorer;
} bench;
bench bench_begin(ebb_env *env, const ebb_pgraph *graph, int64_t alignment);
void bench_end(bench *b);
uint32_t free_gene_count(const ebb_space *space);
/* Each gene that has a choice is changed with a chance of percent. */
void draw_genes(const ebb_space *space, ebb_rng *rng, uint32_t percent, uint8_t *genes);

/* The next candidate in the order of an odometer; false after the last. */
bool next_genes(const ebb_space *space, uint8_t *genes);

/* Rewrites and plans steps, in place; audits the plan. */
ebb_plan *plan_steps(ebb_env *env, const ebb_pgraph *graph, const ebb_step_choice *steps, uint32_t n_steps,
                     const uint32_t *alternative, int64_t alignment);
/* The plan of a selection, whose figures must be the selection's. */
void want_true_selection(ebb_env *env, const ebb_pgraph *graph, const ebb_selection *selection,
                         int64_t alignment);

/* A request with few candidates, one worker and the defaults otherwise. */
ebb_select_request small_request(const ebb_pgraph *graph, ebb_method method, int64_t budget_bytes);
/* MegEngine's mode, otherwise the same. */
ebb_select_request mge_request(const ebb_pgraph *graph, int64_t alignment);
/* The selection; the test fails when there is none. */
ebb_selection *select_ok(ebb_env *env, const ebb_select_request *request);
/* Peak and time without recomputation. */
ebb_score base_score(ebb_env *env, const ebb_pgraph *graph, int64_t alignment);
uint32_t count_runs(const ebb_selection *selection, ebb_id op);

#endif
