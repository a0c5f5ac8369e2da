/* xla/program.c: a step's program: emitted, compiled, and run on tensors by value. */
#include "exec/dropout.h"
#include "xla/xla.h"

struct ebb_xla_program {
    ebb_env *env;
    ebb_arena arena; /* owns all below */
    ebb_pjrt *plugin;
    ebb_pjrt_program *compiled;
    ebb_hlo_signature signature;
    uint64_t *seed_keys;         /* [n_keys] of its random nodes */
    uint64_t *keys, *steps;      /* [n_keys] of a run */
    ebb_pjrt_buffer **arguments; /* [n_arguments + 2] */
    ebb_pjrt_buffer **results;   /* [n_results] */
};

static ebb_status make_room(ebb_xla_program *p, const ebb_graph *graph) {
    const ebb_hlo_signature *s = &p->signature;
    p->seed_keys = EBB_NEW(&p->arena, uint64_t, s->n_keys);
    p->keys = EBB_NEW(&p->arena, uint64_t, s->n_keys);
    p->steps = EBB_NEW(&p->arena, uint64_t, s->n_keys);
    p->arguments = EBB_NEW(&p->arena, ebb_pjrt_buffer *, (size_t)s->n_arguments + 2);
    p->results = EBB_NEW(&p->arena, ebb_pjrt_buffer *, s->n_results);
    if (!p->seed_keys || !p->keys || !p->steps || !p->arguments || !p->results) return EBB_NO_MEMORY;
    for (uint32_t i = 0; i < s->n_keys; i++) p->seed_keys[i] = graph->nodes[s->keyed[i]].seed_key;
    if (ebb_pjrt_program_n_outputs(p->compiled) == s->n_results) return EBB_OK;
    return ebb_fail(p->env, EBB_DEVICE, "backend xla: the plugin made %u results of a step's %u",
                    ebb_pjrt_program_n_outputs(p->compiled), s->n_results);
}

ebb_status ebb_xla_program_create(ebb_env *env, ebb_pjrt *plugin, const ebb_graph *graph,
                                  const ebb_plan *plan, const ebb_hlo_options *options,
                                  ebb_xla_program **out) {
    ebb_text text;
    *out = NULL;
    ebb_xla_program *p = ebb_calloc(env, 1, sizeof *p);
    if (!p) return EBB_NO_MEMORY;
    p->env = env;
    p->plugin = plugin;
    ebb_arena_init(&p->arena, env);
    ebb_text_init(&text, env);
    /* A GPU's compiler does better with barriers: measured. */
    ebb_hlo_options of = *options;
    of.by_barriers = strcmp(ebb_pjrt_facts_of(plugin)->platform, "cpu") != 0;
    ebb_status status = ebb_hlo_emit(&p->arena, graph, plan, &of, &text, &p->signature);
    if (!status) status = ebb_pjrt_compile(plugin, text.at, text.n, &p->compiled);
    ebb_text_deinit(&text);
    if (!status) status = make_room(p, graph);
    if (status)
        ebb_xla_program_destroy(p);
    else
        *out = p;
    return status;
}

void ebb_xla_program_destroy(ebb_xla_program *program) {
    if (!program) return;
    ebb_pjrt_program_destroy(program->compiled);
    ebb_arena_deinit(&program->arena);
    ebb_cfree(program->env, program, 1, sizeof *program);
}

const ebb_pjrt_memory *ebb_xla_program_memory(const ebb_xla_program *program) {
    return ebb_pjrt_program_memory(program->compiled);
}

/* What PJRT calls each dtype. */
enum {
    TYPE_F32 = EBB_PJRT_F32,
    TYPE_F64 = EBB_PJRT_F64,
    TYPE_I32 = EBB_PJRT_S32,
    TYPE_U8 = EBB_PJRT_U8,
    TYPE_BOOL = EBB_PJRT_PRED,
    TYPE_F16 = EBB_PJRT_F16,
    TYPE_BF16 = EBB_PJRT_BF16,
    TYPE_I8 = EBB_PJRT_S8,
    TYPE_I16 = EBB_PJRT_S16
};

