/*
** machine.c - the states of tasks, cores and runnables, changed by events.
**
** A core runs one task at a time. When events of another lane come without a
** suspend of the current one, that one is preempted; when an enter, leave or
** write shows that a lane runs, it has been resumed.
**
** No event states that a task has ended. If all functions are recorded, it has
** ended when its outermost one returns, and the next event activates it again;
** if only some are recorded, this would split a task into many. So it is an
** option.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/btf/machine.h"
#include "kernels/calls/lanes.h"
#include "model/base/memory.h"
#include "model/dictionary/names.h"

#define SUFFIX_SIZE 16 /* %: and a number */


/* Append a name; `at` has 3 * bytes.size free bytes. BTF has no quotes, so
   commas, % and all but printable ASCII are written as %XX; readers can restore
   it. */
static size_t put_safe (char *at, pf_bytes bytes) {
  static const char digits[] = "0123456789ABCDEF";
  size_t size = 0;
  for (size_t i = 0; i < bytes.size; i++) {
    const uint8_t c = bytes.at[i];
    const bool is_edge = i == 0 || i + 1 == bytes.size;
    if (c > 0x20 ? c < 0x7f && c != ',' && c != '%' : c == 0x20 && !is_edge) {
      at[size++] = (char)c;
      continue;
    }
    at[size++] = '%';
    at[size++] = digits[c >> 4];
    at[size++] = digits[c & 15];
  }
  return size;
}


uint32_t btf_name (btf_names *n, char type, const char *prefix, pf_bytes name) {
  const size_t before = strlen(prefix);
  if (name.size > (SIZE_MAX - before - SUFFIX_SIZE) / 3 ||
      !pf_grow(&n->text, &n->capacity, before + 3 * name.size + SUFFIX_SIZE))
    return PF_NO_NAME;
  memcpy(n->text, prefix, before);
  size_t size = before + put_safe(n->text + before, name);
  if (size == 0)
    n->text[size++] = '?';
  const pf_bytes plain = {(const uint8_t *)n->text, size};
  const uint32_t known = pf_intern(n->dictionary, plain);
  const uint64_t word = (uint64_t)(uint8_t)type << 32 | known;
  uint32_t pair;
  if (known == PF_NO_NAME ||
      pf_id_table_words(&n->known, &word, 1, &pair) != PF_OK ||
      !pf_grow_filled(&n->counts, &n->ncounts, (size_t)pair + 1, 0))
    return PF_NO_NAME;
  const uint32_t duplicates = n->counts[pair]++;
  if (duplicates == 0)
    return known;
  size += (size_t)snprintf(n->text + size, SUFFIX_SIZE, "%%:%lu",
                           (unsigned long)duplicates + 1);
  return pf_intern(n->dictionary, (pf_bytes){(const uint8_t *)n->text, size});
}


static btf_row new_row (const btf_machine *m, btf_word type, btf_word event) {
  btf_row row;
  memset(&row, 0, sizeof row);
  row.kind = m->words[WORD_EVENT];
  row.type = m->words[type];
  row.event = m->words[event];
  row.time = m->time;
  return row;
}


/* One event may cause many rows, when a task with many open calls loses the
   core, so rows wait in a queue. */
static void put_row (btf_machine *m, const btf_row *row) {
  btf_queue *const q = &m->queue;
  if (m->before_range)
    return;
  q->failed |= !pf_grow(&q->rows, &q->capacity, q->count + 1);
  if (!q->failed)
    q->rows[q->count++] = *row;
}


/* A row in which a core is the source and a task the target. */
static void put_task (btf_machine *m, const btf_lane *lane, btf_word event) {
  btf_row row = new_row(m, lane->type, event);
  row.source = m->cores[lane->core].name;
  row.target = lane->name;
  row.target_instance = lane->instance;
  put_row(m, &row);
}


/* A row in which a task is the source and a runnable the target. */
static void put_call (btf_machine *m, const btf_lane *lane,
                      const btf_frame *frame, btf_word event) {
  btf_row row = new_row(m, WORD_R, event);
  row.source = lane->name;
  row.source_instance = lane->instance;
  row.target = m->entities[frame->area].name;
  row.target_instance = frame->instance;
  put_row(m, &row);
}


static pf_status put_comment (btf_machine *m, uint64_t count,
                              const char *words) {
  char text[160];
  if (count == 0)
    return PF_OK;
  (void)snprintf(text, sizeof text, "%llu %s", (unsigned long long)count,
                 words);
  btf_row row = new_row(m, WORD_EVENT, WORD_EVENT);
  row.kind = m->words[WORD_COMMENT];
  row.source = pf_intern_text(m->dictionary, text);
  put_row(m, &row);
  return row.source == PF_NO_NAME ? PF_ENOMEM : PF_OK;
}


