/*
** running.h - the functions that a lane of the call machine runs. Used by
** waits.c and wait_path.c. Nothing is allocated. Areas are those of the events:
** names if the events have no areas.
*/

#ifndef running_h
#define running_h

#include "kernels/calls/lanes.h"

/* The frame of the function that runs in a lane (NULL: a lane without events),
   or of the innermost one if none runs; NULL when no function is open. */
static inline const pf_frame *pf_active_function (const pf_lane *lane) {
  if (lane == NULL)
    return NULL;
  const pf_frame *const f = pf_lane_active(lane);
  return f->slot == PF_NO_SLOT ? NULL : f;
}

/* The area of the function that runs in a lane, or PF_NO_AREA. */
static inline uint32_t pf_running_area (const pf_lane *lane) {
  const pf_frame *const f = pf_active_function(lane);
  return f == NULL || f->state != PF_FRAME_RUNNING ? PF_NO_AREA
                                                   : pf_frame_area(f);
}

/* The area of the outermost function of a lane that has an innermost one. */
static inline uint32_t pf_outermost_area (const pf_lane *lane) {
  const pf_frame *const f = &lane->frames[1];
  return pf_frame_area(f->is_line ? f + 1 : f);
}

#endif
