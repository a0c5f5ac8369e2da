/* What becomes of groups (groups.h): each the op `fused`, where its place is. */
#include "graph/passes/groups.h"

static void numbers_take(ebb_grouper *f, ebb_group *g) {
    for (uint32_t i = 0; i < g->n_in;) {
        if (g->n_in == 1 || !ebb_group_is_number(f, g, i)) {
            i++;
            continue;
        }
        uint32_t k = g->n_members++;
        const ebb_id maker = f->old->values[g->in[i]].producer;
        for (; k > 0 && g->member[k - 1] > maker; k--) g->member[k] = g->member[k - 1];
        g->member[k] = maker;
        g->n_in--;
        for (uint32_t j = i; j < g->n_in; j++) {
            g->in[j] = g->in[j + 1];
            g->channel[j] = g->channel[j + 1];
        }
    }
}

static ebb_fused_arg arg_of(const ebb_grouper *f, const ebb_group *g, ebb_id value, bool channel) {
    const ebb_id maker = f->old->values[value].producer;
    for (uint32_t k = 0; k < g->n_members; k++) {
        if (g->member[k] == maker) return (ebb_fused_arg){true, k};
    }
    uint32_t i = 0;
    while (i + 1 < g->n_in && !(g->in[i] == value && g->channel[i] == channel)) i++;
    return (ebb_fused_arg){false, i};
}

static void fused_emit(ebb_grouper *f, ebb_group *g, const ebb_node *sink, ebb_id sum) {
    const ebb_id last = g->n_members - 1;
    ebb_fused_body body = {.n_steps = g->n_members, .n_out = 1, .out = {last}, .sum = {last}};
    body.n_sums = sum != EBB_NONE;
    for (uint32_t k = 0; k < g->n_members; k++) {
        const ebb_node *node = &f->old->nodes[g->member[k]];
        ebb_fused_step *s = &body.step[k];
        s->op = node->op;
        s->n_arg = node->n_in;
        for (uint32_t i = 0; i < node->n_in; i++)
            s->arg[i] = arg_of(f, g, node->in[i], node->op->by_channel >> i & 1);
        for (uint32_t a = 0; a < node->op->n_attrs; a++) s->attr[a] = node->attr[a];
    }
    ebb_id in[EBB_FUSED_OPERANDS]; /* what is given may be declared behind the place of the group */
    for (uint32_t i = 0; i < g->n_in; i++) {
        if (f->rw.map[g->in[i]] == EBB_NONE && f->old->values[g->in[i]].producer == EBB_NONE)
            ebb_rw_copy_given(&f->rw, g->in[i]);
        in[i] = f->rw.map[g->in[i]];
    }
    ebb_text text;
    ebb_text_init(&text, f->rw.env);
    ebb_fused_print(&text, &body);
    const ebb_id db = sum == EBB_NONE ? EBB_NONE : f->old->nodes[sum].out[0];
    const char *names[] = {f->old->values[sink->out[0]].name,
                           db == EBB_NONE ? NULL : f->old->values[db].name};
    const ebb_attr attr = {.text = text.at};
    if (ebb_text_status(&text))
        ebb_builder_fail(f->rw.builder, EBB_NO_MEMORY, "no memory for a body of %u steps", g->n_members);
    const ebb_id *made =
        ebb_builder_node(f->rw.builder, &ebb_op_fused, in, g->n_in, &attr, names, sink->phase, 0);
    f->rw.map[sink->out[0]] = made[0];
    if (db != EBB_NONE) f->rw.map[db] = made[1];
    ebb_text_deinit(&text);
}

/* A number that is made inside of all who read it. */
static bool is_unread(const ebb_grouper *f, ebb_id n) {
    const ebb_node *node = &f->old->nodes[n];
    const ebb_id value = node->out[0];
    if (node->n_in > 0 || !node->op->pointwise) return false;
    if (f->old->values[value].role == EBB_ROLE_OUTPUT || value == f->old->loss) return false;
    for (uint32_t l = f->readers[value]; l != EBB_NONE; l = f->links.at[l].next) {
        if (ebb_group_reads(f, f->links.at[l].node, value)) return false;
    }
    return true;
}

static void visit(ebb_rewriter *rw, const ebb_node *node, void *ctx) {
    ebb_grouper *f = ctx;
    const ebb_id n = rw->old->values[node->out[0]].producer;
    const ebb_id due = f->groups[n] ? f->emit[n] : n;
    if (due == EBB_NONE || f->is_summed[n] || is_unread(f, n)) return;
    ebb_group *g = f->groups[due];
    if (g && (g->n_members > 1 || f->sum[due] != EBB_NONE)) {
        fused_emit(f, g, &f->old->nodes[due], f->sum[due]);
    } else {
        ebb_rw_copy_node(rw, &f->old->nodes[due]);
    }
}

static void sums_find(ebb_grouper *f) {
    for (ebb_id n = 0; n < f->old->n_nodes; n++) {
        const ebb_node *node = &f->old->nodes[n];
        if (node->op != &ebb_op_bias_grad) continue;
        const ebb_id maker = f->old->values[node->in[0]].producer;
        if (maker == EBB_NONE || !f->groups[maker] || f->gone[maker] || f->sum[maker] != EBB_NONE) continue;
        if (!ebb_rw_sums_along(f->old, node, f->old->nodes[maker].phase)) continue;
        f->sum[maker] = n;
        f->is_summed[n] = true;
    }
}

void ebb_groups_emit(ebb_grouper *f) {
    sums_find(f);
    for (ebb_id n = 0; n < f->old->n_nodes; n++) {
        if (f->groups[n] && !f->gone[n] && f->groups[n]->n_members > 1) numbers_take(f, f->groups[n]);
    }
    ebb_rw_each(&f->rw, visit, f);
}
