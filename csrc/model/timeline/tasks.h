/*
** tasks.h - the tasks of an operating system: from events of tasks and of what
** runs in them to rows of table `events`. A task may be in any state when a
** trace begins. A call in it runs while it is the innermost one, is not
** suspended itself, and its task is running: so the innermost call is suspended
** and resumed with its task, unless the file has done that. Callers need no
** event: a call does not run while one that it made is open. A lane belongs to
** a task, and while an instance of the task is open to that;
** further instances that are open at the same time have lanes "NAME (2)" and so
** on.
**
** Used by the format btf. Order of calls: zero a pf_tasks and set the members
** in front; pf_tasks_open; pf_tasks_add for each task; pf_tasks_step,
** pf_tasks_step_call or pf_tasks_put_write, after which `changes` are the rows;
** pf_tasks_free. Memory grows with the tasks, with the instances that are open
** at once (at most 64 of a task) and with the depth of calls (at most 4096).
**
**   tasks.c         states, and the calls in tasks
**   task_places.c   lanes, instances and cores
*/

#ifndef tasks_h
#define tasks_h

#include "model/dictionary/areas.h"
#include "model/rows/event_words.h"

#define PF_TASK_CHANGES 16 /* more than an event causes */
#define PF_NO_TASK      UINT32_MAX
#define PF_NO_CORE      UINT32_MAX

/* The states; until its first event a task may be in any. */
typedef enum pf_task_state {
  PF_TASK_ANY,
  PF_TASK_ACTIVE,
  PF_TASK_READY,
  PF_TASK_RUNNING,
  PF_TASK_POLLING,
  PF_TASK_PARKING,
  PF_TASK_WAITING,
  PF_TASK_TERMINATED,
  PF_TASK_STATES
} pf_task_state;

/* Whether a task in a state has a core: polling is to wait actively. */
static inline bool pf_task_runs (pf_task_state state) {
  return state == PF_TASK_RUNNING || state == PF_TASK_POLLING;
}

/* Events of a task, or of a call in it. */
typedef enum pf_task_word {
  PF_TASK_ACTIVATE,
  PF_TASK_START,
  PF_TASK_PREEMPT,
  PF_TASK_RESUME,
  PF_TASK_TERMINATE,
  PF_TASK_POLL,
  PF_TASK_RUN,
  PF_TASK_PARK,
  PF_TASK_POLL_PARKING,
  PF_TASK_RELEASE_PARKING,
  PF_TASK_WAIT,
  PF_TASK_RELEASE,
  PF_TASK_WORDS, /* those before this one change the state of a task */
  PF_TASK_SUSPEND = PF_TASK_WORDS /* of a call */
} pf_task_word;

typedef struct pf_task_event {
  uint32_t task;
  pf_task_word word;
  uint32_t area;     /* of the task; of a call, the area that it enters */
  bool has_instance; /* without one: the first instance that is open */
  int64_t instance;
  uint32_t core;   /* a small number, or PF_NO_CORE */
  uint32_t before; /* in place of the core: the task that ran on it before, */
  bool has_before_instance;
  int64_t before_instance;
} pf_task_event;

/* A row; `kind` is a pf_event_kind. */
typedef struct pf_task_change {
  uint8_t kind;
  bool has_value, has_number;
  uint32_t area, lane, core;
  int64_t value;
  double number;
} pf_task_change;

/* A call that is open. */
typedef struct pf_task_call {
  uint32_t area;
  bool is_suspended; /* itself, by an event of its own */
  bool is_stopped;   /* its last change is a suspend */
} pf_task_call;

/* A lane of a task, which an open instance of it has. */
typedef struct pf_task_place {
  bool is_open;
  int64_t instance;
  pf_task_state state;
  bool is_started; /* the call of the task is open */
  uint32_t core, lane;
  uint32_t variable, states[PF_TASK_STATES]; /* areas, or PF_NO_AREA */
  pf_task_call *calls;                       /* owned; the outermost first */
  size_t depth, capacity;
  size_t held; /* 1 + index of the call that waits for the task, or 0 */
} pf_task_place;

