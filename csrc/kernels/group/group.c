/*
** group.c - reads all rows into groups and writes a row for each into a store.
*/

#include <stdlib.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "kernels/group/group.h"
#include "kernels/base/order.h"
#include "kernels/group/quantile.h"
#include "model/rows/table_reader.h"
#include "kernels/group/aggregate.h"
#include "kernels/group/keys.h"
#include "kernels/calls/calls.h"
#include "kernels/base/pipeline.h"
#include "model/system/parallel.h"
#include "model/rows/abilities.h"

#define HELP_SIZE 160

/* The rows that are read into groups. */
typedef struct group_scan {
  pf_keys *keys; /* owned, as all below */
  pf_aggregates *aggregates;
  bool *wanted;       /* by column of the input */
  pf_batch batch;     /* of the input */
  bool is_open;       /* the batch is open */
  bool may_run_apart; /* rows may be added in a thread other than the
                         caller's */
  uint32_t groups[PF_BATCH_ROWS]; /* the group of each row of the batch */
} group_scan;

typedef struct group_chunks group_chunks;

typedef struct group_reader {
  pf_reader reader;
  size_t nkeys, naggregates;
  group_scan scan;
  group_chunks *chunks; /* of the same rows, owned, or NULL */
  bool done;            /* the store is filled */
  pf_error failure;     /* the first failure, returned again by every
                             `next` */
  pf_store store;
  pf_reader *rows; /* the reader of the store */
  pf_field *fields;
  char *words; /* names and helps of the fields */
} group_reader;


static pf_status add_batch (group_scan *g, pf_error *error) {
  const pf_status status = pf_keys_find(g->keys, &g->batch, g->groups, error);
  if (status != PF_OK)
    return status;
  return pf_aggregates_add(g->aggregates, false, &g->batch, g->groups,
                           pf_keys_count(g->keys)) == PF_OK
             ? PF_OK
             : pf_no_memory(error);
}


/* The context of `process`: converts events to calls and adds these. */
typedef struct consumer {
  group_scan *scan;
  pf_reader *calls;
} consumer;


static pf_status process (void *context, const pf_pull *events,
                          const uint32_t *notes, pf_error *error) {
  const consumer *const m = context;
  pf_status status = PF_MORE;
  (void)notes;
  pf_calls_push(m->calls, &events->batch);
  while (status == PF_MORE) {
    status = m->calls->next(m->calls, &m->scan->batch, error);
    if (status == PF_MORE)
      status = add_batch(m->scan, error);
  }
  return status == PF_AGAIN ? PF_OK : status;
}


/* If the input converts events to calls, use a pipeline: the caller reads
   events, and the worker thread computes calls and adds them. Calls that are
   open at the end are added by the caller. */
static pf_status pipe_events (group_scan *g, pf_reader *input,
                              pf_error *error) {
  pf_reader *events;
  bool *columns, has_paused = false;
  g->may_run_apart = false;
  if (pf_can(input)->detach_input == NULL)
    return PF_OK;
  if (input->can->detach_input(input, g->wanted, &events, &columns) != PF_OK)
    return pf_no_memory(error);
  if (events == NULL)
    return PF_OK;
  consumer m = {g, input};
  const pf_pipeline pipeline = {.wanted = columns,
                                .process = process,
                                .context = &m,
                                .has_paused = &has_paused};
  const pf_status status = pf_pipeline_run(&pipeline, events, error);
  pf_calls_reattach_input(input, !has_paused);
  return status;
}


/* Add all rows of `input`. PF_END, PF_AGAIN or a failure; PF_MORE: another
   thread has set `stop` (may be NULL). */
static pf_status scan_rows (group_scan *g, pf_reader *input,
                            const atomic_bool *stop, pf_error *error) {
  if (!g->is_open && pf_batch_for(&g->batch, input, g->wanted) != PF_OK)
    return pf_no_memory(error);
  g->is_open = true;
  pf_status status = g->may_run_apart ? pipe_events(g, input, error) : PF_OK;
  if (status != PF_OK)
    return status;
  status = PF_MORE;
  while (status == PF_MORE && (stop == NULL || !atomic_load(stop))) {
    status = input->next(input, &g->batch, error);
    if (status == PF_MORE)
      status = add_batch(g, error);
  }
  return status;
}


static void stop_scan (group_scan *g) {
  if (g->is_open)
    pf_batch_close(&g->batch);
  g->is_open = false;
}


static void close_scan (group_scan *g) {
  stop_scan(g);
  pf_keys_close(g->keys);
  pf_aggregates_close(g->aggregates);
  free(g->wanted);
  memset(g, 0, sizeof *g);
}


