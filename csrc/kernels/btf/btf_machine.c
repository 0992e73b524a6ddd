/*
** btf_machine.c - what events do to tasks, cores and runnables.
**
** On a core runs one task. Where events of another lane come without a word
** that the first was suspended, it is preempted then; where an enter, leave or
** write shows that a lane runs, it has been resumed by then.
**
** No event says that a task has ended. Where all functions are recorded it has
** when its outermost one returns, and the next event activates it again; where
** only some are, that would cut a task into pieces. So it is an option.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/btf/btf_machine.h"


/* {====== Rows ====== */

static btf_row new_row (const btf_machine *m, btf_word type, btf_word event) {
  btf_row row;
  memset(&row, 0, sizeof row);
  row.kind = m->words[WORD_EVENT];
  row.type = m->words[type];
  row.event = m->words[event];
  row.time = m->time;
  return row;
}


static void put_row (btf_machine *m, const btf_row *row) {
  if (!m->is_before)
    btf_put(&m->queue, row);
}


/* What a core does to a task. */
static void put_task (btf_machine *m, const btf_lane *lane, btf_word event) {
  btf_row row = new_row(m, lane->type, event);
  row.source = m->cores[lane->core].name;
  row.target = lane->name;
  row.target_instance = lane->instance;
  put_row(m, &row);
}


/* What a task does to a runnable. */
static void put_call (btf_machine *m, const btf_lane *lane,
                      const btf_frame *frame, btf_word event) {
  btf_row row = new_row(m, WORD_R, event);
  row.source = lane->name;
  row.source_instance = lane->instance;
  row.target = m->entities[frame->area].name;
  row.target_instance = frame->instance;
  put_row(m, &row);
}


