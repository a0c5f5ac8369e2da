/* What a calibration measures: two small models with ops of every common kind, some large enough to be
 * bound by arithmetic and some by memory. */
#include "ebb/engine.h"
#include "probe_models.h"

const char *ebb_measure_probe(uint32_t i) {
    return i == 0 ? probe_pictures : i == 1 ? probe_words : NULL;
}
