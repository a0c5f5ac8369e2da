/* base: the ground floor, which every other room is built on; it knows nothing of graphs or plans.
 *
 *     plain   arithmetic, bits, words, random numbers, hashes: no memory, no environment
 *     env     memory, errors, log; arenas, arrays, text
 *     os      files, folders, workers, the machine
 *     json    documents, read and printed
 *
 * It is not a place for anything that knows a tensor.
 *
 * Sizes: every product or sum of sizes that come from outside goes through the checked helpers.
 * Threads: as ebb/base.h says.
 */
#ifndef EBB_SRC_BASE_H
#define EBB_SRC_BASE_H

#include "base/env/env.h"
#include "base/json/json.h"
#include "base/os/os.h"
#include "base/plain/plain.h"

#endif