ebb_status ebb_xla_tensor_write(ebb_pjrt *plugin, const ebb_type *type, const void *data,
                                ebb_pjrt_buffer **tensor) {
    static const ebb_pjrt_type types[] = {
#define EBB_DTYPE(NAME, name, kind, storage, load, store) (ebb_pjrt_type) TYPE_##NAME,
#include "graph/dtypes.def"
    };
    int64_t dim[EBB_MAX_RANK];
    ebb_pjrt_buffer *made = NULL;
    for (uint32_t d = 0; d < type->rank; d++) dim[ebb_hlo_axis(type->rank, d)] = type->dim[d];
    const ebb_status status =
        ebb_pjrt_buffer_make(plugin, types[type->dtype], dim, type->rank, data, &made);
    if (status) return status;
    ebb_pjrt_buffer_destroy(plugin, *tensor);
    *tensor = made;
    return EBB_OK;
}

/* ---- a run ---- */

/* The two arguments behind the givens, made for this run. */
static ebb_status make_keys(ebb_xla_program *p, uint64_t seed, uint64_t step, ebb_pjrt_buffer *made[2]) {
    const uint32_t n = p->signature.n_keys;
    const int64_t dim = n;
    made[0] = made[1] = NULL;
    if (n == 0) return EBB_OK;
    for (uint32_t i = 0; i < n; i++) {
        p->keys[i] = ebb_dropout_key(seed, p->seed_keys[i]);
        p->steps[i] = ebb_dropout_step(p->seed_keys[i], step);
    }
    ebb_status status = ebb_pjrt_buffer_make(p->plugin, EBB_PJRT_U64, &dim, 1, p->keys, &made[0]);
    if (!status) status = ebb_pjrt_buffer_make(p->plugin, EBB_PJRT_U64, &dim, 1, p->steps, &made[1]);
    return status;
}

static void take_results(ebb_xla_program *p, ebb_pjrt_buffer **tensors) {
    const ebb_hlo_signature *s = &p->signature;
    for (uint32_t i = 0; i < s->n_results; i++) {
        ebb_pjrt_buffer **to = &tensors[s->results[i]];
        ebb_pjrt_buffer_destroy(p->plugin, *to);
        *to = p->results[i];
    }
}

/* What a failed run was given to write over. */
static void drop_donated(ebb_xla_program *p, ebb_pjrt_buffer **tensors, bool *spent) {
    const ebb_hlo_signature *s = &p->signature;
    for (uint32_t i = 0; i < s->n_results; i++) {
        if (s->updates[i] == EBB_NONE) continue;
        ebb_pjrt_buffer_destroy(p->plugin, tensors[s->results[i]]);
        tensors[s->results[i]] = NULL;
        *spent = true;
    }
}

ebb_status ebb_xla_program_run(ebb_xla_program *p, ebb_pjrt_buffer **tensors, uint64_t seed, uint64_t step,
                               bool *spent) {
    const ebb_hlo_signature *s = &p->signature;
    ebb_pjrt_buffer *made[2];
    *spent = false;
    ebb_status status = make_keys(p, seed, step, made);
    for (uint32_t i = 0; i < s->n_arguments; i++) p->arguments[i] = tensors[s->arguments[i]];
    for (uint32_t k = 0; k < 2; k++) p->arguments[s->n_arguments + k] = made[k];
    if (!status) {
        status = ebb_pjrt_run(p->compiled, p->arguments, s->n_arguments + (s->n_keys ? 2 : 0), p->results);
        if (status)
            drop_donated(p, tensors, spent);
        else
            take_results(p, tensors);
    }
    for (uint32_t k = 0; k < 2; k++) ebb_pjrt_buffer_destroy(p->plugin, made[k]);
    return status;
}
