/* Folders of pictures that tests of the loader share. */
#ifndef EBB_TESTS_DATA_FOLDER_H
#define EBB_TESTS_DATA_FOLDER_H

#include "../base/support.h"
#include "ebb/data.h"

typedef enum folder_damage {
    TRUNCATED,
    EMPTIED,
    NO_PICTURE,
    HUGE_PNG,
    HUGE_JPEG,
    FOLDER_DAMAGES
} folder_damage;

/* A new folder of two classes, 5 JPEGs of odd sizes (grey and progressive ones among them) and 4 PNGs, two
 * of which are interlaced. */
void folder_make(char path[64]);
/* Another file in its first class, damaged in this way. */
void folder_damage_add(const char *path, folder_damage how);
/* All of it, whatever lies there. */
void folder_end(const char *path);
/* For floats of 3 x 9 x 11 pixels, 4 a batch. */
void folder_options(const ebb_data *data, ebb_loader_options *options);
enum { FOLDER_BATCH = 4, FOLDER_FLOATS = FOLDER_BATCH * 3 * 9 * 11 };

#endif
