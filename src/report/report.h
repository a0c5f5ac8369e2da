/* report: computes how a plan uses memory, in figures that every view shares.
 *
 *     value   the report: one immutable value            words   how it is put into words
 *     make    audit -> lives -> curve -> peak -> again -> measured, search, batches (other commands' files)
 *     views   text, json, markdown, trace, megengine       html    the page: both print it and compute
 * nothing diff    two reports side by side
 *
 * It uses only the plan, not what made it: figures come from roles, phases and steps, so any framework's
 * planning graph gets a sensible report. It is not a check; the audit is, and runs first.
 */
#ifndef EBB_REPORT_REPORT_H
#define EBB_REPORT_REPORT_H

#include "report/value/value.h"
#include "report/words/words.h"

#endif
