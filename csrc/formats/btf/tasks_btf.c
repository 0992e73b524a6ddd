/*
** tasks_btf.c - the states of tasks and interrupts, and the runnables that are
** open in them, line by line.
**
** Used by rows_btf.c. Memory grows with the tasks, with the instances that are
** open at once (at most 64 of a task) and with the depth of calls (at most
** MOST_DEPTH).
*/

#include "formats/btf/tasks_btf.h"

#include <stdlib.h>

#include "model/base/memory.h"

#define MOST_DEPTH 4096


/* The events of tasks: the states in which they may come, and the state
   afterwards. Of those that also state a core the last column is true. */
static const struct {
  uint8_t from, to;
  bool has_core;
} moves[BTF_TASK_WORDS] = {
    [BTF_ACTIVATE] = {1 << BTF_ANY, BTF_ACTIVE, false},
    [BTF_START] = {1 << BTF_ACTIVE, BTF_RUNNING, true},
    [BTF_PREEMPT] = {1 << BTF_RUNNING, BTF_READY, true},
    [BTF_RESUME] = {1 << BTF_READY, BTF_RUNNING, true},
    [BTF_TERMINATE] = {1 << BTF_RUNNING, BTF_TERMINATED, true},
    [BTF_POLL] = {1 << BTF_RUNNING, BTF_POLLING, true},
    [BTF_RUN] = {1 << BTF_POLLING, BTF_RUNNING, true},
    [BTF_PARK] = {1 << BTF_POLLING, BTF_PARKING, true},
    [BTF_POLL_PARKING] = {1 << BTF_PARKING, BTF_POLLING, true},
    [BTF_RELEASE_PARKING] = {1 << BTF_PARKING, BTF_READY, false},
    [BTF_WAIT] = {1 << BTF_RUNNING, BTF_WAITING, true},
    [BTF_RELEASE] = {1 << BTF_WAITING, BTF_READY, false}};


/* Change the state of an instance by an event of its own. */
static pf_status move (btf_tasks *self, const btf_line *line,
                       const btf_task *task, btf_place *place, btf_word word,
                       pf_error *error) {
  const btf_state to = (btf_state)moves[word].to;
  const bool is_known = place->state != BTF_ANY;
  const bool has_ended = place->depth > 0 && to == BTF_TERMINATED;
  pf_status status = PF_OK;
  if (is_known && (moves[word].from >> place->state & 1) == 0)
    status = btf_warn(self->parser->trace, PF_DAMAGE, "btf-order", line,
                      "the state of the task does not allow this event", error);
  if (status == PF_OK && has_ended)
    status = btf_warn(self->parser->trace, PF_DAMAGE, "btf-open", line,
                      "the task ends before a runnable of it", error);
  if (status == PF_OK && moves[word].has_core)
    status = btf_set_core(self, line, task, place, to == BTF_RUNNING, error);
  if (status != PF_OK)
    return status;
  if (word == BTF_START)
    btf_start(self, task, place);
  else if (to == BTF_RUNNING)
    btf_gain_core(self, task, place);
  else if (to == BTF_TERMINATED)
    btf_end_instance(self, task, place);
  else if (to != BTF_ACTIVE && (!is_known || place->state == BTF_RUNNING))
    btf_lose_core(self, task, place);
  btf_set_state(self, place, to);
  return PF_OK;
}


static pf_status step_task (btf_tasks *self, const btf_line *line,
                            pf_error *error) {
  const btf_word word = (btf_word)btf_entity_at(self, line->event)->word;
  const bool is_isr = line->type == BTF_TYPE_I;
  if (word >= BTF_TASK_WORDS)
    return PF_OK;
  btf_task *const task =
      btf_task_of(self, line->target, is_isr ? BTF_AS_ISR : BTF_AS_TASK);
  if (task == NULL)
    return pf_no_memory(error);
  btf_place *place =
      btf_find_instance(task, line->has_target_instance, line->target_instance);
  task->has_events = true;
  task->role = is_isr ? BTF_AS_ISR : BTF_AS_TASK;
  pf_status status = PF_OK;
  if (place == NULL)
    status = btf_add_instance(self, task, false, line, line->target_instance,
                              &place, error);
  if (status == PF_OK && word == BTF_START)
    place = btf_move_down(self, task, place);
  return status == PF_OK ? move(self, line, task, place, word, error) : status;
}


