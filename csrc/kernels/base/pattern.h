/*
** pattern.h - patterns of Lua (section 6.4.1 of its manual), compiled, and
** searched for with a bound: a search can take exponential time, so it asks for
** Ctrl-C.
**
** As string.find, with three differences: a fault of a pattern is found when it
** is compiled, wherever it stands; nothing is limited by the depth of nested
** calls; a pattern may be searched for in several threads at once.
*/

#ifndef pattern_h
#define pattern_h

#include "profio.h"

#define PF_MOST_CAPTURES 32 /* as in Lua */
#define PF_MOST_REPETITIONS \
  200 /* items with * + - ?; Lua's limit is the depth
                                   of calls for them, also 200 */

typedef struct pf_pattern pf_pattern;

/* Where a pattern was found: the bytes first to last - 1 of the text. */
typedef struct pf_found {
  bool is_found;
  size_t first, last;
} pf_found;

/* Compile a pattern, whose text need not outlive the call. Classes such as %a
   are those of the current locale. PF_EFORMAT: `error` says what is wrong with
   it; PF_ENOMEM. */
pf_status pf_pattern_open (pf_bytes text, pf_pattern **pattern,
                           pf_error *error);
void pf_pattern_close (pf_pattern *pattern); /* NULL: nothing happens */

/* Search a text from its begin. PF_EIO: Ctrl-C was pressed while it is held
   back (model/system/interrupt.h); `found` is then without meaning. */
pf_status pf_pattern_find (const pf_pattern *pattern, pf_bytes text,
                           pf_found *found, pf_error *error);

#endif