/* A stimulus comes and activates a task. */
static pf_status put_activation (btf_machine *m, btf_lane *lane) {
  if (m->is_before)
    return PF_OK;
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
  return lane->stimulus == PF_NO_NAME ? PF_ENOMEM : PF_OK;
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

/* }====== */


/* {====== Tasks and cores ====== */

/* The core is taken from a lane: its runnables first, the innermost first. */
static void preempt (btf_machine *m, btf_lane *lane) {
  if (lane->state != BTF_RUNNING)
    return;
  for (size_t i = lane->depth; i-- > 0;)
    put_call(m, lane, &lane->frames[i], WORD_SUSPEND);
  put_task(m, lane, WORD_PREEMPT);
  lane->state = BTF_READY;
  m->cores[lane->core].lane = 0;
}


static pf_status give_core (btf_machine *m, btf_lane *lane) {
  pf_status status = PF_OK;
  if (lane->state == BTF_NEW && m->options.stimuli)
    status = put_activation(m, lane);
  put_task(m, lane, lane->state == BTF_NEW ? WORD_START : WORD_RESUME);
  for (size_t i = 0; i < lane->depth; i++)
    put_call(m, lane, &lane->frames[i], WORD_RESUME);
  lane->state = BTF_RUNNING;
  m->cores[lane->core].lane = (size_t)(lane - m->lanes) + 1;
  return status;
}


/* Let a lane run on a core, which it may already do. */
static pf_status run_on (btf_machine *m, btf_lane *lane, size_t core) {
  if (lane->state == BTF_RUNNING && lane->core == core)
    return PF_OK;
  preempt(m, lane);
  if (m->cores[core].lane != 0)
    preempt(m, &m->lanes[m->cores[core].lane - 1]);
  lane->core = core;
  return give_core(m, lane);
}


/* A task that runs has come to its end. */
static void end_task (btf_machine *m, btf_lane *lane) {
  put_task(m, lane, WORD_TERMINATE);
  lane->state = BTF_NEW;
  lane->instance++;
  m->cores[lane->core].lane = 0;
}

/* }====== */


/* {====== Runnables ====== */

/* End the calls down to `depth`, the innermost first. */
static void pop_to (btf_machine *m, btf_lane *lane, size_t depth) {
  while (lane->depth > depth) {
    const btf_frame *const frame = &lane->frames[--lane->depth];
    m->tops[frame->slot] = frame->below;
    put_call(m, lane, frame, WORD_TERMINATE);
  }
}


static pf_status push (btf_machine *m, btf_lane *lane, const btf_event *e) {
  if (lane->depth == BTF_MOST_DEEP)
    pop_to(m, lane, BTF_MOST_DEEP - 1);
  if (lane->depth == lane->room) {
    const size_t room = lane->room == 0 ? 16 : 2 * lane->room;
    btf_frame *const frames = realloc(lane->frames, room * sizeof *frames);
    if (frames == NULL)
      return PF_ENOMEM;
    lane->frames = frames;
    lane->room = room;
  }
  btf_frame *const frame = &lane->frames[lane->depth++];
  *frame = (btf_frame){e->area, e->slot, m->tops[e->slot],
                       m->entities[e->area].instances++};
  m->tops[e->slot] = lane->depth;
  put_call(m, lane, frame, WORD_START);
  return PF_OK;
}


static pf_status leave (btf_machine *m, btf_lane *lane, const btf_event *e) {
  const size_t top = m->tops[e->slot];
  if (top == 0) {
    m->orphans += !m->is_before;
    return PF_OK;
  }
  const pf_status status = run_on(m, lane, e->core);
  pop_to(m, lane, top - 1);
  if (m->options.activations && lane->depth == 0)
    end_task(m, lane);
  return status;
}


/* Back from a call, or the core is there again. What was entered before the
   events begins here, where it is first seen. */
static pf_status resume (btf_machine *m, btf_lane *lane, const btf_event *e) {
  const pf_status status = run_on(m, lane, e->core);
  if (status != PF_OK)
    return status;
  return m->tops[e->slot] == 0 ? push(m, lane, e) : PF_OK;
}


/* The suspension of a caller may be told behind the enter of what it calls:
   then it is not the innermost function. */
static void suspend (btf_machine *m, btf_lane *lane, const btf_event *e) {
  const size_t top = m->tops[e->slot];
  if (!e->is_call && (top == 0 || top == lane->depth))
    preempt(m, lane);
}


static pf_status enter (btf_machine *m, btf_lane *lane, const btf_event *e) {
  const pf_status status = run_on(m, lane, e->core);
  return status == PF_OK ? push(m, lane, e) : status;
}


/* A write by the task that has the core. */
static pf_status put_write (btf_machine *m, btf_lane *lane,
                            const btf_event *e) {
  const btf_lane *writer = lane;
  const size_t runs = m->cores[e->core].lane;
  pf_status status = PF_OK;
  if (lane->state == BTF_RUNNING || runs == 0)
    status = lane->state == BTF_RUNNING ? PF_OK : run_on(m, lane, e->core);
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

/* }====== */


/* {====== The machine ====== */

static const char *const word_texts[BTF_WORDS] = {
    "event",   "write",  "number",  "comment",  "T",        "I",
    "R",       "SIG",    "STI",     "trigger",  "activate", "start",
    "preempt", "resume", "suspend", "terminate"};


pf_status btf_machine_open (btf_machine *m, pf_dictionary *dictionary) {
  m->dictionary = m->names.dictionary = dictionary;
  pf_id_table_init(&m->names.known);
  for (size_t i = 0; i < BTF_WORDS; i++)
    if ((m->words[i] = pf_intern_text(dictionary, word_texts[i])) == PF_NO_NAME)
      return PF_ENOMEM;
  return PF_OK;
}


void btf_machine_close (btf_machine *m) {
  for (size_t i = 0; i < m->nlanes; i++)
    free(m->lanes[i].frames);
  free(m->lanes);
  free(m->cores);
  free(m->tops);
  free(m->entities);
  free(m->queue.rows);
  btf_names_free(&m->names);
}


/* Grow a block of `count` things to `wanted`; the new ones are zeros. */
static bool widen (void **block, size_t *count, size_t wanted, size_t size) {
  if (wanted <= *count)
    return true;
  if (wanted > SIZE_MAX / 2 / size)
    return false;
  uint8_t *const grown = realloc(*block, wanted * size);
  if (grown == NULL)
    return false;
  memset(grown + *count * size, 0, (wanted - *count) * size);
  *block = grown;
  *count = wanted;
  return true;
}


pf_status btf_machine_grow (btf_machine *m, size_t lanes, size_t cores,
                            size_t slots) {
  const size_t ntops = slots > m->ntops ? 2 * slots : m->ntops;
  void *lane = m->lanes, *core = m->cores, *tops = m->tops;
  const bool grown = widen(&lane, &m->nlanes, lanes, sizeof *m->lanes) &&
                     widen(&core, &m->ncores, cores, sizeof *m->cores) &&
                     widen(&tops, &m->ntops, ntops, sizeof *m->tops);
  m->lanes = lane;
  m->cores = core;
  m->tops = tops;
  return grown ? PF_OK : PF_ENOMEM;
}


/* What BTF makes of a class of areas. */
static btf_role role_of (const btf_machine *m, uint32_t class) {
  static const char *const signals[] = {"variable", "aux", "inspector",
                                        "signal"};
  char text[40];
  const pf_bytes bytes = pf_name(m->dictionary, class);
  if (class == PF_NO_NAME || bytes.size == 0 || bytes.size >= sizeof text)
    return BTF_RUNNABLE;
  memcpy(text, bytes.at, bytes.size);
  text[bytes.size] = '\0';
  if (strcmp(text, "line") == 0)
    return m->options.lines ? BTF_RUNNABLE : BTF_LEFT_OUT;
  if (strstr(text, "state") != NULL)
    return BTF_STATE;
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
    if (strcmp(text, signals[i]) == 0)
      return BTF_SIGNAL;
  return BTF_RUNNABLE;
}


/* The area that an entity is named after: a state goes by its variable. */
static uint32_t namesake_of (const btf_machine *m, uint32_t area) {
  const pf_area *const shown = pf_area_at(m->dictionary, area);
  if (shown->parent == PF_NO_AREA || role_of(m, shown->class) != BTF_STATE ||
      role_of(m, pf_area_at(m->dictionary, shown->parent)->class) == BTF_STATE)
    return area;
  return shown->parent;
}


static bool has_room (btf_machine *m, uint32_t area) {
  const size_t wanted = area < m->nentities ? 0 : 2 * (size_t)area + 64;
  void *entities = m->entities;
  const bool grown =
      widen(&entities, &m->nentities, wanted, sizeof *m->entities);
  m->entities = entities;
  return grown;
}


/* Name an area when it is first met. */
static bool introduce (btf_machine *m, uint32_t area, uint32_t name,
                       uint32_t class) {
  btf_entity *const entity = &m->entities[area];
  if (entity->role != BTF_UNSEEN)
    return true;
  entity->role = role_of(m, class);
  entity->name = btf_name(&m->names, entity->role == BTF_RUNNABLE ? 'R' : 'V',
                          "", pf_name(m->dictionary, name));
  return entity->name != PF_NO_NAME;
}


static bool introduce_area (btf_machine *m, uint32_t area) {
  const pf_area *const shown = pf_area_at(m->dictionary, area);
  return introduce(m, area, shown->name, shown->class);
}


btf_entity *btf_entity_of (btf_machine *m, uint32_t area) {
  if (!has_room(m, area))
    return NULL;
  if (m->entities[area].role != BTF_UNSEEN)
    return &m->entities[area];
  if (m->area_type == PF_NAME)
    return introduce(m, area, area, PF_NO_NAME) ? &m->entities[area] : NULL;
  const uint32_t namesake = namesake_of(m, area);
  if (!has_room(m, namesake) || !introduce_area(m, namesake))
    return NULL;
  if (namesake == area)
    return &m->entities[area];
  m->entities[area].role = BTF_STATE;
  m->entities[area].name = m->entities[namesake].name;
  return &m->entities[area];
}


pf_status btf_machine_step (btf_machine *m, int64_t time, const btf_event *e) {
  btf_lane *const lane = &m->lanes[e->lane];
  pf_status status = PF_OK;
  if (!m->is_before) {
    m->late += time < m->time;
    m->time = time < m->time ? m->time : time;
  }
  switch (e->kind) {
    case BTF_ENTER: status = enter(m, lane, e); break;
    case BTF_LEAVE: status = leave(m, lane, e); break;
    case BTF_RESUME: status = resume(m, lane, e); break;
    case BTF_WRITE: status = put_write(m, lane, e); break;
    case BTF_SUSPEND: suspend(m, lane, e); break;
    case BTF_NOTHING: break;
  }
  return m->queue.failed ? PF_ENOMEM : status;
}


/* Start a task again, and what it is in. */
static pf_status start_again (btf_machine *m, btf_lane *lane) {
  const bool is_running = lane->state == BTF_RUNNING;
  const size_t depth = lane->depth;
  lane->state = BTF_NEW;
  lane->depth = 0;
  const pf_status status = give_core(m, lane);
  lane->depth = depth;
  for (size_t i = 0; i < depth; i++) {
    btf_frame *const frame = &lane->frames[i];
    frame->instance = m->entities[frame->area].instances++;
    put_call(m, lane, frame, WORD_START);
  }
  if (!is_running)
    preempt(m, lane);
  return status;
}


/* Those that wait come first: a core has one task. */
pf_status btf_machine_begin (btf_machine *m) {
  static const btf_state states[] = {BTF_READY, BTF_RUNNING};
  pf_status status = PF_OK;
  m->is_before = false;
  for (size_t i = 0; i < m->nentities; i++)
    m->entities[i].instances = 0;
  for (size_t i = 0; i < m->nlanes; i++)
    m->lanes[i].instance = 0;
  for (size_t turn = 0; turn < 2; turn++)
    for (size_t i = 0; i < m->nlanes && status == PF_OK; i++)
      if (m->lanes[i].state == states[turn])
        status = start_again(m, &m->lanes[i]);
  return m->queue.failed ? PF_ENOMEM : status;
}


/* Let a task end what it is in, and end itself. */
static pf_status terminate (btf_machine *m, btf_lane *lane) {
  if (lane->state == BTF_NEW)
    return PF_OK;
  const pf_status status = run_on(m, lane, lane->core);
  pop_to(m, lane, 0);
  end_task(m, lane);
  return status;
}


pf_status btf_machine_end (btf_machine *m) {
  pf_status status = PF_OK;
  for (size_t i = 0; m->options.close && i < m->nlanes && status == PF_OK; i++)
    status = terminate(m, &m->lanes[i]);
  if (status == PF_OK)
    status = put_comment(m, m->orphans,
                         "ends of calls that began before are left out");
  if (status == PF_OK)
    status = put_comment(m, m->late,
                         "events stand at the time of the one before them, "
                         "which was later");
  return m->queue.failed ? PF_ENOMEM : status;
}

/* }====== */
