/*
** lanes.h - what the machine of calls remembers: the stack of each lane, and
** of each area in a lane a slot. Memory grows with lanes, areas and depth.
*/

#ifndef lanes_h
#define lanes_h

#include "kernels/calls/call.h"
#include "kernels/id_table.h"
#include "model/stacks.h"

/* What may be in a lane, from the class of the area. */
typedef enum pf_area_kind {
  PF_KIND_FUNCTION,
  PF_KIND_LINE,
  PF_KIND_STATE,
  PF_KIND_VALUE /* of a variable or an input */
} pf_area_kind;

/* `has_areas`: it is an area, else a name, which is that of a function. */
pf_area_kind pf_area_kind_of (const pf_dictionary *dictionary, bool has_areas,
                              uint32_t area);

typedef enum pf_frame_state {
  PF_FRAME_RUNNING,
  PF_FRAME_PAUSED,   /* by a call that it made */
  PF_FRAME_SUSPENDED /* by an event */
} pf_frame_state;

#define PF_NO_WORD UINT32_MAX

/* An open call. */
typedef struct pf_frame {
  int64_t start;
  uint64_t net;
  int64_t since; /* when it began to run, if it does */
  uint64_t children;
  int64_t period, outside;
  uint32_t depth;
  uint32_t index;  /* among the frames of its lane */
  uint32_t slot;   /* or PF_NO_SLOT: see pf_lane.frames */
  uint32_t stack;  /* as in pf_call */
  uint32_t below;  /* the next call of the same slot: a frame, or 0 */
  uint32_t losses; /* how often events had been lost at its enter */
  uint32_t detail; /* as in pf_call */
  uint32_t word;   /* its enter, packed (model/packed.h), when it is_plain and
                      that is known; else PF_NO_WORD */
  uint8_t state;   /* pf_frame_state */
  uint8_t flags;   /* pf_call_flag */
  bool is_line;    /* or a state: takes nothing from what is below */
  bool is_counted; /* its enter was met */
  bool is_first;   /* of a part: the first enter of its slot */
  bool is_old;     /* of a part: entered before it */
  bool is_plain;   /* may be left in the short way: fast_path.h */
} pf_frame;

/* Of a part: a call that was entered before it and left in it. */
typedef struct pf_unmatched_leave {
  uint32_t area;
  uint64_t before;        /* time until the first event of it in the part */
  uint64_t net, children; /* after that */
  int64_t time;           /* it was left */
} pf_unmatched_leave;

#define PF_NO_EPOCH UINT32_MAX /* a lane without events of its own so far */

typedef struct pf_lane pf_lane;

struct pf_lane {
  pf_frame *frames; /* the first stands for what was entered before the trace
                       began: it runs while there is no other */
  uint32_t count, room;
  uint32_t epoch;   /* how many gaps it has seen, or PF_NO_EPOCH */
  uint32_t *direct; /* areas to slots, or PF_NO_SLOT */
  uint32_t ndirect;
  uint32_t number; /* among the lanes of the events, or PF_NO_SLOT */
  uint32_t key;    /* no other lane has it */
  int64_t last;    /* the latest time in it */
  uint32_t peak;   /* of a part: the count was never greater */
  uint64_t before; /* of a part: as in a piece, of the call that is_old */
  pf_unmatched_leave *pieces; /* of a part: in order of time */
  size_t npieces, pieces_room;
  pf_lane *next, *prev; /* among the lanes with open calls */
};

/* An area in a lane: a line of the cache. */
typedef struct pf_slot {
  pf_lane *lane;
  uint32_t area;
  uint32_t top; /* its topmost frame, or 0 */
  uint32_t epoch;
  uint32_t plain; /* the epoch in which it is a function that has been entered
                     and left, or PF_NO_EPOCH: fast_path.h */
  uint32_t
      group; /* in which its calls are counted, or PF_NO_SLOT: fast_packed.h */
  uint32_t age; /* of a part: how many calls that were entered before it had
                   been left when this slot took over from another one */
  int64_t last_enter, last_leave; /* INT64_MIN: never */
  union {
    int64_t first_enter; /* of a part */
    int64_t earlier;     /* else: the latest time of earlier epochs */
  };
  uint8_t kind;         /* pf_area_kind */
  bool entered, left;   /* whether the times above are known */
  bool is_met;          /* of a part: it has been entered */
  bool is_first_kept;   /* of a part: its first call is among those made */
  bool is_outside_open; /* of a part: the first enter found no leave */
  bool has_first;
} pf_slot;

/* When the last call of a slot ended, of all epochs the latest; INT64_MIN: there
   has been none. A write is a call that is entered only. */
static inline int64_t pf_slot_last (const pf_slot *slot) {
  const int64_t last =
      slot->last_enter > slot->last_leave ? slot->last_enter : slot->last_leave;
  return slot->epoch > 0 && slot->earlier > last ? slot->earlier : last;
}

typedef struct pf_lanes {
  pf_dictionary *dictionary;
  bool has_areas;  /* the areas of the events are areas, and not names */
  pf_lane **lanes; /* by number */
  size_t nlanes, lanes_room;
  pf_lane **groups; /* of variables: by number in group_numbers */
  size_t ngroups, groups_room;
  pf_id_table group_numbers;
  pf_slot *slots;    /* each in a line of the cache */
  void *slot_memory; /* with them in it */
  uint32_t nslots, slots_room;
  size_t direct_total; /* entries of all pf_lane.direct */
  pf_id_table sparse;  /* (lane, area) when there would be too many of them */
  uint32_t *sparse_slots; /* by number in sparse */
  size_t sparse_room;
} pf_lanes;

void pf_lanes_init (pf_lanes *lanes, pf_dictionary *dictionary, bool has_areas);
void pf_lanes_free (pf_lanes *lanes);

/* Make the slot of an area in the lane of a number, and the lane, when they
   are not there. Lanes of variables begin at `first`, others must be begun.
   PF_OK or PF_ENOMEM. */
pf_status pf_lanes_slot (pf_lanes *lanes, uint32_t lane, uint32_t area,
                         int64_t first, uint32_t *slot);

/* The lane of a number, or NULL where it has not been met. */
static inline pf_lane *pf_lane_at (const pf_lanes *lanes, uint32_t number) {
  return number < lanes->nlanes ? lanes->lanes[number] : NULL;
}

/* The slot of an area that is mostly there. */
static inline pf_status pf_slot_find (pf_lanes *lanes, uint32_t lane,
                                      uint32_t area, int64_t first,
                                      uint32_t *slot) {
  if (lane < lanes->nlanes && lanes->lanes[lane] != NULL &&
      area < lanes->lanes[lane]->ndirect &&
      (*slot = lanes->lanes[lane]->direct[area]) != PF_NO_SLOT)
    return PF_OK;
  return pf_lanes_slot(lanes, lane, area, first, slot);
}

/* Of a part: from now on the area has another slot, like the one it had, so
   that the calls before and after can be told apart. PF_ENOMEM. */
pf_status pf_lanes_renew (pf_lanes *lanes, uint32_t slot);

/* The area of a frame, or PF_NO_AREA. */
static inline uint32_t pf_frame_area (const pf_lanes *lanes,
                                      const pf_frame *frame) {
  return frame->slot == PF_NO_SLOT ? PF_NO_AREA
                                   : lanes->slots[frame->slot].area;
}

/* Make room for one more frame. */
bool pf_lane_grow (pf_lane *lane);

/* Forget what stood below: what was entered before began at `time`. */
void pf_lane_begin (pf_lane *lane, int64_t time, uint32_t epoch);

#endif
