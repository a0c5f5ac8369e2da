#include "plan_text.h"

ebb_text edit_plan(ebb_env *env, const plan_text *plan, const edit *edits, size_t n) {
    ebb_text text;
    ebb_text_init(&text, env);
    ebb_text_add(
        &text,
        "{'schema': 'ebb.plan/1', 'graph': {'schema': 'ebb.graph/1', 'name': '%s', 'fixed_bytes': %s,\n"
        " 'values': [%s],\n 'ops': [%s]},\n'backend': 'none', 'n_threads': 1, 'alignment': 8,\n"
        "'steps': [\n%s],\n'buffers': [\n%s],\n%s}",
        plan->name, plan->fixed_bytes, plan->values, plan->ops, plan->steps, plan->buffers, plan->figures);
    for (size_t i = 0; i < n && edits[i].find != NULL; i++) {
        const char *at = strstr(text.at, edits[i].find);
        cr_assert_not_null(at, "the plan has no %s", edits[i].find);
        cr_assert_null(strstr(at + 1, edits[i].find), "the plan has two %s", edits[i].find);
        ebb_text next;
        ebb_text_init(&next, env);
        ebb_text_put(&next, text.at, (size_t)(at - text.at));
        ebb_text_add(&next, "%s%s", edits[i].replace, at + strlen(edits[i].find));
        ebb_text_deinit(&text);
        text = next;
    }
    cr_assert_eq(ebb_text_status(&text), EBB_OK);
    for (char *c = text.at; *c != '\0'; c++)
        if (*c == '\'') *c = '"';
    return text;
}

ebb_plan *parse_edited(ebb_env *env, const plan_text *plan, const edit *edits, size_t n) {
    ebb_text text = edit_plan(env, plan, edits, n);
    ebb_plan *out = NULL;
    cr_assert_eq(ebb_plan_parse(env, "p.json", text.at, text.n, &out), EBB_OK, "%s", ebb_env_error(env));
    ebb_text_deinit(&text);
    return out;
}
