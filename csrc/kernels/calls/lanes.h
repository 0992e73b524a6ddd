/*
** lanes.h - the state of the call machine: the call stack of each lane, and a
** slot for each area in a lane. Used by this folder, kernels/spans,
** kernels/statistics and kernels/explain.
**
** The call machine owns a pf_lanes, which borrows the dictionary. Lanes and
** slots are created when they first occur and freed with pf_lanes_free. Slots
** are indexes, because the array of slots moves when it grows; lanes do not
** move. Memory grows with the numbers of lanes and areas and with the depth of
** stacks. All times are in ns.
*/

#ifndef lanes_h
#define lanes_h

#include "kernels/calls/call.h"
#include "model/base/id_table.h"
#include "model/dictionary/stacks.h"
#include "model/rows/event_words.h"

/* The kind of an area, from its class (call.h). */
typedef enum pf_area_kind {
  PF_KIND_FUNCTION,
  PF_KIND_LINE,
  PF_KIND_STATE,
  PF_KIND_VALUE /* a variable or an input */
} pf_area_kind;

/* The kind of an area. Without `has_areas`, `area` is a name of the dictionary,
   and the kind is PF_KIND_FUNCTION. */
pf_area_kind pf_area_kind_of (const pf_dictionary *dictionary, bool has_areas,
                              uint32_t area);

typedef enum pf_frame_state {
  PF_FRAME_RUNNING,
  PF_FRAME_PAUSED,   /* while a call that it made is open */
  PF_FRAME_SUSPENDED /* by a suspend event */
} pf_frame_state;

/* An open call: a frame of the stack of a lane. */
typedef struct pf_frame {
  int64_t start;
  uint64_t net;
  int64_t since; /* when it last began to run, if it is running */
  uint64_t children;
  int64_t period, outside;
  uint64_t word; /* of an enter of its area in its lane (event_words.h); of
                    PF_NO_AREA in frame 0 */
  uint32_t depth;
  uint32_t slot;   /* PF_NO_SLOT in frame 0 of a lane */
  uint32_t stack;  /* as in pf_call */
  uint32_t below;  /* index of the next open call of the same slot, or 0 */
  uint32_t losses; /* pf_machine.losses at its enter */
  uint32_t detail; /* as in pf_call */
  uint8_t state;   /* pf_frame_state */
  uint8_t flags;   /* pf_call_flag */
  bool is_line;    /* a line or state: its time is not subtracted from the frame
                      below */
  bool is_counted; /* its enter is in the trace */
  bool is_first;   /* in a chunk: the first enter of its slot */
  bool is_earlier; /* in a chunk: it was entered in an earlier chunk */
  /* The fast path of stack.h may end it: a function with no flags, not above a
     line, and not is_first. */
  bool is_plain;
} pf_frame;

#define PF_NO_EPOCH UINT32_MAX /* the lane has had no events */

typedef struct pf_lane pf_lane;

struct pf_lane {
  pf_frame *frames; /* frame 0 stands for calls that were entered before the
                       trace began; it runs while no other frame does */
  uint32_t count, capacity;
  uint32_t resumed; /* index of a function that was resumed below calls which
                       are suspended, or 0 */
  uint32_t epoch;   /* pf_machine.epoch at its last event */
  uint32_t *direct; /* the slots of areas, by area, or PF_NO_SLOT; owned, as
                       `frames` is */
  uint32_t ndirect;
  bool is_sparse;  /* other areas are in pf_lanes.sparse: `direct` does not grow
                      any more */
  uint32_t number; /* id of the lane in the events; PF_NO_SLOT: of a variable */
  uint32_t key;    /* unique among all lanes */
  int64_t last;    /* its latest time */
  uint64_t before; /* in a chunk, for the frame with is_earlier: as in
                      pf_unmatched_leave */
  pf_lane *next, *prev; /* in pf_machine.busy */
};

#define PF_CACHE_LINE 64

/* An area in a lane. It fills one cache line. */
typedef struct pf_slot {
  _Alignas(PF_CACHE_LINE) pf_lane *lane;
  uint32_t area;
  uint32_t top; /* index of its topmost frame, or 0 */
  uint32_t epoch;
  uint32_t plain_epoch; /* the epoch in which the fast path of stack.h may enter
                           it, or PF_NO_EPOCH */
  uint32_t leaves;      /* in a chunk: number of its unmatched leaves */
  uint32_t group;       /* of its calls in kernels/statistics, or PF_NO_ID */
  int64_t last_enter, last_leave; /* INT64_MIN: none */
  int64_t earlier;                /* the latest time of earlier epochs */
  uint8_t kind;                   /* pf_area_kind */
  bool entered, left; /* whether last_enter and last_leave are known */
  bool is_met;        /* in a chunk: it has been entered */
  bool was_open;      /* while a file ends: it was open then */
} pf_slot;

