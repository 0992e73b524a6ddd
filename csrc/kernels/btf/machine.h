/*
** machine.h - shared by the files of the conversion to BTF.
**
**   read_btf.c     the reader: reads events, finds which suspends are calls
**   machine.c      the states of tasks, cores and runnables, and their names
**
** The reader owns a machine: open, grow and step for the events, begin at
** options.from, end, btf_machine_close, which frees all arrays. The dictionary
** and options.interrupts are borrowed.
*/

#ifndef machine_h
#define machine_h

#include "kernels/btf/btf.h"
#include "model/base/id_table.h"
#include "model/dictionary/areas.h"

typedef struct btf_row {
  uint32_t kind, source, type, target, event; /* names */
  int64_t time, source_instance, target_instance;
  bool has_note, has_number;
  int64_t note;
  double number;
} btf_row;

/* Queue of rows: machine.c appends, read_btf.c takes them from `head`. After
   memory has run out rows are dropped and `failed` is set. */
typedef struct btf_queue {
  btf_row *rows;
  size_t head, count, capacity;
  bool failed;
} btf_queue;

typedef struct btf_names {
  pf_dictionary *dictionary; /* borrowed */
  pf_id_table known;         /* ids of (type, name) pairs */
  uint32_t *counts;          /* by pair: number of things with it */
  size_t ncounts;
  char *text; /* buffer */
  size_t capacity;
} btf_names;

/* The id of a unique name for a new thing of a type (one letter), made of
   `prefix` and `name`; PF_NO_NAME when out of memory. */
uint32_t btf_name (btf_names *names, char type, const char *prefix,
                   pf_bytes name);

/* The role of an area in BTF. */
typedef enum btf_role {
  BTF_UNSEEN,
  BTF_RUNNABLE,
  BTF_SIGNAL,
  BTF_STATE,  /* of a variable: entering it writes the variable */
  BTF_OMITTED /* a line of a function, or a state of a task */
} btf_role;

typedef struct btf_entity {
  btf_role role;
  bool is_task;      /* a runnable that is a task: its lane ends with it */
  uint32_t name;     /* PF_NO_NAME: none yet */
  int64_t instances; /* of a runnable: number of starts */
} btf_entity;

/* A deeper call ends the one around it: each time a task loses the core, rows
   for all its calls are written. */
#define BTF_MAX_DEPTH 4096

/* An open call. */
typedef struct btf_frame {
  uint32_t area, slot;
  size_t below; /* index of the previous frame of its slot, + 1; 0: none */
  int64_t instance;
} btf_frame;

/* The names in rows. */
typedef enum btf_word {
  WORD_EVENT,
  WORD_WRITE,
  WORD_NUMBER,
  WORD_COMMENT,
  WORD_T,
  WORD_I,
  WORD_R,
  WORD_SIG,
  WORD_STI,
  WORD_TRIGGER,
  WORD_ACTIVATE,
  WORD_START,
  WORD_PREEMPT,
  WORD_RESUME,
  WORD_SUSPEND,
  WORD_TERMINATE,
  BTF_WORDS
} btf_word;

typedef enum btf_state {
  BTF_NEW,
  BTF_RUNNING,
  BTF_READY
} btf_state;

typedef struct btf_lane {
  uint32_t name;
  uint32_t stimulus; /* name of its stimulus, if has_stimulus */
  bool has_stimulus;
  btf_word type; /* WORD_T or WORD_I */
  btf_state state;
  int64_t instance;  /* number of instances that have ended */
  size_t core;       /* core on which it runs or last ran */
  btf_frame *frames; /* the open calls */
  size_t depth, capacity;
  size_t active; /* number of its outermost calls that run while it does; those
                    above them are suspended */
} btf_lane;

typedef struct btf_core {
  uint32_t name;
  size_t lane; /* index of the lane that runs on it, + 1; 0: none */
} btf_core;

typedef struct btf_machine {
  pf_btf_options options;
  pf_dictionary *dictionary; /* borrowed */
  pf_type area_type;         /* PF_AREA or PF_NAME */
  uint32_t words[BTF_WORDS];
  btf_queue queue;
  bool before_range; /* the events are before options.from: write no rows */
  btf_names names;
  btf_entity *entities; /* by area */
  size_t nentities;
  btf_lane *lanes;
  size_t nlanes;
  btf_core *cores;
  size_t ncores;
  size_t *tops; /* by slot (a lane and an area): index of its innermost frame, +
                   1 */
  size_t ntops;
  int64_t time;     /* of the current event, minus `base` */
  uint64_t orphans; /* leaves without an enter */
  uint64_t late;    /* events with times before that of the previous one */
} btf_machine;

typedef enum btf_kind {
  BTF_NOTHING,
  BTF_ENTER,
  BTF_LEAVE,
  BTF_SUSPEND,
  BTF_RESUME,
  BTF_WRITE
} btf_kind;

typedef struct btf_event {
  btf_kind kind;
  bool is_call; /* a suspend because another function is called */
  uint32_t area, slot;
  size_t lane, core;
  btf_word note; /* WORD_EVENT: none */
  int64_t value;
  double number;
} btf_event;

pf_status btf_machine_open (btf_machine *machine, pf_dictionary *dictionary,
                            pf_error *error);
void btf_machine_close (btf_machine *machine);

/* The entity of an area, with its role and name; NULL when out of memory. */
btf_entity *btf_entity_of (btf_machine *machine, uint32_t area);

/* Grow the arrays to these numbers of lanes, cores and slots. PF_ENOMEM. */
pf_status btf_machine_grow (btf_machine *machine, size_t lanes, size_t cores,
                            size_t slots);

/* At options.from: start the open tasks and calls. PF_ENOMEM. */
pf_status btf_machine_begin (btf_machine *machine);

/* Queue the rows for an event at `time` (ns, minus `base`). PF_ENOMEM. */
pf_status btf_machine_step (btf_machine *machine, int64_t time,
                            const btf_event *event);

/* Queue the rows for a gap after the last event: all calls end there, and no
   lane has a core. PF_ENOMEM. */
pf_status btf_machine_gap (btf_machine *machine);

/* Queue the rows for the end of the events. PF_ENOMEM. */
pf_status btf_machine_end (btf_machine *machine);

#endif
