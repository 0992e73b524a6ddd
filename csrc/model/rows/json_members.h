/*
** json_members.h - reads objects of which some members are wanted, where most
** look like the one before: the same keys in the same order, with the same
** blanks. Used by the format chrome. Nothing is allocated; values are borrowed
** from the text.
*/

#ifndef json_members_h
#define json_members_h

#include "bytes/json.h"

#define PF_JSON_GAPS 16 /* members of an object that may look alike */

/* The bytes between two values, and the second one of these. */
typedef struct pf_json_gap {
  uint64_t words[2], masks[2]; /* up to 16 bytes of text */
  uint8_t size;
  uint8_t member; /* index of the value, or that after the last one */
  pf_json_kind kind;
} pf_json_gap;

/* The members of the last object. Zero it before its first use. */
typedef struct pf_json_shape {
  size_t count; /* 0: none; above PF_JSON_GAPS: too many, or too far apart */
  pf_json_gap gaps[PF_JSON_GAPS];
} pf_json_shape;

/* The members that are wanted. */
typedef struct pf_json_wanted {
  const char *const *names;
  size_t count; /* below 255 */
} pf_json_wanted;

/* Read the object at `p`. values[i] is that of the member with the i-th name;
   the kind of those that are missing is PF_JSON_NONE. The array has one element
   more, for members that are not wanted. *is_empty: it has no members. Returns
   the position after it, or NULL. */
const uint8_t *pf_json_members (pf_json_shape *shape,
                                const pf_json_wanted *wanted, const uint8_t *p,
                                const uint8_t *end, pf_json *values,
                                bool *is_empty);

#endif