typedef struct chunk {
  group_chunks *all;
  pf_reader *input;
  group_scan scan;
  pf_status status;
} chunk;

struct group_chunks { /* chunks of a table, in threads */
  bool *strict;
  atomic_bool stop; /* a chunk did not reach its end */
  size_t count;
  chunk chunks[];
};


static void close_chunks (group_chunks *p) {
  for (size_t i = 0; p != NULL && i < p->count; i++)
    close_scan(&p->chunks[i].scan);
  free(p);
}


/* Open chunks with the keys and aggregates of `model`: `readers` (borrowed)
   have the rows of the table between them, in its order, and may run in
   threads. *strict is the flag of their trace. *chunks is NULL if there are
   none, or if they could not be merged with exactly the same result. */
static pf_status open_chunks (pf_reader *const *readers, size_t count,
                              bool *strict, const group_scan *model,
                              group_chunks **chunks) {
  *chunks = NULL;
  if (count == 0 || !pf_keys_are_mergeable(model->keys, readers[0]->fields) ||
      !pf_aggregates_are_mergeable(model->aggregates))
    return PF_OK;
  group_chunks *const p = calloc(1, sizeof *p + count * sizeof *p->chunks);
  if (p == NULL)
    return PF_ENOMEM;
  p->strict = strict;
  const size_t size = (readers[0]->nfields + 1) * sizeof *model->wanted;
  pf_status status = PF_OK;
  for (; p->count < count && status == PF_OK; p->count++) {
    chunk *const c = &p->chunks[p->count];
    *c = (chunk){.all = p, .input = readers[p->count]};
    c->scan.wanted = malloc(size);
    if (c->scan.wanted == NULL ||
        pf_keys_clone(model->keys, &c->scan.keys) != PF_OK ||
        pf_aggregates_clone(model->aggregates, &c->scan.aggregates) != PF_OK)
      status = PF_ENOMEM;
    else
      memcpy(c->scan.wanted, model->wanted, size);
  }
  if (status == PF_OK)
    *chunks = p;
  else
    close_chunks(p);
  return status;
}


static void read_chunk (void *context) {
  chunk *const c = context;
  pf_error error;
  c->status = scan_rows(&c->scan, c->input, &c->all->stop, &error);
  if (c->status != PF_END)
    atomic_store(&c->all->stop, true);
  stop_scan(&c->scan);
}


/*
** Read all rows into `scan`, which has none yet. Damage must be recorded in
** the order of the rows, and only the first ones are stored. So chunks are read
** strictly: the first damage or failure in any of them ends all, *done is
** false, and nothing has been added or recorded. Then the caller reads the rows
** with one reader.
*/
static pf_status read_chunks (group_chunks *p, group_scan *scan, bool *done,
                              pf_error *error) {
  const bool strict = *p->strict;
  *p->strict = true;
  pf_run_all(read_chunk, p->chunks, sizeof *p->chunks, p->count);
  *p->strict = strict;
  *done = true;
  for (size_t i = 0; i < p->count; i++)
    *done &= p->chunks[i].status == PF_END;
  if (!*done)
    return PF_OK;
  /* The first chunk becomes the scan, and the others are merged into it. */
  close_scan(scan);
  *scan = p->chunks[0].scan;
  p->chunks[0].scan = (group_scan){.is_open = false};
  for (size_t i = 1; i < p->count; i++) {
    /* Add the groups of later rows. */
    const group_scan *const more = &p->chunks[i].scan;
    const size_t count = pf_keys_count(more->keys);
    uint32_t *const groups = malloc((count + 1) * sizeof *groups);
    pf_status status = groups == NULL
                           ? PF_ENOMEM
                           : pf_keys_merge(scan->keys, more->keys, groups);
    if (status == PF_OK)
      status = pf_aggregates_merge(scan->aggregates, more->aggregates, groups,
                                   count, pf_keys_count(scan->keys));
    free(groups);
    if (status != PF_OK)
      return pf_no_memory(error);
    close_scan(&p->chunks[i].scan);
  }
  return PF_OK;
}


/* Read until PF_END, PF_AGAIN or a failure. Chunks are used if there are any;
   if they do not succeed, one reader reads all rows and reports the
   warnings. */
static pf_status read_input (group_reader *g, pf_error *error) {
  bool is_read = false;
  if (g->chunks != NULL) {
    const pf_status status = read_chunks(g->chunks, &g->scan, &is_read, error);
    close_chunks(g->chunks);
    g->chunks = NULL;
    if (status != PF_OK)
      return status;
  }
  return is_read ? PF_END : scan_rows(&g->scan, g->reader.input, NULL, error);
}


