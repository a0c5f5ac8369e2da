/* ebb/engine.h: compile a model under a byte budget, run its training steps, ask what fits.
 *
 *     options    what every call is asked with          search     plan a model
 *     model      what is planned and run                fit        the largest batch within a budget
 *     device     where                                  frontier   what each byte less costs in time
 *     run        training steps                         tune       what each search parameter buys
 *     measure    how long ops take here
 *     keep       a run saved to a file, and gone on with
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
