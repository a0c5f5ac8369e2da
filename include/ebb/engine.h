/* ebb/engine.h: compile a model under a byte budget, run its training steps, ask what fits.
 *
 *     options    the options of every call              search     plan a model
 *     model      what is planned and run                fit        the largest batch within a budget
 *     device     where                                  frontier   what each byte saved costs in time
 *     run        training steps                         tune       what each search parameter buys
 *     measure    how long ops take here
 *     keep       saving a run to a file, and resuming it
 *     schedule   the learning rate of each step
 */
#ifndef EBB_ENGINE_H
#define EBB_ENGINE_H

#include "ebb/device.h"
#include "ebb/fit.h"
#include "ebb/frontier.h"
#include "ebb/keep.h"
#include "ebb/measure.h"
#include "ebb/model.h"
#include "ebb/options.h"
#include "ebb/run.h"
#include "ebb/schedule.h"
#include "ebb/search.h"
#include "ebb/tune.h"

#endif