static pf_status make_rows (group_reader *g, pf_error *error) {
  const group_scan *const scan = &g->scan;
  const size_t count = pf_keys_count(scan->keys);
  pf_store *const store = &g->store;
  if (pf_store_open(store, g->fields, g->reader.nfields,
                    g->reader.dictionary) != PF_OK ||
      pf_store_reserve(store, count) != PF_OK)
    return pf_no_memory(error);
  store->rows = count;
  pf_status status = pf_keys_finish(scan->keys, store, error);
  if (status == PF_OK)
    status = pf_aggregates_finish(
        scan->aggregates, store, g->nkeys + g->naggregates, NULL, count, error);
  if (status == PF_OK)
    status = pf_store_reader(store, NULL, count, &g->rows, error);
  g->done = status == PF_OK;
  stop_scan(&g->scan);
  return status;
}


pf_status pf_group_run (pf_reader *reader,
                        void (*retype)(void *context, size_t key,
                                       pf_field *field),
                        void *context, pf_error *error) {
  group_reader *const g = (group_reader *)(void *)reader;
  if (g->done)
    return PF_OK;
  if (g->failure.status != PF_OK) {
    *error = g->failure;
    return g->failure.status;
  }
  pf_status status = read_input(g, error);
  if (status == PF_END || status == PF_AGAIN) {
    for (size_t i = 0; retype != NULL && i < g->nkeys; i++)
      retype(context, i, &g->fields[i]);
    status = make_rows(g, error);
  }
  if (status < PF_OK)
    g->failure = *error;
  return status;
}


static pf_status group_next (pf_reader *self, pf_batch *batch,
                             pf_error *error) {
  group_reader *const g = (group_reader *)(void *)self;
  pf_batch_clear(batch);
  const pf_status status = pf_group_run(self, NULL, NULL, error);
  return status != PF_OK ? status : g->rows->next(g->rows, batch, error);
}


static void group_close (pf_reader *self) {
  group_reader *const g = (group_reader *)(void *)self;
  if (g->rows != NULL)
    g->rows->close(g->rows);
  pf_store_close(&g->store);
  close_scan(&g->scan);
  close_chunks(g->chunks);
  free(g->fields);
  free(g->words);
  free(g);
}


/* Copy a string to *at and advance. */
static const char *copy_text (char **at, const char *text) {
  const size_t size = strlen(text) + 1;
  char *const copy = memcpy(*at, text, size);
  *at += size;
  return copy;
}


/* Write the help of an aggregate to *at and advance; for times with their
   unit. */
static const char *write_help (char **at, const pf_aggregate *aggregate,
                               const pf_field *fields) {
  static const char *const texts[] = {/* by pf_function */
                                      "number of present values",
                                      "sum",
                                      "minimum",
                                      "maximum",
                                      "mean",
                                      "standard deviation",
                                      "first",
                                      "last",
                                      "number of distinct values",
                                      "nearest rank"};
  char help[HELP_SIZE];
  if (aggregate->column == PF_NO_COLUMN)
    return copy_text(at, "number of rows");
  const pf_field *const of = &fields[aggregate->column];
  const bool counts =
      aggregate->function == PF_COUNT || aggregate->function == PF_DISTINCT;
  const char *const ns = pf_is_time(of) && !counts ? ", ns" : "";
  if (aggregate->function == PF_QUANTILE)
    snprintf(help, HELP_SIZE,
             "p%.8g of %.40s%s: exact up to %u values of a group (%u in "
             "large results), otherwise at most 1/256 of it away",
             aggregate->rank * 100.0 / PF_RANK_SCALE, of->name, ns,
             PF_EXACT_VALUES, PF_EXACT_REDUCED);
  else
    snprintf(help, HELP_SIZE, "%s of %.40s%s", texts[aggregate->function],
             of->name, ns);
  return copy_text(at, help);
}


