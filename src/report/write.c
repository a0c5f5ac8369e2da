/* write: a view as a whole file or none. */
#include "report/html/html.h"
#include "report/views/views.h"

ebb_status ebb_report_write(ebb_env *env, const ebb_report *report, ebb_report_format format,
                            const char *path) {
    static void (*const views[])(ebb_text *, const ebb_report *) = {
        [EBB_REPORT_TEXT] = ebb_report_text,         [EBB_REPORT_JSON] = ebb_report_json,
        [EBB_REPORT_MARKDOWN] = ebb_report_markdown, [EBB_REPORT_HTML] = ebb_report_html,
        [EBB_REPORT_TRACE] = ebb_report_trace,       [EBB_REPORT_MEGENGINE] = ebb_report_megengine,
    };
    ebb_text text;
    ebb_text_init(&text, env);
    if ((size_t)format >= EBB_COUNT(views))
        return ebb_fail(env, EBB_USAGE, "report format %d: none of 0 to %zu", (int)format,
                        EBB_COUNT(views) - 1);
    views[format](&text, report);
    ebb_status status = ebb_text_status(&text);
    if (status == EBB_OK) status = ebb_file_write(env, path, text.at, text.n);
    ebb_text_deinit(&text);
    return status;
}
