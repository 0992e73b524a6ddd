/*
** task_contexts.h - the contexts (tasks, interrupts) of events: their names,
** the variables that contain the running one (option context_area), and those
** that run on several cores at once, which have a lane for each core.
**
** winidea_file owns a winidea_contexts, protected by its mutex; a decoder has a
** winidea_tracker of its own. open_winidea.c finds the variables, mapping.c
** adds the names, bin_timeline.c requests the scan, decode.c tracks the
** contexts.
*/

#ifndef task_contexts_h
#define task_contexts_h

#include "model/base/id_table.h"
#include "profio.h"

#define WINIDEA_CORES 256

typedef struct winidea_decoder winidea_decoder; /* decode.h */
typedef struct winidea_slice winidea_slice;

/* A variable that contains the running context. */
typedef struct winidea_switch {
  uint32_t variable, states; /* handles */
  bool is_fixed; /* it contains the context of `core`, whoever writes it */
  unsigned core; /* of writes that state none; WINIDEA_NO_CORE: unknown */
} winidea_switch;

typedef struct winidea_contexts {
  uint32_t *names; /* by id, or PF_NO_NAME */
  size_t capacity;
  pf_id_table ids; /* of handles */
  winidea_switch *switches;
  size_t nswitches, switches_capacity;
  uint64_t filter;     /* a bit for the low 6 bits of each of their handles */
  bool is_scanned;     /* what follows is known: */
  unsigned core;       /* the only core of the file, or WINIDEA_NO_CORE */
  pf_id_table at_once; /* names of contexts that run on several cores at once */
} winidea_contexts;

/* The running contexts of the events up to the current one. */
typedef struct winidea_tracker {
  uint32_t names[WINIDEA_CORES]; /* by core: the context, or PF_NO_NAME */
  uint32_t lanes[WINIDEA_CORES]; /* likewise: its lane */
  pf_id_table known;             /* pairs of context and core */
  uint32_t *known_lanes;         /* by pair, once they are known */
  size_t capacity;
  bool has_any; /* an event has had a context */
} winidea_tracker;

void winidea_contexts_init (winidea_contexts *contexts);
void winidea_contexts_free (winidea_contexts *contexts);

/* Finds the variables of option context_area: names or handles, separated by
   commas, in which `*` stands for any text. PF_OK or a failure. */
pf_status winidea_find_switches (pf_trace *trace, pf_error *error);

/* Notes that a file with several contexts has a timeline without contexts, or
   that a text has no cores for several variables. PF_OK or PF_ENOMEM. */
pf_status winidea_note_contexts (pf_trace *trace, pf_error *error);

/* The context that a text names: by its name or, if CONTEXTS has none of this
   name, by its handle; else the text itself. PF_NO_NAME when out of memory. The
   caller holds the mutex. */
uint32_t winidea_context_of (const pf_trace *trace, pf_bytes text);

/* context_scan.c: finds in a binary timeline the cores of the variables and the
   contexts that run on several cores at once, unless that is known. PF_OK or a
   failure. */
pf_status winidea_scan_contexts (pf_trace *trace, pf_error *error);

void winidea_tracker_init (winidea_tracker *tracker);
void winidea_tracker_free (winidea_tracker *tracker);

/* The variable of a handle, or NULL. */
const winidea_switch *winidea_switch_of (const winidea_contexts *contexts,
                                         uint32_t handle);

/* If a record, row `row` of a slice whose areas are known, is a write to a
   variable, sets the context of the core *at for which it counts; else *at is
   WINIDEA_CORES. PF_OK or PF_ENOMEM, without a message. */
pf_status winidea_track (winidea_decoder *decoder, const uint8_t *record,
                         size_t row, unsigned *at);

/* Sets decoder->contexts of a slice whose areas are known: the contexts or, in
   table events, their lanes. PF_OK or PF_ENOMEM. */
pf_status winidea_track_contexts (winidea_decoder *decoder,
                                  winidea_slice records, pf_error *error);

/* Notes at the end of the events that none had a context. PF_OK or
   PF_ENOMEM. */
pf_status winidea_note_untracked (pf_trace *trace, pf_error *error);

#endif
