/* options: turns flags, environment variables and the config file into the engine's options. */
#ifndef EBB_TOOL_OPTIONS_H
#define EBB_TOOL_OPTIONS_H

#include "tool/line/line.h"

/* Applies the config file, then environment variables, then flags; each overrides the earlier ones. Also
 * reads the file of --costs. EBB_IO and EBB_BAD_INPUT: the file. EBB_USAGE: flags exclude one another, or
 * parameters are out of range. */
EBB_CHECKED ebb_status tool_options(tool *t, ebb_options *out);

/* For plan and run: subtracts --reserve from --budget, or from a described device's memory less its
 * context, which becomes the budget. EBB_USAGE: there is neither, or nothing is left; EBB_IO,
 * EBB_BAD_INPUT: the description.
 */
EBB_CHECKED ebb_status tool_reserve(tool *t);

/* The source of a value. */
typedef enum tool_origin {
    TOOL_FROM_DEFAULT,
    TOOL_FROM_FILE,
    TOOL_FROM_VARIABLE,
    TOOL_FROM_FLAG
} tool_origin;
typedef struct tool_setting {
    int64_t value;
    tool_origin from;
} tool_setting;
/* The five parameters, seed, search_seed and effort. */
enum { TOOL_N_SETTINGS = 8 };
typedef struct tool_setting_row {
    const char *key, *flag, *variable; /* variable NULL: none */
    size_t arg, config;                /* int64_t in tool_args and in ebb_config; -1 there: not given */
} tool_setting_row;
extern const tool_setting_row tool_setting_rows[TOOL_N_SETTINGS];
typedef struct tool_settings {
    ebb_config file; /* all -1 without one */
    tool_setting at[TOOL_N_SETTINGS];
} tool_settings;
EBB_CHECKED ebb_status tool_settings_find(tool *t, const ebb_options *defaults, tool_settings *out);
void tool_settings_apply(const tool *t, const tool_settings *settings, ebb_options *out);
/* As tool_options, and returns each setting's source. */
EBB_CHECKED ebb_status tool_options_and_settings(tool *t, ebb_options *out, tool_settings *settings);
/* Prints the settings and their sources. */
EBB_CHECKED ebb_status tool_print_config(tool *t);
/* The name of a sublinear flag that was given, or NULL. */
const char *tool_asks_sublinear(const tool *t);
/* Notes on standard error that a config file is given but nothing is searched, or, in budget mode with
 * genetic_nr_iter 0, that the default effort was used. */
void tool_note_effort(const tool *t, const ebb_options *options);
/* With --costs, notes the sources of the plan's times on standard error. */
void tool_note_costs(const tool *t, const ebb_plan *plan);
/* "149 ops measured, 12 by lines fitted to measurements, 0 by the built-in model (AMD EPYC ...)". */
typedef struct tool_costs_text {
    char text[256];
} tool_costs_text;
tool_costs_text tool_costs_line(const ebb_plan_summary *summary);
/* Prints a line on standard error if the machine was busy when these were measured. */
void tool_note_busy(const ebb_costs *costs, const char *advice);
/* Reads the file of --costs, if given, into t and *out, whose device, width and cache must be set.
 * EBB_USAGE: no calibration of this machine; EBB_IO, EBB_BAD_INPUT: the file. */
EBB_CHECKED ebb_status tool_costs_read(tool *t, ebb_options *out);
/* Where a calibration for these options is kept in a folder (ebb_costs_path): one of direct convolutions is
 * another. */
EBB_CHECKED ebb_status tool_calibration_path(const tool *t, const ebb_options *options, const char *folder,
                                             char *path, size_t size);
/* The folder of --cache or of EBB_CACHE, or NULL. */
const char *tool_cache_folder(const tool_args *args);
const char *tool_mode_name(ebb_memory_mode mode); /* "none", "in_place", "sublinear", "budget" */

/* ---- the operand MODEL ---- */

bool tool_is_onnx(const char *path);
/* Reads a plan's file. Also EBB_BAD_INPUT if its name is a model's, a common mistake. */
EBB_CHECKED ebb_status tool_plan_read(tool *t, const char *path, ebb_plan **out);
/* Opens the operand as an ONNX file, with the dims of the command line. */
EBB_CHECKED ebb_status tool_onnx_open(tool *t, ebb_onnx **out);
/* Opens the operand as a model; an ONNX file stays open in t, for its initial values. */
EBB_CHECKED ebb_status tool_model_open(tool *t, ebb_model **out);

#endif
