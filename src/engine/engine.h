/* engine: the chapter list. Joins the rooms below into compile, plan, fit, step.
 *
 *     inputs/   models, options, configs: what a caller brings
 *     study/    plans of one planning graph, until a budget holds
 *     run/      programs, their block of memory, steps
 *     compile/  the story: from a model to a program
 *     sweep/    many plans: fit, frontier, tune
 *     check/    inspect, measure, compare, conformance
 *
 * Each folder sees those above it in this list, but sweep and check do not see each other. This header is
 * for the rooms above; programs use ebb/engine.h.
 */
#ifndef EBB_ENGINE_ENGINE_H
#define EBB_ENGINE_ENGINE_H

#include "engine/compile/compile.h"

#endif