typedef struct pf_task {
  uint32_t name;         /* of its first lane */
  uint32_t area;         /* of its last event */
  bool has_events;       /* of itself, not only of calls */
  pf_task_place *places; /* owned */
  size_t nplaces, capacity;
} pf_task;

/* Things that are wrong. */
typedef enum pf_task_note {
  PF_TASK_ORDER,     /* the state of a task does not allow an event */
  PF_TASK_OPEN,      /* a task ends before a call in it */
  PF_TASK_CORE,      /* another task runs on the core */
  PF_TASK_INSTANCES, /* too many are open */
  PF_TASK_DEPTH      /* too many calls are open */
} pf_task_note;

typedef struct pf_tasks {
  pf_dictionary *dictionary;
  bool has_calls; /* tasks are calls and have states */
  bool has_tasks; /* the file has events of tasks, not only of calls */
  void *context;
  /* Adds a note to the event that is taken. */
  pf_status (*note)(void *context, pf_task_note note, const char *text,
                    pf_error *error);

  pf_task *tasks; /* owned, as the cores */
  size_t ntasks, capacity;
  struct pf_task_core *cores;
  size_t core_capacity;
  uint32_t variable, state_class, state_names[PF_TASK_STATES]; /* names */
  pf_task_change changes[PF_TASK_CHANGES];
  size_t count;
  uint32_t lane; /* of the last change */
} pf_tasks;

pf_status pf_tasks_open (pf_tasks *tasks, pf_error *error);
void pf_tasks_free (pf_tasks *tasks);

/* Add a task with the name of its first lane, and the area that it has until
   its first event. PF_NO_TASK when out of memory. */
uint32_t pf_tasks_add (pf_tasks *tasks, uint32_t name, uint32_t area);

/* Whether events with a word have a core. */
bool pf_task_has_core (pf_task_word word);

/* Set `changes` to those of an event of a task, or of a call in it, which has
   the words start, suspend, resume and terminate. */
pf_status pf_tasks_step (pf_tasks *tasks, const pf_task_event *event,
                         pf_error *error);
pf_status pf_tasks_step_call (pf_tasks *tasks, const pf_task_event *event,
                              pf_error *error);

/* Set `changes` to a write, of a task that may be PF_NO_TASK. */
pf_task_change *pf_tasks_put_write (pf_tasks *tasks, const pf_task_event *event,
                                    uint32_t lane);

/* {====== task_places.c, for tasks.c ====== */

/* Add a change, which is returned, or one of a task or a call. */
pf_task_change *pf_task_put (pf_tasks *tasks, const pf_task_place *place,
                             pf_event_kind kind, uint32_t area);
void pf_task_put_call (pf_tasks *tasks, const pf_task_place *place,
                       pf_task_call *call, pf_event_kind kind);

/* Set the state of an instance: a write of the variable of its lane. */
void pf_task_set_state (pf_tasks *tasks, pf_task_place *place,
                        pf_task_state state);

/* The instance that an event is of; NULL: there is none. */
pf_task_place *pf_task_find (const pf_task *task, bool has_instance,
                             int64_t instance);

/* Open an instance in the first lane that is free. `is_doubted`: an event
   before should have opened it. */
pf_status pf_task_add_instance (pf_tasks *tasks, const pf_task_event *event,
                                bool is_doubted, pf_task_place **place,
                                pf_error *error);

/* An instance that was activated while another one was open starts: it takes
   the first lane if that is free now. Returns its place. */
pf_task_place *pf_task_move_down (pf_tasks *tasks, pf_task *task,
                                  pf_task_place *place);

/* An instance ends; calls that are still open end with it. */
void pf_task_end (pf_tasks *tasks, const pf_task *task, pf_task_place *place);

/* Set the core of an instance that gets one (`runs`) or had it. */
pf_status pf_task_set_core (pf_tasks *tasks, const pf_task_event *event,
                            pf_task_place *place, bool runs, pf_error *error);

/* A task stops to run, runs again, or starts. */
void pf_task_lose_core (pf_tasks *tasks, const pf_task *task,
                        pf_task_place *place);
void pf_task_gain_core (pf_tasks *tasks, const pf_task *task,
                        pf_task_place *place);
void pf_task_start (pf_tasks *tasks, const pf_task *task, pf_task_place *place);

/* }====== */

#endif
