/*
** nesting.h - the stacks of lanes, from spans, which state when they end, and
** from begins and ends that come one by one. It tells when spans end, and where
** they lie: a span that overlaps the one around it, without lying in it, gets a
** stack beside that of its lane. Memory grows with what is open.
**
** Used by span_events.c. Times do not fall. Order of calls: new; stack for
** each lane; for each time due until it returns false, then begin and end, and
** for a span cut until it returns false; close.
*/

#ifndef nesting_h
#define nesting_h

#include "model/dictionary/areas.h"

typedef struct pf_nesting pf_nesting;

/* NULL when out of memory. The dictionary is borrowed. */
pf_nesting *pf_nesting_new (const pf_dictionary *dictionary);
void pf_nesting_close (pf_nesting *nesting); /* or NULL */

/* Set *stack to a new empty stack; they count from 0. False when out of memory.
   */
bool pf_nesting_stack (pf_nesting *nesting, uint32_t *stack);

/* A span. */
typedef struct pf_span {
  int64_t end;
  uint32_t stack;
  uint32_t area;
} pf_span;

/* Whether a span ends at `time` or before. It is then removed from its stack,
   with all that has begun in it, and set. Of those that end together the inner
   ones come first. */
bool pf_nesting_due (pf_nesting *nesting, int64_t time, pf_span *span);

/* Whether what is innermost in a stack has begun by itself and lies in a span
   that ends at `time`: an end at this time comes before those that are due. */
bool pf_nesting_ends_first (const pf_nesting *nesting, uint32_t stack,
                            int64_t time);

/* Whether the innermost span of a stack has to end at `time`, at which `span`
   begins: they overlap by at most `inexact` ns, and by less than `span` would
   lose if it ended with the other. Then *ended is set to that one, which is
   removed. */
bool pf_nesting_cut (pf_nesting *nesting, const pf_span *span, int64_t time,
                     int64_t inexact, pf_span *ended);

typedef enum pf_placement {
  PF_PLACED,
  PF_CUT,       /* it ended too late, and now ends with the span around it */
  PF_BESIDE,    /* it has another stack */
  PF_NOT_PLACED /* out of memory */
} pf_placement;

/* Push a span that begins now. If it ends after the one around it by at most
   `inexact` ns, its end is changed; if by more, its stack is. */
pf_placement pf_nesting_span (pf_nesting *nesting, pf_span *span,
                              int64_t inexact);

/* The place of a stack among those beside each other, from 1. */
unsigned pf_nesting_order (const pf_nesting *nesting, uint32_t stack);

/* Push what begins now. False when out of memory. */
bool pf_nesting_begin (pf_nesting *nesting, uint32_t stack, uint32_t area);

/* Remove the innermost one of those that have begun with the name of *area
   (PF_NO_AREA: with any name), and all in it; set *area to its area. False:
   among the 64 innermost there is none. */
bool pf_nesting_end (pf_nesting *nesting, uint32_t stack, uint32_t *area);

/* Whether nothing is open in a stack. */
bool pf_nesting_is_empty (const pf_nesting *nesting, uint32_t stack);

#endif