/* The time at which the last call of a slot, none of which is open, ended, over
   all epochs; INT64_MIN when it has no calls. A write is a call that only has
   an enter. */
static inline int64_t pf_slot_last (const pf_slot *slot) {
  const int64_t last =
      slot->last_enter > slot->last_leave ? slot->last_enter : slot->last_leave;
  return slot->epoch > 0 && slot->earlier > last ? slot->earlier : last;
}

typedef struct pf_lanes {
  pf_dictionary *dictionary; /* borrowed */
  bool has_areas;            /* events have a column of areas, not of names */
  pf_lane **lanes;           /* by lane id, or NULL */
  size_t nlanes, lanes_capacity;
  pf_lane **groups; /* lanes of variables, by id in group_ids */
  size_t ngroups, groups_capacity;
  pf_id_table group_ids;
  pf_slot *slots;    /* aligned to cache lines */
  void *slot_memory; /* the block that contains them */
  uint32_t nslots, slots_capacity;
  size_t direct_total; /* total entries of all pf_lane.direct */
  pf_id_table sparse;  /* (lane, area) pairs, once `direct` arrays would be too
                          large */
  uint32_t *sparse_slots; /* by id in `sparse` */
  size_t sparse_capacity;
} pf_lanes;

void pf_lanes_init (pf_lanes *lanes, pf_dictionary *dictionary, bool has_areas);
void pf_lanes_free (pf_lanes *lanes);

/* Find or create the slot of an area in the lane with id `lane`, and the lane.
   Lanes of variables begin at time `first`; the caller begins other lanes with
   pf_lane_begin. PF_OK or PF_ENOMEM. */
pf_status pf_lanes_slot (pf_lanes *lanes, uint32_t lane, uint32_t area,
                         int64_t first, uint32_t *slot);

/* The lane with an id, or NULL when it has had no events. */
static inline pf_lane *pf_lane_at (const pf_lanes *lanes, uint32_t number) {
  return number < lanes->nlanes ? lanes->lanes[number] : NULL;
}

/* The slot of an area in a lane if it is in the lane's direct array, else
   PF_NO_SLOT. */
static inline uint32_t pf_slot_known (const pf_lanes *lanes, uint32_t lane,
                                      uint32_t area) {
  const pf_lane *const at = pf_lane_at(lanes, lane);
  return at != NULL && area < at->ndirect ? at->direct[area] : PF_NO_SLOT;
}

/* As pf_lanes_slot, faster for most slots that exist. */
static inline pf_status pf_slot_find (pf_lanes *lanes, uint32_t lane,
                                      uint32_t area, int64_t first,
                                      uint32_t *slot) {
  *slot = pf_slot_known(lanes, lane, area);
  return *slot != PF_NO_SLOT ? PF_OK
                             : pf_lanes_slot(lanes, lane, area, first, slot);
}

/* The area of a frame; PF_NO_AREA for frame 0. */
static inline uint32_t pf_frame_area (const pf_frame *frame) {
  return pf_event_area(frame->word);
}

/* The innermost function: the topmost frame, or the one below it if that is a
   line. */
static inline pf_frame *pf_lane_innermost (const pf_lane *lane) {
  pf_frame *const top = &lane->frames[lane->count - 1];
  return top->is_line ? top - 1 : top;
}

/* The function that runs, if one does: the innermost one, or one below it that
   was resumed while the calls above it are suspended. */
static inline pf_frame *pf_lane_active (const pf_lane *lane) {
  pf_frame *const inner = pf_lane_innermost(lane);
  return lane->resumed != 0 && inner->state != PF_FRAME_RUNNING
             ? &lane->frames[lane->resumed]
             : inner;
}

/* Grow the array of frames. False when out of memory. */
bool pf_lane_grow (pf_lane *lane);

/* Reset the stack of a lane to frame 0, which begins at `time`. */
void pf_lane_begin (pf_lane *lane, int64_t time, uint32_t epoch);

#endif
