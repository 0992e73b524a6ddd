/*
** longest_calls.h - lists that keep the longest of the calls that are added.
** Used by overview.c. The owner initialises a list with zeros and frees
** `calls`.
*/

#ifndef longest_calls_h
#define longest_calls_h

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A call, a state or a value of a variable, or a suspension (frame 0). */
typedef struct pf_overview_call {
  int64_t start, length; /* ns */
  double value;          /* of a variable; not a number: it is not known */
  uint64_t opened;       /* its rank among the calls that were opened, from 1;
                            0: its enter was not recorded */
  uint32_t frame;        /* id from 1 */
  uint32_t depth;        /* from 1; after pf_overview_trim it includes the calls
                            without an enter */
  uint32_t base, late;   /* private: which calls without an enter follow */
  bool is_counted;       /* it begins in the range */
} pf_overview_call;

/* A bounded list, without order until pf_overview_sort. */
typedef struct pf_overview_list {
  pf_overview_call *calls;
  size_t count, capacity;
  bool is_reduced;        /* private: calls have been dropped, */
  pf_overview_call least; /* and all that are before this one were */
  uint64_t total;         /* also of those that are not in the list */
} pf_overview_list;

/* Whether call `a` is dropped before `b`: the shorter one is, and of equal ones
   a hash of the start decides, so that those that stay are spread over the
   whole time, then the frame. */
bool pf_overview_is_before (const pf_overview_call *a,
                            const pf_overview_call *b);

/* Add a call to a list that keeps the `most` (above 0) longest calls; until
   pf_overview_reduce it may have twice as many. False when out of memory. */
bool pf_overview_add (pf_overview_list *list, size_t most,
                      const pf_overview_call *call);

/* Keep the `most` longest calls, if there are more. */
void pf_overview_reduce (pf_overview_list *list, size_t most);

/* Whether a call of the track was dropped from the list. */
static inline bool pf_overview_has_dropped (const pf_overview_list *list,
                                            const pf_overview_call *call) {
  return list->is_reduced && pf_overview_is_before(call, &list->least);
}

/* Order a list by start, and calls that start together as they were opened. No
   call can be added afterwards. */
void pf_overview_sort (pf_overview_list *list);

#endif
