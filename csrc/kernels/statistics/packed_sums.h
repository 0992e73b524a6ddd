/*
** packed_sums.h - the accumulators of a scan as bytes, the packed sums: they
** name areas and lanes by content, so they can be kept, and added to those of
** other scans. Used by statistics.c and core.merged_sums
** (csrc/lua/stages/event_stages.c).
**
** Sums of the same calls are the same bytes, in whatever order and in however
** many packs the calls came: everything is sorted, and the accumulators are
** whole numbers, which pf_sums_add adds exactly. All numbers from offset 12 on
** are varints (bytes/cursor.h); those marked ~ are signed: n is 2n, and -n is
** 2n-1. An index counts from 0 in one of the lists; "or 0" marks an index + 1.
**
**   OFFSET SIZE  DESCRIPTION
**   0      8     "pfsums2\n"
**   8      1     groups: 0 by area and lane, 1 by area and caller
**   9      1     areas: 0 names only, 1 areas
**   10     1     lanes: 0 there are none, 1 integers, 2 names
**   11     1     options: 1 outermost, 2 whole_only, 4 edges, 8 from, 16 to,
**                32 last, 64 without `end` events
**   12     ...   from ~, to ~ and last ~, if the options have them; max_depth
**                names: their number; for each its size and its bytes
**                areas: their number; for each name, class and file (indexes or
**                0), parent (index of an earlier area or 0), line ~, 1 for a
**                handle + 2 for a value, handle, value ~ (if it has them); for
**                names only the name
**                lanes: their number; for each its value ~ or its name (index)
**                groups: their number; for each
**                  area (index); lane or caller (index or 0)
**                  by lane only: last stop ~ (INT64_MIN: none)
**                  number of calls; if that is 0 nothing follows
**                  number of calls that are not counted
**                  for each of net, gross, call, period and outside
**                    number of calls of which it is unknown; if it is known of
**                    none nothing follows; else 1 if counters follow, else 0
**                    values: in ascending order, the first one, then
**                      differences
**                    counters (quantile.h says when values become counters):
**                      minimum; maximum - minimum; the sum and the sum of
**                      squares in words of 64 bits, 2 and 3, the lowest first
**                      number of counters; for each its code (quantile.h, as
**                      the difference from the one before) and its count
**                    of net, gross and call: start of the longest call ~, minus
**                    the time before it in this group (0: there is none)
**
** The order of names and lanes is that of their bytes and values. Areas are
** ordered by the number of their parents, then by name, class, file, line,
** whether they have a handle and a value, handle, value and parent; groups by
** area, then by lane or caller. This is the canonical order of statistics that
** come from packed sums: a set of runs has no first occurrences. A group
** without calls keeps the last stop of an area whose calls the options exclude.
**
** pf_sums_pack allocates the bytes, which its caller frees. pf_sums_open and
** pf_sums_add fill a scan, which owns all memory of the groups; the caller
** closes it.
*/

#ifndef packed_sums_h
#define packed_sums_h

#include "kernels/statistics/scan.h"
#include "model/base/pack.h"

#define PF_SUMS_MAGIC     "pfsums2\n"
#define PF_SUMS_MAX_CALLS ((uint64_t)1 << 62) /* in all groups */

/* Bits of the options. */
enum {
  PF_SUMS_OUTERMOST = 1,
  PF_SUMS_WHOLE_ONLY = 2,
  PF_SUMS_EDGES = 4,
  PF_SUMS_FROM = 8,
  PF_SUMS_TO = 16,
  PF_SUMS_LAST = 32,
  PF_SUMS_WITHOUT_END = 64,
  PF_SUMS_ALL_BITS = 127
};

/* The kind of the groups, and the options that shaped them. */
typedef struct pf_sums_form {
  pf_group_by by; /* PF_BY_LANE or PF_BY_CALLER */
  bool has_areas, has_lanes, has_lane_names;
  bool without_end; /* `end` events were left out */
  pf_call_options calls;
} pf_sums_form;

/* Sums that are being added up. The scan owns all memory, and borrows the
   pf_sums. */
typedef struct pf_sums {
  pf_sums_form form;
  pf_scan *scan;    /* borrowed */
  pf_reader events; /* stands for the events of the scan; it has no rows */
  uint64_t calls;   /* in all groups */
} pf_sums;

/* Read the form of packed sums. PF_ETRUNCATED, PF_EFORMAT. */
pf_status pf_sums_form_of (pf_bytes packed, pf_sums_form *form,
                           pf_error *error);

/* Check that two forms are equal: PF_EUNSUPPORTED with the difference. */
pf_status pf_sums_compare (const pf_sums_form *one, const pf_sums_form *other,
                           pf_error *error);

/* The aggregates that packed sums have. */
#define PF_SUMS_AGGREGATES (1 + PF_DURATIONS * 6)
extern const pf_call_aggregates pf_sums_aggregates;

/* Begin sums of a form in a scan that is not open, with areas in a dictionary
   (borrowed). Groups that are by lane may be added up by area (PF_BY_AREA); the
   aggregates include pf_sums_aggregates. The caller closes the scan.
   PF_ENOMEM. */
pf_status pf_sums_open (pf_sums *sums, pf_scan *scan, const pf_sums_form *form,
                        const pf_scan_options *options,
                        pf_dictionary *dictionary, pf_error *error);

/* Add packed sums. The bytes are not needed afterwards. PF_ETRUNCATED,
   PF_EFORMAT, PF_ELIMIT for more than PF_SUMS_MAX_CALLS, PF_EUNSUPPORTED
   for another form, PF_ENOMEM; after a failure only close the scan. */
pf_status pf_sums_add (pf_sums *sums, pf_bytes packed, pf_error *error);

/* Append the packed sums of a scan, which has been read to its end by lane or
   by caller with squares and quantiles. PF_ENOMEM. */
pf_status pf_sums_pack (pf_scan *scan, const pf_sums_form *form,
                        pf_packed *packed);

#endif
