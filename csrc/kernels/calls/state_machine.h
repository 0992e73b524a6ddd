/*
** state_machine.h - the call machine: a state machine that turns events into
** calls as call.h defines them. It holds the stacks of all lanes and knows
** nothing of columns. Used by calls.c and by kernels/spans, kernels/statistics
** and kernels/explain: init, process for the events in their order, finish,
** free. scan_merge.c merges machines of chunks. A machine owns its lanes, calls
** and chunk until pf_machine_free; it borrows the dictionary.
*/

#ifndef state_machine_h
#define state_machine_h

#include "kernels/calls/call_counts.h"
#include "kernels/calls/lanes.h"
#include "model/rows/event_words.h"

/* details.c: the line and the parameters of an enter event, stored while its
   call is open and until its row has been read. calls.c creates and frees them,
   sets the columns of each batch, and drops the details of each row that was
   read; the machine keeps those of each enter. */

typedef struct pf_details pf_details;

/* The details of one call. */
typedef struct pf_detail {
  bool has_line, has_params;
  int64_t line;
  pf_bytes params; /* valid until the detail is dropped */
} pf_detail;

/* Returns NULL when out of memory. */
pf_details *pf_details_new (void);
void pf_details_free (pf_details *details);

/* Set the columns of the current batch: a whole number, and bytes; NULL: no
   such column. They are borrowed until they are set again. */
void pf_details_read (pf_details *details, const pf_column *lines,
                      const pf_column *params);

/* Store the details of a row of these columns. Returns their id, 1 or more; 0
   when out of memory. */
uint32_t pf_details_keep (pf_details *details, size_t row);

/* Returns the details with an id; for id 0 details without line and
   parameters. */
pf_detail pf_details_at (const pf_details *details, uint32_t number);

/* Drop the details with an id, whose slot is used again; id 0 is ignored. */
void pf_details_drop (pf_details *details, uint32_t number);

/* Events in the order of the file. Lanes are ids, dense from 0. */
typedef struct pf_event_rows {
  const int64_t *times;
  const uint64_t *words; /* event_words.h */
  const uint8_t *flags;  /* sets of pf_call_flag; NULL: none */
} pf_event_rows;

/*
** Facts about a chunk of a trace that depend on the calls that are open when it
** begins, which are unknown. Filled while the chunk is read (orphans.c);
** completed when the chunk is merged into the scan of the events before it
** (kernels/statistics/scan_merge.c).
**
** A function that is left, but was not entered in the chunk, is an unmatched
** leave. A function of which only suspends and resumes have come so far is a
** frame with is_earlier at the bottom of the stack. The first call of each slot
** is kept, because its period and outside depend on earlier events. Where all
** this is not sufficient, needs_reread is set.
*/

/* A call that was entered in an earlier chunk and left in this one. */
typedef struct pf_unmatched_leave {
  uint32_t lane, area;
  int64_t from;           /* time of the first event of the lane, or of the
                             previous unmatched leave in it */
  uint64_t before;        /* net time from there to the first event of the
                             call */
  uint64_t net, children; /* from that event on */
  int64_t time;           /* of its leave */
} pf_unmatched_leave;

typedef struct pf_chunk {
  bool needs_reread;
  uint32_t peak;              /* pf_lane.count was not above it in any lane */
  pf_unmatched_leave *leaves; /* in order of the events */
  size_t nleaves, leaves_capacity;
  pf_call *firsts; /* first calls of slots that have ended */
  size_t nfirsts, firsts_capacity;
} pf_chunk;

#define PF_OUTER_STACK (PF_NO_STACK - 1) /* is no stack of the dictionary */

typedef struct pf_machine {
  pf_call_options options;
  pf_lanes lanes;
  int64_t first, last; /* the first and the last time */
  bool has_begun;
  bool before_range; /* the events are before options.from */
  bool after_range;  /* the events are after options.to */
  bool is_chunk;     /* calls before the first event are unknown */
  pf_chunk chunk;
  bool has_stacks; /* calls get their stacks; set before the first event */
  bool has_root;   /* with has_stacks: stacks begin with functions of the
                          name `root`, and calls outside of these have none */
  uint32_t root;
  pf_details *details; /* stores the details of calls, borrowed; NULL: none. Set
                          before the first event */
  size_t row;          /* of the event at hand */
  bool is_later;       /* than the event before in its lane */
  pf_call_counts counts;
  bool is_out_of_memory;
  uint32_t epoch;  /* number of `gap` events and new runs so far */
  uint32_t file;   /* the epoch in which the file at hand began */
  uint32_t losses; /* number of `lost` flags so far */
  size_t open;     /* number of open calls in all lanes */
  pf_lane *busy;   /* list of the lanes with open calls */
  pf_call *calls;  /* results of the last process or finish */
  size_t ncalls, capacity;
  size_t reserved; /* of the capacity, see pf_machine_reserve */
} pf_machine;

void pf_machine_init (pf_machine *machine, const pf_call_options *options,
                      pf_dictionary *dictionary, bool has_areas);
void pf_machine_free (pf_machine *machine);

/* Process events from..to-1. The calls that ended are in machine->calls until
   the next use of the machine, in the order in which they ended. PF_OK or
   PF_ENOMEM. */
pf_status pf_machine_process (pf_machine *machine, const pf_event_rows *rows,
                              size_t from, size_t to);

/* End the calls that are still open, and add the rows of `edges`, into
   machine->calls. PF_ENOMEM. */
pf_status pf_machine_finish (pf_machine *machine);

/* Returns true if the file that is read ends at options.last, after its last
   event so far. The end is then an event that may begin or end the range. */
bool pf_machine_ends_later (const pf_machine *machine);

/* Discard the calls in machine->calls, and reserve memory for `count` new ones.
   PF_ENOMEM. */
pf_status pf_machine_reserve (pf_machine *machine, size_t count);

#endif