/* A lane loses its core; its runnables are suspended first, the innermost
   first. */
static void preempt (btf_machine *m, btf_lane *lane) {
  if (lane->state != BTF_RUNNING)
    return;
  for (size_t i = lane->active; i-- > 0;)
    put_call(m, lane, &lane->frames[i], WORD_SUSPEND);
  lane->active = 0;
  put_task(m, lane, WORD_PREEMPT);
  lane->state = BTF_READY;
  m->cores[lane->core].lane = 0;
}


static pf_status give_core (btf_machine *m, btf_lane *lane) {
  pf_status status = PF_OK;
  if (lane->state == BTF_NEW && m->options.stimuli && !m->before_range) {
    /* A stimulus activates the task. */
    if (!lane->has_stimulus)
      lane->stimulus =
          btf_name(&m->names, 'S', "STI_", pf_name(m->dictionary, lane->name));
    lane->has_stimulus = true;
    btf_row row = new_row(m, WORD_STI, WORD_TRIGGER);
    row.source = row.target = lane->stimulus;
    row.source_instance = row.target_instance = lane->instance;
    put_row(m, &row);
    row = new_row(m, lane->type, WORD_ACTIVATE);
    row.source = lane->stimulus;
    row.target = lane->name;
    row.source_instance = row.target_instance = lane->instance;
    put_row(m, &row);
    status = lane->stimulus == PF_NO_NAME ? PF_ENOMEM : PF_OK;
  }
  put_task(m, lane, lane->state == BTF_NEW ? WORD_START : WORD_RESUME);
  lane->state = BTF_RUNNING;
  m->cores[lane->core].lane = (size_t)(lane - m->lanes) + 1;
  return status;
}


/* Let a lane run on a core, and its outermost `active` calls, unless they
   already do. */
static pf_status run_on (btf_machine *m, btf_lane *lane, size_t core,
                         size_t active) {
  pf_status status = PF_OK;
  if (lane->state != BTF_RUNNING || lane->core != core) {
    preempt(m, lane);
    if (m->cores[core].lane != 0)
      preempt(m, &m->lanes[m->cores[core].lane - 1]);
    lane->core = core;
    status = give_core(m, lane);
  }
  for (; lane->active < active; lane->active++)
    put_call(m, lane, &lane->frames[lane->active], WORD_RESUME);
  return status;
}


/* End a running task. */
static void end_task (btf_machine *m, btf_lane *lane) {
  put_task(m, lane, WORD_TERMINATE);
  lane->state = BTF_NEW;
  lane->instance++;
  m->cores[lane->core].lane = 0;
}


/* End the calls down to `depth`, the innermost first. */
static void pop_to (btf_machine *m, btf_lane *lane, size_t depth) {
  while (lane->depth > depth) {
    const btf_frame *const frame = &lane->frames[--lane->depth];
    m->tops[frame->slot] = frame->below;
    put_call(m, lane, frame, WORD_TERMINATE);
    lane->active = lane->depth;
  }
}


static pf_status push (btf_machine *m, btf_lane *lane, const btf_event *e) {
  if (lane->depth == BTF_MAX_DEPTH)
    pop_to(m, lane, BTF_MAX_DEPTH - 1);
  if (!pf_grow(&lane->frames, &lane->capacity, (size_t)lane->depth + 1))
    return PF_ENOMEM;
  btf_frame *const frame = &lane->frames[lane->depth++];
  *frame = (btf_frame){e->area, e->slot, m->tops[e->slot],
                       m->entities[e->area].instances++};
  m->tops[e->slot] = lane->active = lane->depth;
  put_call(m, lane, frame, WORD_START);
  return PF_OK;
}


static pf_status leave (btf_machine *m, btf_lane *lane, const btf_event *e) {
  const size_t top = m->tops[e->slot];
  if (top == 0) {
    m->orphans += !m->before_range;
    return PF_OK;
  }
  const pf_status status = run_on(m, lane, e->core, lane->depth);
  pop_to(m, lane, top - 1);
  const bool is_end = m->options.activations || m->entities[e->area].is_task;
  if (is_end && lane->depth == 0)
    end_task(m, lane);
  return status;
}


/* Return from a call, or get the core back: calls above this one are resumed by
   events of their own. A call that was entered before the first event begins
   here. */
static pf_status resume (btf_machine *m, btf_lane *lane, const btf_event *e) {
  const size_t top = m->tops[e->slot];
  const pf_status status =
      run_on(m, lane, e->core, top == 0 ? lane->depth : top);
  return status == PF_OK && top == 0 ? push(m, lane, e) : status;
}