/* A runnable starts or ends, so its task runs. */
static pf_status ensure_running (btf_tasks *self, const btf_line *line,
                                 btf_task *task, btf_place *place,
                                 pf_error *error) {
  const bool is_known = place->state != BTF_ANY;
  if (place->state == BTF_RUNNING ||
      (!is_known && !self->parser->file->has_tasks))
    return PF_OK;
  if (place->state == BTF_ACTIVE)
    btf_start(self, task, place);
  else
    btf_gain_core(self, task, place);
  btf_set_state(self, place, BTF_RUNNING);
  return is_known ? btf_warn(self->parser->trace, PF_DAMAGE, "btf-order", line,
                             "the task of this runnable does not run", error)
                  : PF_OK;
}


/* The calls above `depth` have ended; the one around them runs, if it was
   resumed while they were open. */
static void pop_to (btf_tasks *self, btf_place *place, size_t depth) {
  place->depth = depth;
  if (place->held > depth)
    place->held = 0;
  btf_open *const top = depth == 0 ? NULL : &place->calls[depth - 1];
  if (top != NULL && top->is_stopped && !top->is_suspended && place->held == 0)
    btf_put_call(self, place, top, PF_EVENT_RESUME);
}


static pf_status push (btf_tasks *self, const btf_line *line, btf_place *place,
                       pf_event_kind kind, pf_error *error) {
  pf_status status = PF_OK;
  if (place->depth == MOST_DEPTH) {
    status = btf_warn(self->parser->trace, PF_DAMAGE, "btf-depth", line,
                      "4096 runnables of a task are open: the innermost ends",
                      error);
    btf_put_call(self, place, &place->calls[MOST_DEPTH - 1], PF_EVENT_LEAVE);
    pop_to(self, place, MOST_DEPTH - 1);
  }
  if (!pf_grow(&place->calls, &place->capacity, place->depth + 1))
    return pf_no_memory(error);
  btf_open *const call = &place->calls[place->depth++];
  *call = (btf_open){.runnable = line->target};
  btf_put_call(self, place, call, kind);
  return status;
}


/* An open runnable is suspended or resumed by itself. */
static void set_suspended (btf_tasks *self, btf_place *place, size_t at,
                           bool is_suspended) {
  btf_open *const call = &place->calls[at];
  const bool runs = place->state == BTF_RUNNING || place->state == BTF_ANY;
  if (call->is_suspended == is_suspended)
    return;
  call->is_suspended = is_suspended;
  if (is_suspended && place->held == at + 1)
    place->held = 0; /* it is suspended already, and stays so */
  else if (is_suspended || runs)
    btf_put_call(self, place, call,
                 is_suspended ? PF_EVENT_SUSPEND : PF_EVENT_RESUME);
  else if (at + 1 > place->held)
    place->held = at + 1; /* it runs with its task */
}


/* A runnable ends, which may have begun before the trace. */
static void end_call (btf_tasks *self, const btf_line *line,
                      const btf_task *task, btf_place *place, size_t at) {
  btf_open earlier = {.runnable = line->target};
  btf_put_call(self, place, at > 0 ? &place->calls[at - 1] : &earlier,
               PF_EVENT_LEAVE);
  if (at > 0)
    pop_to(self, place, at - 1);
  if (place->depth == 0 && !task->has_events && !self->parser->file->has_tasks)
    place->is_open = false;
}


static pf_status step_call (btf_tasks *self, const btf_line *line,
                            btf_task *task, btf_place *place, pf_error *error) {
  const btf_word word = (btf_word)btf_entity_at(self, line->event)->word;
  size_t at = place->depth;
  while (at > 0 && place->calls[at - 1].runnable != line->target)
    at--;
  const bool is_open = at > 0;
  const bool is_own = is_open && (word == BTF_SUSPEND || word == BTF_RESUME);
  if (is_own)
    set_suspended(self, place, at - 1, word == BTF_SUSPEND);
  if (is_own || word == BTF_SUSPEND) /* of one that began before the trace */
    return PF_OK;
  const pf_status status = ensure_running(self, line, task, place, error);
  if (status != PF_OK)
    return status;
  if (word == BTF_TERMINATE) {
    end_call(self, line, task, place, at);
    return PF_OK;
  }
  return push(self, line, place,
              word == BTF_START ? PF_EVENT_ENTER : PF_EVENT_RESUME, error);
}


