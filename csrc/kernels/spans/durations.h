/*
** durations.h - the durations of all calls of each frame: histograms with an
** example for each bucket, quantiles, and a heat map, which counts the calls by
** time and duration. Used by overview.c and csrc/lua/stages/lane_overview.c.
** Initialise it with pf_durations_init, add calls, read the members, and free
** all with pf_durations_close.
**
** Memory grows with the number of frames and of cells, not with that of calls:
** if the heat maps have more than PF_HEAT_CELLS cells, the columns become twice
** as wide.
*/

#ifndef durations_h
#define durations_h

#include "kernels/calls/call.h"
#include "kernels/group/quantile.h"
#include "kernels/spans/histogram.h"
#include "model/base/id_table.h"

/* Durations with a histogram: PF_NET, PF_GROSS, PF_PERIOD, in this order. */
#define PF_DURATION_KINDS 3

/* Columns of a heat map at first, and about the most cells of all. */
#define PF_HEAT_COLUMNS 64
#define PF_HEAT_CELLS   (1u << 20)

/* The calls of a frame; initialised with zeros. */
typedef struct pf_frame_durations {
  pf_duration_histogram histograms[PF_DURATION_KINDS];
  pf_quantile quantiles[PF_DURATION_KINDS];
  int64_t max[PF_DURATION_KINDS]; /* ns */
  int64_t net;                    /* sum, ns; it saturates */
  uint32_t *cells; /* of the heat map: indices in pf_durations.cells, by column
                      and bucket; owned. Set by pf_durations_finish */
  size_t ncells;
} pf_frame_durations;

/* Calls of a frame that began in one column and have a gross duration in one
   bucket. */
typedef struct pf_heat_cell {
  uint64_t count;
  int64_t start; /* ns: of one of them */
  uint32_t track;
} pf_heat_cell;

/* A call that is not counted yet. */
typedef struct pf_pending_call {
  int64_t times[PF_DURATION_KINDS], start; /* ns */
  uint32_t frame, track;
} pf_pending_call;

typedef struct pf_durations {
  pf_frame_durations *frames; /* by frame */
  size_t count, capacity;     /* `count` of them are in use */
  pf_quantile_pool pool;
  pf_id_table keys; /* of cells: see pf_heat_column */
  pf_heat_cell *cells;
  size_t cells_capacity;
  int64_t first, length;             /* ns: see pf_durations_init */
  int64_t width;                     /* ns of a column */
  pf_pending_call *pending, *sorted; /* private */
  uint32_t npending;
} pf_durations;

/* The column and the bucket of a cell. */
static inline uint32_t pf_heat_column (uint64_t key) {
  return (uint32_t)(key >> 16 & 0xffff);
}

static inline uint32_t pf_heat_bucket (uint64_t key) {
  return (uint32_t)(key & 0xffff);
}

/* Prepare for calls that begin `first` ns or later, and less than `length` ns
   after that; earlier and later ones count in the first and last column. */
void pf_durations_init (pf_durations *durations, int64_t first, int64_t length);
void pf_durations_close (pf_durations *durations);

/* Add a call of a frame: its durations by PF_NET, ..., its start in ns, and its
   track. False when out of memory. */
bool pf_durations_add (pf_durations *durations, uint32_t frame,
                       const int64_t *times, int64_t start, uint32_t track);

/* Count the last calls, and sort the cells of each frame by column and bucket.
   False when out of memory. */
bool pf_durations_finish (pf_durations *durations);

/* Returns the calls of a frame, or NULL if it has none. */
static inline pf_frame_durations *pf_durations_of (pf_durations *durations,
                                                   size_t frame) {
  return frame < durations->count ? &durations->frames[frame] : NULL;
}

#endif
