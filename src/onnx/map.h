/* map: maps a whole file into memory, read-only. */
#ifndef EBB_ONNX_MAP_H
#define EBB_ONNX_MAP_H

#include "onnx/file.h"

/* path is relative to the open folder (AT_FDCWD: the process's). EBB_IO: it is not a regular file, or
 * cannot be read. */
EBB_CHECKED ebb_status onnx_map(ebb_env *env, const char *path, int folder, bool follow, onnx_mapped *out);
void onnx_unmap(onnx_mapped *map);

#endif
