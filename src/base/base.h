/* base: the room that every other room builds on: memory, errors, text, files, threads, JSON. It knows
 * nothing of graphs or plans.
 *
 *     plain   arithmetic, bits, words, random numbers, hashes, without memory or an environment
 *     env     memory, errors, log; arenas, arrays, text
 *     os      files, folders, workers, the machine
 *     json    documents, read and printed
 *
 * Nothing that knows a tensor belongs here.
 *
 * Sizes: products and sums of sizes from outside use the checked helpers. Threads: as ebb/base.h says.
 */
#ifndef EBB_SRC_BASE_H
#define EBB_SRC_BASE_H

#include "base/env/env.h"
#include "base/json/json.h"
#include "base/os/os.h"
#include "base/plain/plain.h"

#endif
