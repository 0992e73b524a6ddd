/*
** tasks_btf.h - the states of tasks and interrupts: from lines to changes, the
** rows of table events. Order of calls: zero a btf_tasks, btf_tasks_open,
** btf_tasks_step for each line, btf_tasks_free. rows_btf.c owns the struct.
*/

#ifndef tasks_btf_h
#define tasks_btf_h

#include "formats/btf/format_btf.h"
#include "model/rows/event_words.h"

#define BTF_CHANGES 16 /* more than a line causes */

/* The states; until its first event a task may be in any. */
typedef enum btf_state {
  BTF_ANY,
  BTF_ACTIVE,
  BTF_READY,
  BTF_RUNNING,
  BTF_POLLING,
  BTF_PARKING,
  BTF_WAITING,
  BTF_TERMINATED,
  BTF_STATES
} btf_state;

/* Events of a change: as pf_event_kind, and the end of the file. */
#define BTF_CHANGE_KINDS 6
#define BTF_CHANGE_END   5

typedef struct btf_change {
  uint8_t kind;
  uint32_t area, lane;
  uint32_t core; /* an entity, or BTF_NONE */
  bool has_value, has_number;
  int64_t value;
  double number;
} btf_change;

/* An open runnable. */
typedef struct btf_open {
  uint32_t runnable; /* an entity */
  bool is_suspended; /* itself, by an event of its own */
  bool is_stopped;   /* its last change is a suspend */
} btf_open;

/* A lane of a task, which an open instance of the task has. */
typedef struct btf_place {
  bool is_open;
  int64_t instance;
  btf_state state;
  bool is_started;                       /* the call of the task is open */
  uint32_t core;                         /* an entity, or BTF_NONE */
  uint32_t lane;                         /* a name */
  uint32_t variable, states[BTF_STATES]; /* areas, or PF_NO_AREA */
  btf_open *calls;                       /* owned; the outermost first */
  size_t depth, capacity;
  size_t held; /* 1 + index of the call that waits for the task, or 0 */
} btf_place;

typedef struct btf_task {
  uint32_t entity;
  btf_role role;
  bool has_events;   /* of itself, not only of runnables */
  btf_place *places; /* owned */
  size_t nplaces, capacity;
} btf_task;

typedef struct btf_tasks {
  btf_parser *parser; /* borrowed */
  bool has_calls;     /* tasks are calls and have states */
  uint32_t classes[BTF_ROLES + 1], state_names[BTF_STATES]; /* names */
  btf_task *tasks;                                          /* owned */
  size_t ntasks, capacity;
  pf_id_table cores; /* the numbers of cores */
  btf_change changes[BTF_CHANGES];
  size_t count;
  uint32_t lane; /* of the last change */
} btf_tasks;

pf_status btf_tasks_open (btf_tasks *tasks, btf_parser *parser,
                          pf_error *error);
void btf_tasks_free (btf_tasks *tasks);

/* Set `changes` to those of a line. PF_OK or a failure. */
pf_status btf_tasks_step (btf_tasks *tasks, const btf_line *line,
                          pf_error *error);


/* places_btf.c. All changes of a line go to `changes`; if an area cannot be
   added, the change has PF_NO_AREA. */

static inline btf_entity *btf_entity_at (const btf_tasks *self, uint32_t id) {
  return &self->parser->entities[id];
}

/* The area of an entity; PF_NO_AREA when out of memory. */
uint32_t btf_area_of (btf_tasks *self, uint32_t id, btf_role role);

/* Add a change, which is returned, or one of a runnable. */
btf_change *btf_put (btf_tasks *self, const btf_place *place,
                     pf_event_kind kind, uint32_t area);
void btf_put_call (btf_tasks *self, const btf_place *place, btf_open *call,
                   pf_event_kind kind);

/* Set the state of an instance: a write of the variable of its lane. */
void btf_set_state (btf_tasks *self, btf_place *place, btf_state state);

/* The task of an entity, which is added if it is new; NULL when out of
   memory. */
btf_task *btf_task_of (btf_tasks *self, uint32_t id, btf_role role);

/* Find the instance that a line is of; a line that does not state one is of the
   first that is open. NULL: there is none. */
btf_place *btf_find_instance (const btf_task *task, bool has, int64_t instance);

/* Open an instance in the first lane that is free. `is_doubted`: an event
   before should have opened it. */
pf_status btf_add_instance (btf_tasks *self, btf_task *task, bool is_doubted,
                            const btf_line *line, int64_t instance,
                            btf_place **place, pf_error *error);

/* An instance that was activated while another one was open starts: it takes
   the first lane if that is free now. Returns its place. */
btf_place *btf_move_down (btf_tasks *self, btf_task *task, btf_place *place);

/* An instance ends; runnables that are still open end with it. */
void btf_end_instance (btf_tasks *self, const btf_task *task, btf_place *place);

/* Set the core of a task that gets one (`runs`) or had it. Some programs state
   the task that ran before in place of the core. */
pf_status btf_set_core (btf_tasks *self, const btf_line *line,
                        const btf_task *task, btf_place *place, bool runs,
                        pf_error *error);

/* A task stops to run, runs again, or starts. */
void btf_lose_core (btf_tasks *self, const btf_task *task, btf_place *place);
void btf_gain_core (btf_tasks *self, const btf_task *task, btf_place *place);
void btf_start (btf_tasks *self, const btf_task *task, btf_place *place);

#endif
