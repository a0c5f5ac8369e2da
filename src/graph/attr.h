/* graph/attr.h: attributes by their schema. Private to the room. */
#ifndef EBB_GRAPH_ATTR_H
#define EBB_GRAPH_ATTR_H

#include "graph/op.h"

#define EBB_MAX_ATTRS 16 /* of one op */

/* Integers that an attribute has room for: its count, or EBB_MAX_RANK for a list as long as given. */
uint32_t ebb_attr_width(const ebb_attr_info *info);
/* Length of the list in a: up to the first 0 for a list as long as given. */
uint32_t ebb_attr_length(const ebb_attr_info *info, const ebb_attr *a);
ebb_attr ebb_attr_default(const ebb_attr_info *info);
/* a with all bytes that the schema does not use zeroed, so that equal attributes have equal bytes. */
ebb_attr ebb_attr_clean(const ebb_attr_info *info, const ebb_attr *a);
bool ebb_attr_equal(const ebb_attr_info *info, const ebb_attr *a, const ebb_attr *b);
/* EBB_BAD_INPUT with the attribute, the value and its range. */
EBB_CHECKED ebb_status ebb_attr_check(ebb_env *env, const ebb_op_info *op, const ebb_attr_info *info,
                                      const ebb_attr *a);

#endif
