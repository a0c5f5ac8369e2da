/* engine: joins the rooms below it into compile, plan, fit and step.
 *
 *     inputs/   models, options and configs from the caller
 *     study/    plans of one planning graph, until one fits the budget
 *     run/      programs, their block of memory, steps
 *     compile/  all stages from a model to a program
 *     sweep/    many plans: fit, frontier, tune
 *     check/    inspect, measure, compare, conformance
 *
 * Each folder may include those above it in this list, but sweep and check do not include each other. This
 * header is for the rooms above; programs use ebb/engine.h.
 */
#ifndef EBB_ENGINE_ENGINE_H
#define EBB_ENGINE_ENGINE_H

#include "engine/compile/compile.h"

#endif
