/*
** btf_machine.h - what the files of the export to BTF share.
**
**   btf_read.c    the reader: events in, rows out; which suspends are calls
**   btf_machine.c   the states of tasks, cores and runnables
**   btf_rows.c    rows that wait to be yielded
**   btf_names.c   names of things, made safe and told apart
*/

#ifndef btf_machine_h
#define btf_machine_h

#include "kernels/btf/btf.h"
#include "kernels/id_table.h"
#include "model/areas.h"

/* {====== btf_rows.c ====== */

typedef struct btf_row {
  uint32_t kind, source, type, target, event; /* names */
  int64_t time, source_instance, target_instance;
  bool has_note, has_number;
  int64_t note;
  double number;
} btf_row;

/* Rows on their way out. What is put after memory ran out is dropped, and
   `failed` says so. */
typedef struct btf_queue {
  btf_row *rows;
  size_t head, count, room;
  bool failed;
} btf_queue;

#define BTF_FIELDS 10
extern const pf_field btf_fields[BTF_FIELDS];

void btf_put (btf_queue *queue, const btf_row *row);

/* Move rows into what is free of the batch. */
void btf_take (btf_queue *queue, pf_batch *batch);

/* }====== */


/* {====== btf_names.c ====== */

typedef struct btf_names {
  pf_dictionary *dictionary;
  pf_id_table known; /* (type, name) pairs */
  uint32_t *tries;   /* of each pair: how many things wanted it */
  size_t ntries;
  char *text; /* the name being made */
  size_t room;
} btf_names;

/* The name of a new thing of a type (one letter) that is called `prefix` and
   `name`; PF_NO_NAME: out of memory. */
uint32_t btf_name (btf_names *names, char type, const char *prefix,
                   pf_bytes name);

void btf_names_free (btf_names *names);

/* }====== */


/* {====== btf_machine.c ====== */

/* What an area is in BTF. */
typedef enum btf_role {
  BTF_UNSEEN,
  BTF_RUNNABLE,
  BTF_SIGNAL,
  BTF_STATE,   /* of a variable: entering it writes the variable */
  BTF_LEFT_OUT /* a line of a function */
} btf_role;

typedef struct btf_entity {
  btf_role role;
  uint32_t name;     /* PF_NO_NAME: not made yet */
  int64_t instances; /* of a runnable: how many have started */
} btf_entity;

/* A call that would be deeper ends the one around it: each time a task loses
   the core, all its calls are written. */
#define BTF_MOST_DEEP 4096

/* A call that is open. */
typedef struct btf_frame {
  uint32_t area, slot;
  size_t below; /* the frame of the same slot before it, + 1; 0: none */
  int64_t instance;
} btf_frame;

/* Words that stand in rows. */
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
  uint32_t stimulus; /* the name of what activates it, once there is one */
  bool has_stimulus;
  btf_word type; /* WORD_T or WORD_I */
  btf_state state;
  int64_t instance; /* how many have ended */
  size_t core;      /* where it runs or ran */
  btf_frame *frames;
  size_t depth, room;
} btf_lane;

typedef struct btf_core {
  uint32_t name;
  size_t lane; /* that runs on it, + 1; 0: none */
} btf_core;

typedef struct btf_machine {
  pf_btf_options options;
  pf_dictionary *dictionary;
  pf_type area_type; /* PF_AREA or PF_NAME */
  uint32_t words[BTF_WORDS];
  btf_queue queue;
  bool is_before; /* options.from has not come: no rows */
  btf_names names;
  btf_entity *entities; /* by number of area */
  size_t nentities;
  btf_lane *lanes;
  size_t nlanes;
  btf_core *cores;
  size_t ncores;
  size_t *tops; /* by slot, a lane and an area: its innermost frame, + 1 */
  size_t ntops;
  int64_t time;     /* of the event at hand, `base` taken off */
  uint64_t orphans; /* leaves of calls that began before the events */
  uint64_t late;    /* events before their predecessors */
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
  bool is_call; /* of a suspend: to call another function */
  uint32_t area, slot;
  size_t lane, core;
  btf_word note; /* WORD_EVENT: none */
  int64_t value;
  double number;
} btf_event;

pf_status btf_machine_open (btf_machine *machine, pf_dictionary *dictionary);
void btf_machine_close (btf_machine *machine);

/* The entity of an area; NULL when out of memory. */
btf_entity *btf_entity_of (btf_machine *machine, uint32_t area);

/* Room for so many lanes, cores and slots. */
pf_status btf_machine_grow (btf_machine *machine, size_t lanes, size_t cores,
                            size_t slots);

/* options.from has come: start what is open. */
pf_status btf_machine_begin (btf_machine *machine);

/* Put the rows that an event of time `time` makes into the queue. */
pf_status btf_machine_step (btf_machine *machine, int64_t time,
                            const btf_event *event);

/* The same for the end of the events. */
pf_status btf_machine_end (btf_machine *machine);

/* }====== */

#endif
