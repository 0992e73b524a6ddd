/*
** content_order.h - the names, areas and lanes of a scan in the order of their
** contents (packed_sums.h), which does not depend on what was used first. Used
** by pack_sums.c and result_rows.c: open, mark what is used, sort once, free.
** The order owns its arrays and borrows the scan.
*/

#ifndef content_order_h
#define content_order_h

#include "kernels/statistics/scan.h"

/* Names, areas or lanes, by id. */
typedef struct pf_ordered {
  size_t end;     /* ids are below it */
  uint32_t *at;   /* by id: not 0 if it is marked; when sorted, index + 1 */
  uint32_t *list; /* when sorted: the ids in order */
  size_t count;   /* of the list */
} pf_ordered;

typedef struct pf_content_order {
  const pf_scan *scan;
  bool has_lane_names;
  pf_ordered names, areas, lanes;
} pf_content_order;

/* The fields by which areas with as many parents are compared. */
enum {
  PF_KEY_NAME, /* index + 1, or 0: none; so are class, file and parent */
  PF_KEY_CLASS,
  PF_KEY_FILE,
  PF_KEY_LINE, /* an order word, as the value */
  PF_KEY_HAS,  /* 1: a handle; 2: a value */
  PF_KEY_HANDLE,
  PF_KEY_VALUE,
  PF_KEY_PARENT,
  PF_AREA_KEYS
};

/* Begin with nothing marked. After PF_ENOMEM it must be freed, too. */
pf_status pf_content_order_open (pf_content_order *order, const pf_scan *scan);
void pf_content_order_free (pf_content_order *order);

/* Mark an id as used; nothing for one that does not exist (PF_NO_AREA). */
static inline void pf_content_order_mark (pf_ordered *ordered, uint32_t id) {
  if (id < ordered->end)
    ordered->at[id] = 1;
}

/* Mark the parents of marked areas, and the names of all; sort. PF_ENOMEM. */
pf_status pf_content_order_sort (pf_content_order *order);

/* The index + 1 of an id, or 0: none, or not marked. */
static inline uint32_t pf_content_order_at (const pf_ordered *ordered,
                                            uint32_t id) {
  return id < ordered->end ? ordered->at[id] : 0;
}

/* Set keys[PF_AREA_KEYS] to the fields of an area; names must be sorted. */
void pf_content_order_keys (const pf_content_order *order, uint32_t area,
                            uint64_t *keys);

#endif
