/*
** tasks_btf.c - lines as events of tasks, of what runs in them, and of signals,
** which model/timeline/tasks.h turns into rows.
**
** Used by rows_btf.c, which owns the btf_tasks.
*/

#include "formats/btf/format_btf.h"


static pf_status note (void *context, pf_task_note what, const char *text,
                       pf_error *error) {
  static const char *const codes[] = {[PF_TASK_ORDER] = "btf-order",
                                      [PF_TASK_OPEN] = "btf-open",
                                      [PF_TASK_CORE] = "btf-core",
                                      [PF_TASK_INSTANCES] = "btf-instances",
                                      [PF_TASK_DEPTH] = "btf-depth"};
  const btf_tasks *const self = context;
  return btf_warn(self->parser->trace, PF_DAMAGE, codes[what], self->line, text,
                  error);
}


static btf_entity *entity_at (const btf_tasks *self, uint32_t id) {
  return &self->parser->entities[id];
}


/* The area of an entity; PF_NO_AREA when out of memory. */
static uint32_t area_of (const btf_tasks *self, uint32_t id, btf_role role) {
  btf_entity *const entity = entity_at(self, id);
  pf_area area = PF_AREA_NONE;
  area.name = entity->name;
  area.class = self->classes[role];
  area.has_handle = entity->number != 0;
  area.handle = entity->number;
  if (entity->areas[role] == PF_NO_AREA)
    entity->areas[role] = pf_area_add(self->parser->trace->dictionary, &area);
  return entity->areas[role];
}


/* Sets the task of an event, which is added if it is new, and its area. */
static pf_status task_of (btf_tasks *self, uint32_t id, btf_role role,
                          pf_task_event *event, pf_error *error) {
  btf_entity *const entity = entity_at(self, id);
  const uint32_t area =
      self->tasks.has_calls ? area_of(self, id, role) : PF_NO_AREA;
  if (entity->task == PF_NO_TASK)
    entity->task = pf_tasks_add(&self->tasks, entity->unique, area);
  event->task = entity->task;
  event->area = area;
  return event->task == PF_NO_TASK ? pf_no_memory(error) : PF_OK;
}


/* Notes cores that column core cannot tell apart. */
static pf_status check_core (btf_tasks *self, btf_entity *core,
                             pf_error *error) {
  const uint64_t word = (uint64_t)core->end;
  uint32_t id;
  core->is_core = true;
  if (!core->has_end || pf_id_table_find(&self->cores, word) != PF_NO_ID)
    return btf_warn(self->parser->trace, PF_NOTE, "btf-core-name", self->line,
                    "the core's name ends in no number, or in that of another "
                    "one",
                    error);
  return pf_id_table_words(&self->cores, &word, 1, &id) == PF_OK
             ? PF_OK
             : pf_no_memory(error);
}


/* Sets the core of an event. Some programs state the task that ran before in
   place of it. */
static pf_status set_core (btf_tasks *self, pf_task_event *event,
                           pf_error *error) {
  const btf_line *const line = self->line;
  btf_entity *const core = entity_at(self, line->source);
  if (!pf_task_has_core(event->word))
    return PF_OK;
  if (core->is_core || core->task == PF_NO_TASK)
    event->core = line->source;
  else {
    event->before = core->task;
    event->has_before_instance = line->has_source_instance;
    event->before_instance = line->source_instance;
  }
  return event->core == PF_NO_CORE || core->is_core
             ? PF_OK
             : check_core(self, core, error);
}


static pf_status step_task (btf_tasks *self, pf_task_event *event,
                            pf_error *error) {
  const btf_line *const line = self->line;
  if (event->word >= PF_TASK_WORDS)
    return PF_OK;
  pf_status status = task_of(
      self, line->target, line->type == BTF_TYPE_I ? BTF_AS_ISR : BTF_AS_TASK,
      event, error);
  event->has_instance = line->has_target_instance;
  event->instance = line->target_instance;
  if (status == PF_OK)
    status = set_core(self, event, error);
  return status == PF_OK ? pf_tasks_step(&self->tasks, event, error) : status;
}


static pf_status step_runnable (btf_tasks *self, pf_task_event *event,
                                pf_error *error) {
  const pf_task_word word = event->word;
  if (word != PF_TASK_START && word != PF_TASK_TERMINATE &&
      word != PF_TASK_SUSPEND && word != PF_TASK_RESUME)
    return PF_OK;
  const pf_status status =
      task_of(self, self->line->source, BTF_AS_TASK, event, error);
  event->area = area_of(self, self->line->target, BTF_AS_RUNNABLE);
  return status == PF_OK ? pf_tasks_step_call(&self->tasks, event, error)
                         : status;
}


/* A signal is written by a task, or by something that is none. */
static pf_status step_signal (btf_tasks *self, pf_task_event *event,
                              pf_error *error) {
  const btf_line *const line = self->line;
  const btf_entity *const source = entity_at(self, line->source);
  event->task = source->task;
  event->area = area_of(self, line->target, BTF_AS_SIGNAL);
  pf_task_change *const change =
      pf_tasks_put_write(&self->tasks, event, source->unique);
  change->has_value = pf_parse_int(line->note, &change->value);
  change->number = (double)change->value;
  change->has_number =
      change->has_value || btf_read_num(line->note, &change->number);
  return event->area == PF_NO_AREA ? pf_no_memory(error) : PF_OK;
}


pf_status btf_tasks_step (btf_tasks *self, const btf_line *line,
                          pf_error *error) {
  const unsigned word =
      line->kind == BTF_LINE_EVENT ? entity_at(self, line->event)->word : 0;
  pf_task_event event = {.word = (pf_task_word)word,
                         .area = PF_NO_AREA,
                         .has_instance = line->has_source_instance,
                         .instance = line->source_instance,
                         .core = PF_NO_CORE,
                         .before = PF_NO_TASK};
  self->line = line;
  self->tasks.count = 0;
  if (line->kind != BTF_LINE_EVENT)
    return PF_OK;
  if (line->type <= BTF_TYPE_I)
    return step_task(self, &event, error);
  if (line->type == BTF_TYPE_R)
    return step_runnable(self, &event, error);
  return line->type == BTF_TYPE_SIG && word == BTF_WRITE
             ? step_signal(self, &event, error)
             : PF_OK;
}


pf_status btf_tasks_open (btf_tasks *self, btf_parser *parser,
                          pf_error *error) {
  static const char *const classes[BTF_ROLES] = {"task", "isr", "runnable",
                                                 "variable"};
  pf_dictionary *const dictionary = parser->trace->dictionary;
  self->parser = parser;
  self->tasks =
      (pf_tasks){.dictionary = dictionary,
                 .has_calls = pf_option_int(parser->trace, "tasks", 1) != 0,
                 .has_tasks = parser->file->has_tasks,
                 .context = self,
                 .note = note};
  pf_id_table_init(&self->cores);
  const pf_status status =
      pf_intern_texts(dictionary, classes, BTF_ROLES, self->classes, error);
  return status == PF_OK ? pf_tasks_open(&self->tasks, error) : status;
}


void btf_tasks_free (btf_tasks *self) {
  pf_tasks_free(&self->tasks);
  pf_id_table_free(&self->cores);
}