/* The suspend of a caller may come after the enter of its callee: then the
   caller is not the innermost function, and the task keeps the core. */
static void suspend (btf_machine *m, btf_lane *lane, const btf_event *e) {
  const size_t top = m->tops[e->slot];
  if (!e->is_call && (top == 0 || top == lane->active))
    preempt(m, lane);
}


/* A write by the task that has the core. */
static pf_status put_write (btf_machine *m, btf_lane *lane,
                            const btf_event *e) {
  const btf_lane *writer = lane;
  const size_t runs = m->cores[e->core].lane;
  pf_status status = PF_OK;
  if (lane->state == BTF_RUNNING || runs == 0)
    status = lane->state == BTF_RUNNING ? PF_OK
                                        : run_on(m, lane, e->core, lane->depth);
  else
    writer = &m->lanes[runs - 1];
  btf_row row = new_row(m, WORD_SIG, WORD_WRITE);
  row.kind = m->words[e->note];
  row.source = writer->name;
  row.source_instance = writer->instance;
  row.target = m->entities[e->area].name;
  row.has_note = e->note == WORD_WRITE;
  row.has_number = e->note == WORD_NUMBER;
  row.note = e->value;
  row.number = e->number;
  put_row(m, &row);
  return status;
}


static const char *const word_texts[BTF_WORDS] = {
    "event",   "write",  "number",  "comment",  "T",        "I",
    "R",       "SIG",    "STI",     "trigger",  "activate", "start",
    "preempt", "resume", "suspend", "terminate"};


pf_status btf_machine_open (btf_machine *m, pf_dictionary *dictionary,
                            pf_error *error) {
  m->dictionary = m->names.dictionary = dictionary;
  pf_id_table_init(&m->names.known);
  return pf_intern_texts(dictionary, word_texts, BTF_WORDS, m->words, error);
}


void btf_machine_close (btf_machine *m) {
  for (size_t i = 0; i < m->nlanes; i++)
    free(m->lanes[i].frames);
  free(m->lanes);
  free(m->cores);
  free(m->tops);
  free(m->entities);
  free(m->queue.rows);
  pf_id_table_free(&m->names.known);
  free(m->names.counts);
  free(m->names.text);
}


pf_status btf_machine_grow (btf_machine *m, size_t lanes, size_t cores,
                            size_t slots) {
  if (lanes > m->nlanes) {
    if (!pf_widen(&m->lanes, m->nlanes, lanes))
      return PF_ENOMEM;
    m->nlanes = lanes;
  }
  if (cores > m->ncores) {
    if (!pf_widen(&m->cores, m->ncores, cores))
      return PF_ENOMEM;
    m->ncores = cores;
  }
  return pf_grow_filled(&m->tops, &m->ntops, slots, 0) ? PF_OK : PF_ENOMEM;
}


static bool has_class (const btf_machine *m, uint32_t area, const char *name) {
  const uint32_t class = m->area_type == PF_AREA
                             ? pf_area_at(m->dictionary, area)->class
                             : PF_NO_NAME;
  return class != PF_NO_NAME &&
         pf_text_compare(pf_name(m->dictionary, class), pf_bytes_of(name)) == 0;
}


/* The role of an area, by its kind as for calls; class "signal" is one more for
   variables. States of class "task state" follow from the other events. */
static btf_role role_of (const btf_machine *m, uint32_t area) {
  const bool has_areas = m->area_type == PF_AREA;
  switch (pf_area_kind_of(m->dictionary, has_areas, area)) {
    case PF_KIND_LINE: return m->options.lines ? BTF_RUNNABLE : BTF_OMITTED;
    case PF_KIND_STATE:
      return has_class(m, area, "task state") ? BTF_OMITTED : BTF_STATE;
    case PF_KIND_VALUE: return BTF_SIGNAL;
    default: break;
  }
  return has_class(m, area, "signal") ? BTF_SIGNAL : BTF_RUNNABLE;
}