static pf_status step_runnable (btf_tasks *self, const btf_line *line,
                                pf_error *error) {
  const btf_word word = (btf_word)btf_entity_at(self, line->event)->word;
  if (word != BTF_START && word != BTF_TERMINATE && word != BTF_SUSPEND &&
      word != BTF_RESUME)
    return PF_OK;
  btf_task *const task = btf_task_of(self, line->source, BTF_AS_TASK);
  if (task == NULL)
    return pf_no_memory(error);
  btf_place *place =
      btf_find_instance(task, line->has_source_instance, line->source_instance);
  pf_status status = PF_OK;
  if (place == NULL)
    status = btf_add_instance(self, task, task->has_events, line,
                              line->source_instance, &place, error);
  return status == PF_OK ? step_call(self, line, task, place, error) : status;
}


/* A signal is written by a task, or by something that is none. */
static void step_signal (btf_tasks *self, const btf_line *line) {
  const btf_entity *const source = btf_entity_at(self, line->source);
  const btf_place writer = {.lane = source->unique, .core = BTF_NONE};
  const btf_place *place = NULL;
  if (btf_entity_at(self, line->event)->word != BTF_WRITE)
    return;
  if (source->task != BTF_NONE)
    place = btf_find_instance(&self->tasks[source->task],
                              line->has_source_instance, line->source_instance);
  btf_change *const change =
      btf_put(self, place == NULL ? &writer : place, PF_EVENT_WRITE,
              btf_area_of(self, line->target, BTF_AS_SIGNAL));
  change->has_value = pf_parse_int(line->note, &change->value);
  change->has_number = change->has_value;
  if (change->has_value)
    change->number = (double)change->value;
  else
    change->has_number = btf_read_num(line->note, &change->number);
}


pf_status btf_tasks_step (btf_tasks *self, const btf_line *line,
                          pf_error *error) {
  pf_status status = PF_OK;
  self->count = 0;
  if (line->kind != BTF_LINE_EVENT)
    return PF_OK;
  if (line->type == BTF_TYPE_R)
    status = step_runnable(self, line, error);
  else if (line->type <= BTF_TYPE_I)
    status = step_task(self, line, error);
  else if (line->type == BTF_TYPE_SIG)
    step_signal(self, line);
  for (size_t i = 0; i < self->count && status == PF_OK; i++)
    if (self->changes[i].area == PF_NO_AREA)
      status = pf_no_memory(error);
  return status;
}


pf_status btf_tasks_open (btf_tasks *self, btf_parser *parser,
                          pf_error *error) {
  static const char *const classes[BTF_ROLES + 1] = {"task", "isr", "runnable",
                                                     "variable", "task state"};
  static const char *const states[BTF_STATES] = {
      "?",       "Active",  "Ready",   "Running",
      "Polling", "Parking", "Waiting", "Terminated"};
  pf_dictionary *const dictionary = parser->trace->dictionary;
  self->parser = parser;
  self->has_calls = pf_option_int(parser->trace, "tasks", 1) != 0;
  self->lane = PF_NO_NAME;
  pf_id_table_init(&self->cores);
  const pf_status status =
      pf_intern_texts(dictionary, classes, BTF_ROLES + 1, self->classes, error);
  return status == PF_OK ? pf_intern_texts(dictionary, states, BTF_STATES,
                                           self->state_names, error)
                         : status;
}


void btf_tasks_free (btf_tasks *self) {
  for (size_t i = 0; i < self->ntasks; i++) {
    for (size_t j = 0; j < self->tasks[i].nplaces; j++)
      free(self->tasks[i].places[j].calls);
    free(self->tasks[i].places);
  }
  free(self->tasks);
  pf_id_table_free(&self->cores);
}
