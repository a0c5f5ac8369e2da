/* Golden texts: each file of tests/golden/graph is a model and what must become of it.
 *
 *     #### dims: N=7 H=33          bound as a caller would
 *     #### f64                     read with f64 for f32
 *     ebb 1 ...                    the model: all up to the first of
 *     #### expect: grad simplify   after these passes it prints as the lines up to the next ####
 *     #### error: grad | reason    these passes (none: the parse) end with an error that holds `reason`
 *
 * Lines with #### are comments to the parser, so places in errors are lines of the file. */
#include "passes.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct golden {
    ebb_env *env;
    const char *file;
    char *text;
    size_t n_model;
    ebb_dim dims[8];
    char dim_names[8][16];
    ebb_parse_options options;
} golden;

/* The line at `at` without its end; *next is where the next begins, NULL at the end. */
static void line_at(const char *at, char line[512], const char **next) {
    size_t n = strcspn(at, "\n");
    snprintf(line, 512, "%.*s", (int)n, at);
    *next = at[n] ? at + n + 1 : NULL;
}

static const char *after(const char *line, const char *prefix) {
    size_t n = strlen(prefix);
    return strncmp(line, prefix, n) == 0 ? line + n : NULL;
}

/* ---- reading ---- */

static void dims_read(golden *g, const char *list) {
    while (*list) {
        ebb_dim *dim = &g->dims[g->options.n_dims];
        char *end;
        size_t n = strcspn(list, "=");
        cr_assert(n < 16 && list[n] == '=' && g->options.n_dims < 8, "%s: dims: %s", g->file, list);
        snprintf(g->dim_names[g->options.n_dims], 16, "%.*s", (int)n, list);
        dim->name = g->dim_names[g->options.n_dims++];
        dim->size = strtoll(list + n + 1, &end, 10);
        list = end + strspn(end, " ");
    }
    g->options.dims = g->dims;
}

/* The head: options, and where the model ends. Returns the first section. */
static const char *head_read(golden *g) {
    char line[512];
    const char *at = g->text, *next;
    for (; at; at = next) {
        line_at(at, line, &next);
        const char *dims = after(line, "#### dims: ");
        if (dims) dims_read(g, dims);
        if (strcmp(line, "#### f64") == 0) g->options.f64 = true;
        if (after(line, "#### expect:") || after(line, "#### error:")) break;
    }
    g->n_model = at ? (size_t)(at - g->text) : strlen(g->text);
    return at;
}

static ebb_status run(golden *g, const char *passes, ebb_graph **graph) {
    char pass[256];
    ebb_status status = ebb_graph_parse(g->env, g->file, g->text, g->n_model, &g->options, graph);
    for (size_t n; !status && *passes; passes += n) {
        passes += strspn(passes, " ");
        n = strcspn(passes, " ");
        snprintf(pass, sizeof pass, "%.*s", (int)n, passes);
        if (n) status = graph_pass(g->env, pass, graph);
    }
    return status;
}

/* ---- checking ---- */

/* `is` must be the lines at `due` up to the next section. Returns the next section. */
static const char *same_lines(const golden *g, const char *section, const char *due, const char *is) {
    char want[512], have[512];
    const char *next_due, *next_is;
    bool same = true;
    for (; due; due = next_due) {
        line_at(due, want, &next_due);
        if (after(want, "####")) break;
        if (!*want && !next_due) break; /* the file's last newline */
        if (!is) is = "";
        line_at(is, have, &next_is);
        if (same && strcmp(want, have) != 0) {
            cr_expect_fail("%s: %s:\nwant %s\nhave %s", g->file, section, want, have);
            same = false;
        }
        is = next_is;
    }
    if (same) cr_expect(!is || !*is, "%s: %s: more is printed: %s", g->file, section, is);
    return due;
}

static const char *expect_check(golden *g, const char *section, const char *passes, const char *due) {
    ebb_graph *graph = NULL;
    ebb_status status = run(g, passes, &graph);
    cr_assert_eq(status, EBB_OK, "%s: %s: %s", g->file, section, ebb_env_error(g->env));
    ebb_text text = graph_text(g->env, graph);
    const char *next = same_lines(g, section, due, text.at);
    cr_expect_eq(ebb_graph_verify(g->env, graph), EBB_OK, "%s: %s", g->file, ebb_env_error(g->env));
    ebb_text_deinit(&text);
    ebb_graph_destroy(graph);
    return next;
}

static void error_check(golden *g, char *section) {
    ebb_graph *graph = NULL;
    char *bar = strchr(section, '|');
    cr_assert_not_null(bar, "%s: %s", g->file, section);
    *bar = 0;
    const char *reason = bar + 2;
    ebb_status status = run(g, after(section, "#### error:"), &graph);
    cr_expect(status == EBB_BAD_INPUT || status == EBB_USAGE, "%s: %s| %s: status %s", g->file, section,
              reason, ebb_status_name(status));
    cr_expect_not_null(strstr(ebb_env_error(g->env), reason), "%s:\nwant %s\nhave %s", g->file, reason,
                       ebb_env_error(g->env));
    ebb_graph_destroy(graph);
}

static uint32_t file_check(const char *file) {
    char path[1024], section[512];
    size_t n;
    uint32_t n_sections = 0;
    golden g = {.env = graph_env(), .file = file};
    snprintf(path, sizeof path, "%s/%s", EBB_GOLDEN_DIR, file);
    cr_assert_eq(ebb_file_read(g.env, path, 1 << 20, &g.text, &n), EBB_OK, "%s", ebb_env_error(g.env));
    for (const char *at = head_read(&g), *next; at; n_sections++) {
        line_at(at, section, &next);
        const char *passes = after(section, "#### expect:");
        if (passes) {
            at = expect_check(&g, section, passes, next);
        } else {
            error_check(&g, section);
            at = next;
        }
        while (at && strncmp(at, "####", 4) != 0) line_at(at, section, &at);
    }
    cr_expect_gt(n_sections, 0, "%s expects nothing", file);
    ebb_file_free(g.env, g.text, n);
    graph_env_end(g.env);
    return n_sections;
}

Test(golden, every_text_becomes_what_it_says) {
    struct dirent **entries;
    int n = scandir(EBB_GOLDEN_DIR, &entries, NULL, alphasort);
    uint32_t n_files = 0, n_sections = 0;
    cr_assert_geq(n, 0, "%s cannot be read", EBB_GOLDEN_DIR);
    for (int i = 0; i < n; i++) {
        size_t length = strlen(entries[i]->d_name);
        if (length > 4 && strcmp(entries[i]->d_name + length - 4, ".ebb") == 0) {
            n_sections += file_check(entries[i]->d_name);
            n_files++;
        }
        free(entries[i]);
    }
    free(entries);
    cr_expect(n_files >= 10 && n_sections >= 30, "%u files, %u sections", n_files, n_sections);
}
