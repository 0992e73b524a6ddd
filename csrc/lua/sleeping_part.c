/*
** sleeping_part.c - parts that are closed between uses, see trace_part.h. Used
** by checked_reader.c and trace_part.c.
*/

#include <stdlib.h>

#include "lua/arguments.h"
#include "lua/trace_part.h"


static bool is_asleep (const l_part *p) {
  return p->tables != NULL && p->trace.tables == p->tables;
}


void l_part_close_trace (l_part *part) {
  pf_trace *const trace = &part->trace;
  if (trace->state != NULL && trace->format->close != NULL)
    trace->format->close(trace);
  trace->state = NULL;
}


static void fall_asleep (l_part *p) {
  l_part_close_trace(p);
  for (size_t i = 0; i < p->trace.nsources; i++) {
    l_source_sleep(p->owners[i]);
    p->sources[i].bytes = p->owners[i]->bytes;
  }
  p->trace.tables = p->tables;
}


/* Opens the trace again. What the format notes meanwhile is known already. */
static pf_status wake (l_part *p, pf_error *error) {
  const size_t ntables = p->trace.ntables;
  pf_status status = PF_OK;
  for (size_t i = 0; i < p->trace.nsources && status == PF_OK; i++) {
    status = l_source_wake(p->owners[i], error);
    p->sources[i].bytes = p->owners[i]->bytes;
  }
  pf_notes *const notes = p->trace.notes;
  if (status == PF_OK && (p->trace.notes = pf_notes_new()) == NULL)
    status = pf_no_memory(error);
  if (status == PF_OK) {
    p->trace.tables = NULL;
    p->trace.ntables = 0;
    status = p->trace.format->open(&p->trace, error);
  }
  if (p->trace.notes != notes)
    pf_notes_free(p->trace.notes);
  p->trace.notes = notes;
  if (status != PF_OK) {
    fall_asleep(p);
    p->trace.ntables = ntables;
  }
  return status;
}


pf_status l_part_use (l_part *part, pf_error *error) {
  pthread_mutex_lock(&part->lock);
  const pf_status status = is_asleep(part) ? wake(part, error) : PF_OK;
  part->uses += status == PF_OK;
  pthread_mutex_unlock(&part->lock);
  return status;
}


void l_part_release (l_part *part) {
  pthread_mutex_lock(&part->lock);
  if (--part->uses == 0 && part->sleeps && part->open)
    fall_asleep(part);
  pthread_mutex_unlock(&part->lock);
}


int l_part_sleep (lua_State *L) {
  l_part *const p = l_part_check(L, 1);
  const size_t count = p->trace.ntables;
  bool can_sleep = !p->sleeps;
  for (size_t i = 0; i < p->trace.nsources; i++)
    can_sleep = can_sleep && l_source_can_sleep(p->owners[i]);
  if (can_sleep) {
    p->tables = calloc(count + 1, sizeof *p->tables);
    if (p->tables == NULL)
      l_no_memory(L);
    for (size_t i = 0; i < count; i++)
      p->tables[i] = (pf_table){.name = p->trace.tables[i].name,
                                .rows = p->trace.tables[i].rows};
    p->sleeps = true;
    p->uses++;
    l_part_release(p);
  }
  lua_pushboolean(L, p->sleeps);
  return 1;
}


l_part *l_part_use_check (lua_State *L, int arg) {
  l_part *const p = l_part_check(L, arg);
  pf_error error;
  if (l_part_use(p, &error) != PF_OK)
    l_throw(L, &error, lua_absindex(L, arg));
  return p;
}