/* A state has the name of its variable. */
btf_entity *btf_entity_of (btf_machine *m, uint32_t area) {
  uint32_t name = area;
  if (!pf_grow_filled(&m->entities, &m->nentities, (size_t)area + 1, 0))
    return NULL;
  if (m->entities[area].role != BTF_UNSEEN)
    return &m->entities[area];
  if (m->area_type == PF_AREA) {
    const pf_area *const shown = pf_area_at(m->dictionary, area);
    const uint32_t parent = shown->parent;
    name = shown->name;
    if (parent != PF_NO_AREA && role_of(m, area) == BTF_STATE &&
        role_of(m, parent) != BTF_STATE) {
      const btf_entity *const variable = btf_entity_of(m, parent);
      if (variable == NULL)
        return NULL;
      m->entities[area] =
          (btf_entity){.role = BTF_STATE, .name = variable->name};
      return &m->entities[area];
    }
  }
  btf_entity *const entity = &m->entities[area];
  entity->role = role_of(m, area);
  entity->is_task = has_class(m, area, "task") || has_class(m, area, "isr");
  if (entity->role == BTF_OMITTED) /* it takes no name from others */
    return entity;
  entity->name = btf_name(&m->names, entity->role == BTF_RUNNABLE ? 'R' : 'V',
                          "", pf_name(m->dictionary, name));
  return entity->name == PF_NO_NAME ? NULL : entity;
}


pf_status btf_machine_step (btf_machine *m, int64_t time, const btf_event *e) {
  btf_lane *const lane = &m->lanes[e->lane];
  pf_status status = PF_OK;
  if (!m->before_range) {
    m->late += time < m->time;
    m->time = time < m->time ? m->time : time;
  }
  switch (e->kind) {
    case BTF_ENTER:
      status = run_on(m, lane, e->core, lane->depth);
      status = status == PF_OK ? push(m, lane, e) : status;
      break;
    case BTF_LEAVE: status = leave(m, lane, e); break;
    case BTF_RESUME: status = resume(m, lane, e); break;
    case BTF_WRITE: status = put_write(m, lane, e); break;
    case BTF_SUSPEND: suspend(m, lane, e); break;
    case BTF_NOTHING: break;
  }
  return m->queue.failed ? PF_ENOMEM : status;
}


/* Start a task and its open calls again. */
static pf_status restart (btf_machine *m, btf_lane *lane) {
  const bool is_running = lane->state == BTF_RUNNING;
  const size_t active = lane->active;
  lane->state = BTF_NEW;
  const pf_status status = give_core(m, lane);
  for (size_t i = 0; i < lane->depth; i++) {
    btf_frame *const frame = &lane->frames[i];
    frame->instance = m->entities[frame->area].instances++;
    put_call(m, lane, frame, WORD_START);
  }
  for (size_t i = lane->depth; is_running && i-- > active;)
    put_call(m, lane, &lane->frames[i], WORD_SUSPEND);
  lane->active = is_running ? active : lane->depth;
  if (!is_running)
    preempt(m, lane);
  return status;
}


/* Waiting tasks first, because a core runs one task. */
pf_status btf_machine_begin (btf_machine *m) {
  static const btf_state states[] = {BTF_READY, BTF_RUNNING};
  pf_status status = PF_OK;
  m->before_range = false;
  for (size_t i = 0; i < m->nentities; i++)
    m->entities[i].instances = 0;
  for (size_t i = 0; i < m->nlanes; i++)
    m->lanes[i].instance = 0;
  for (size_t turn = 0; turn < 2; turn++)
    for (size_t i = 0; i < m->nlanes && status == PF_OK; i++)
      if (m->lanes[i].state == states[turn])
        status = restart(m, &m->lanes[i]);
  return m->queue.failed ? PF_ENOMEM : status;
}


/* End the calls of a lane, which must run for that. */
static pf_status end_calls (btf_machine *m, btf_lane *lane) {
  const pf_status status = run_on(m, lane, lane->core, lane->depth);
  pop_to(m, lane, 0);
  return status;
}


pf_status btf_machine_gap (btf_machine *m) {
  pf_status status = PF_OK;
  for (size_t i = 0; i < m->nlanes && status == PF_OK; i++) {
    btf_lane *const lane = &m->lanes[i];
    const bool has_calls = lane->depth > 0;
    if (has_calls)
      status = end_calls(m, lane);
    if (has_calls && m->options.activations)
      end_task(m, lane);
    else
      preempt(m, lane);
  }
  return m->queue.failed ? PF_ENOMEM : status;
}


pf_status btf_machine_end (btf_machine *m) {
  pf_status status = PF_OK;
  for (size_t i = 0; m->options.close && i < m->nlanes && status == PF_OK;
       i++) {
    btf_lane *const lane = &m->lanes[i];
    if (lane->state == BTF_NEW)
      continue;
    status = end_calls(m, lane);
    end_task(m, lane);
  }
  if (status == PF_OK)
    status = put_comment(m, m->orphans,
                         "ends of calls that began before are left out");
  if (status == PF_OK)
    status = put_comment(m, m->late,
                         "events stand at the time of the one before them, "
                         "which was later");
  return m->queue.failed ? PF_ENOMEM : status;
}
