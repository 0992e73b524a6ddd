/*
** timed.h - what happens in the lanes of a file, in the order of time: as the
** file has it if that is in order, else sorted, in a temporary file if it is
** large. The order is found out by reading all once; what happens is kept then,
** unless it is too much.
**
** Used by the format chrome and span_events.c. Order of calls: zero a
** pf_timed_reader and set `order`, `next` and `context`; the first time for a
** trace pf_timed_scan; pf_timed_begin, with the source at its begin;
** pf_timed_next until PF_END; pf_timed_close. The trace owns the pf_order.
*/

#ifndef timed_h
#define timed_h

#include "model/rows/sorter.h"
#include "model/timeline/threads.h"

#define PF_TIMED_KEPT ((size_t)1 << 18) /* 8 MiB */

typedef enum pf_timed_kind {
  PF_TIMED_END,
  PF_TIMED_BEGIN,
  PF_TIMED_MARK,   /* an instant */
  PF_TIMED_WRITE,  /* of a whole number */
  PF_TIMED_NUMBER, /* of a double */
  PF_TIMED_SPAN    /* begin and end */
} pf_timed_kind;

typedef struct pf_timed {
  int64_t start;
  int64_t end;    /* of a span; of a write its value, or the bits of it */
  uint64_t place; /* byte of the file * 8 + kind */
  uint32_t lane;  /* of pf_threads */
  uint32_t area;  /* of an end without a name PF_NO_AREA */
} pf_timed;

static inline pf_timed_kind pf_timed_kind_of (const pf_timed *item) {
  return (pf_timed_kind)(item->place & 7);
}

static inline uint64_t pf_timed_place (const pf_timed *item) {
  return item->place >> 3;
}

/* How the items of a file lie. */
typedef struct pf_order {
  bool is_scanned;
  bool is_ordered;             /* by start, those around others first */
  int64_t last;                /* start of the last item */
  struct pf_timed_lane *lanes; /* owned, as the items */
  size_t lane_capacity;
  pf_timed *items; /* all, in order; NULL: there are more than are kept */
  size_t nitems, capacity;
} pf_order;

void pf_order_free (pf_order *order);

typedef struct pf_timed_reader pf_timed_reader;

/* Adds the items of the next event of a file by pf_timed_put, if it has some.
   PF_MORE, PF_END, or a failure. */
typedef pf_status pf_more_timed (void *context, pf_timed_reader *items,
                                 pf_error *error);

struct pf_timed_reader {
  pf_order *order;
  pf_more_timed *next;
  void *context;
  bool is_light;  /* items need no areas: only their order counts */
  pf_timed *held; /* of the last event */
  size_t nheld, at, held_capacity;
  pf_sorter *sorter; /* NULL: they come in order */
};

/* Add an item. False when out of memory. */
bool pf_timed_put (pf_timed_reader *items, const pf_timed *item);

pf_status pf_timed_scan (pf_timed_reader *items, pf_error *error);

/* Prepare for pf_timed_next. *in_file: whether the items had to be sorted, in a
   temporary file of so many bytes, or 0. */
pf_status pf_timed_begin (pf_timed_reader *items, bool *is_sorted,
                          uint64_t *in_file, pf_error *error);

/* Set *item to the next one, valid until the next call. PF_MORE, PF_END, or a
   failure. */
pf_status pf_timed_next (pf_timed_reader *items, const pf_timed **item,
                         pf_error *error);

void pf_timed_close (pf_timed_reader *items);

#endif
