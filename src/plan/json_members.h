/* plan/json_members.h: reads the members of a JSON object as raw text. Private to the room.
 *
 * A certificate has members that only its maker understands; a plan keeps them as written.
 */
#ifndef EBB_PLAN_JSON_MEMBERS_H
#define EBB_PLAN_JSON_MEMBERS_H

#include "base/base.h"

typedef struct ebb_json_member {
    const char *key; /* between the quotes, escapes as written */
    size_t n_key;
    const char *value;
    size_t n_value;
} ebb_json_member;

/* Steps through an object's members: start with *at at its '{', end past the text. false when there are no
 * more, or the text is not JSON. Never reads at or past end. */
bool ebb_json_member_next(const char **at, const char *end, ebb_json_member *out);
bool ebb_json_member_is(const ebb_json_member *member, const char *key);
/* Puts `"key": value` in the printer's own spacing. */
void ebb_json_member_put(ebb_text *text, const ebb_json_member *member);

#endif