static bool make_fields (group_reader *g, const pf_key *keys,
                         const pf_type *types, const pf_aggregate *list) {
  const pf_field *const input = g->reader.input->fields;
  size_t size = 1;
  for (size_t i = 0; i < g->nkeys; i++)
    size += strlen(keys[i].name) + 1;
  for (size_t i = 0; i < g->naggregates; i++)
    size += 2 * strlen(list[i].name) + 3 + HELP_SIZE;
  g->words = malloc(size);
  g->fields = calloc(g->nkeys + 2 * g->naggregates + 2, sizeof *g->fields);
  if (g->words == NULL || g->fields == NULL)
    return false;
  char *at = g->words;
  for (size_t i = 0; i < g->nkeys; i++)
    g->fields[i] = (pf_field){
        copy_text(&at, keys[i].name), types[i],
        keys[i].computed == NULL ? input[keys[i].column].help : NULL};
  for (size_t i = 0; i < g->naggregates; i++) {
    const pf_field *const of =
        list[i].column == PF_NO_COLUMN ? NULL : &input[list[i].column];
    pf_field *const field = &g->fields[g->nkeys + i];
    field->name = copy_text(&at, list[i].name);
    field->type = pf_aggregate_type(list[i].function, of);
    field->help = write_help(&at, &list[i], input);
  }
  g->reader.fields = g->fields;
  g->reader.nfields = g->nkeys + g->naggregates;
  /* The sum of a time with a remainder has a hidden column '.NAME' for it. */
  for (size_t i = 0; i < g->naggregates; i++) {
    if (list[i].function != PF_SUM ||
        pf_aggregate_rest(&list[i], input, g->reader.input->nfields) ==
            PF_NO_COLUMN)
      continue;
    char *const name = at;
    *at++ = '.';
    (void)copy_text(&at, list[i].name);
    g->fields[g->reader.nfields++] =
        (pf_field){name, PF_INT, pf_remainder_help};
  }
  g->reader.nfields = pf_aggregates_add_about(list, g->naggregates, g->fields,
                                              g->reader.nfields);
  return true;
}


static bool make_wanted (group_reader *g, const pf_key *keys,
                         const pf_aggregate *list) {
  bool *const wanted = calloc(g->reader.input->nfields + 1, sizeof *wanted);
  g->scan.wanted = wanted;
  if (wanted == NULL)
    return false;
  for (size_t i = 0; i < g->nkeys; i++)
    if (keys[i].computed == NULL)
      wanted[keys[i].column] = true;
    else
      for (size_t c = 0; c < keys[i].computed->ncolumns; c++)
        wanted[keys[i].computed->columns[c]] = true;
  for (size_t i = 0; i < g->naggregates; i++)
    if (list[i].column != PF_NO_COLUMN) {
      const size_t rest = pf_aggregate_rest(&list[i], g->reader.input->fields,
                                            g->reader.input->nfields);
      wanted[list[i].column] = true;
      if (rest != PF_NO_COLUMN)
        wanted[rest] = true;
    }
  return true;
}

/* Whether a thread other than the caller's may add rows, while the caller reads
   and adds names: no key is computed, because that calls Lua, no aggregate has
   a column of ids, and no column of bytes is read. */
static bool may_run_apart (const group_reader *g, const pf_key *keys,
                           const pf_aggregate *list) {
  const pf_field *const fields = g->reader.input->fields;
  for (size_t i = 0; i < g->nkeys; i++)
    if (keys[i].computed != NULL)
      return false;
  for (size_t i = 0; i < g->naggregates; i++)
    if (list[i].column != PF_NO_COLUMN &&
        pf_type_is_id(fields[list[i].column].type))
      return false;
  for (size_t i = 0; i < g->reader.input->nfields; i++)
    if (g->scan.wanted[i] && fields[i].type == PF_BYTES)
      return false;
  return true;
}


pf_status pf_group_open (pf_reader *input, const pf_key *keys,
                         const pf_type *types, size_t nkeys,
                         const pf_aggregate *aggregates, size_t naggregates,
                         pf_reader **reader, pf_error *error) {
  group_reader *const g = pf_stage_new(sizeof *g, input, group_next, error);
  if (g == NULL)
    return PF_ENOMEM;
  g->reader.want = NULL; /* it reads its input into a batch of its own */
  g->reader.close = group_close;
  g->nkeys = nkeys;
  g->naggregates = naggregates;
  if (!make_fields(g, keys, types, aggregates) ||
      !make_wanted(g, keys, aggregates) ||
      pf_keys_open(keys, nkeys, &g->scan.keys) != PF_OK ||
      pf_aggregates_open(aggregates, naggregates, input->fields, input->nfields,
                         input->dictionary, g->fields,
                         &g->scan.aggregates) != PF_OK)
    return pf_reader_opened(&g->reader, pf_no_memory(error), reader);
  g->scan.may_run_apart = may_run_apart(g, keys, aggregates);
  *reader = &g->reader;
  return PF_OK;
}


pf_status pf_group_split (pf_reader *reader, pf_reader *const *readers,
                          size_t count, bool *strict) {
  group_reader *const g = (group_reader *)(void *)reader;
  return open_chunks(readers, count, strict, &g->scan, &g->chunks);
}
