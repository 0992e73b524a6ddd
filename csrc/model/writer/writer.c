/*
** writer.c - the producer's side of a writer: writes rows into the ring and new
** entries of the dictionary into its journal.
*/

#include "model/writer/writer.h"

#include <stdlib.h>
#include <string.h>

#include "model/rows/batch.h"
#include "model/writer/ring_consumer.h"
#include "model/writer/manifest.h"
#include "os/os.h"


static void wake (void *context) {
  pf_ring_consumer_ask(((const pf_writer *)context)->consumer);
}


static bool wait (void *context) {
  return pf_ring_consumer_wait(((const pf_writer *)context)->consumer);
}


static pf_status open_ring (pf_writer *w, const pf_writer_plan *plan,
                            pf_error *error) {
  uint8_t bytes[PF_RING_SETTINGS];
  /* Roles are in the order of the lengths in the checkpoint. */
  pf_manifest manifest = {.format = plan->format->name,
                          .options = plan->recovery_options,
                          .noptions = plan->nrecovery_options};
  for (const pf_sink *s = plan->sink->side; s != NULL; s = s->side)
    if (manifest.nroles < PF_MANIFEST_ROLES)
      manifest.roles[manifest.nroles++] = s->role;
  const size_t size = pf_manifest_write(bytes, sizeof bytes, &manifest);
  if (size == 0)
    return pf_fail(error, PF_ELIMIT, PF_NO_OFFSET,
                   "the options do not fit the %u bytes a ring keeps",
                   PF_RING_SETTINGS);
  if (plan->older != NULL && (plan->older->settings_size != size ||
                              memcmp(plan->older->settings, bytes, size) != 0))
    return pf_fail(error, PF_EIO, PF_NO_OFFSET,
                   "the recording that a killed writer left there has other "
                   "options: records cannot be appended to it");
  pf_status status = pf_ring_consumer_open(w->consumer, w, plan, error);
  if (status != PF_OK)
    return status;
  status =
      pf_ring_create(&w->ring, plan->claim,
                     plan->ring_size == 0 ? PF_RING_DEFAULT : plan->ring_size,
                     plan->mode, (pf_bytes){bytes, size}, plan->sync, error);
  if (status != PF_OK)
    return status;
  if (plan->older != NULL) { /* add its losses to those of this ring */
    w->ring.dropped = plan->older->lost;
    pf_store_relaxed(&w->ring.header->dropped, w->ring.dropped);
  }
  w->ring.callbacks = (pf_ring_callbacks){wake, wait, w};
  pf_ring_set_checkpoint(w->ring.header, &w->consumer->checkpoint);
  return PF_OK;
}


/* In a forked child the pages of the writer read as zeros. A zeroed writer has
   no free space in its ring, so the fast path needs no check; the general path
   asks pf_writer_is_owner. */
static void free_writer (pf_writer *w) {
  os_pages_free(w, sizeof *w);
}


static pf_status fail_in_child (pf_error *error) {
  return pf_fail(
      error, PF_EIO, PF_NO_OFFSET,
      "the writer belongs to the process that opened it: this one is "
      "its copy");
}


/* Adds the names, areas and stacks of the ring that a killed writer left to the
   dictionary. They come before those of the new ring, so that an encoder that
   numbers them in their order writes the same numbers. */
static pf_status replay_older (const pf_writer_plan *plan, pf_error *error) {
  pf_ring_encoder replayer = {.dictionary = plan->dictionary};
  pf_ring_cursor journal = plan->older->journal;
  const pf_status status = pf_ring_encoder_replay(&replayer, &journal, error);
  replayer.dictionary = NULL; /* the plan's: do not free it */
  pf_ring_encoder_close(&replayer);
  return status;
}


pf_status pf_writer_open (pf_writer **writer, const pf_writer_plan *plan,
                          pf_error *error) {
  pf_writer *const w = os_pages_new(sizeof *w, true);
  pf_ring_consumer *const consumer = calloc(1, sizeof *consumer);
  if (w == NULL || consumer == NULL) {
    free_writer(w);
    free(consumer);
    return pf_no_memory(error);
  }
  w->dictionary = plan->dictionary;
  w->consumer = consumer;
  w->ring.fd = -1; /* pf_ring_close must not close descriptor 0 */
  w->flush_every = plan->flush_every;
  w->flush_at = plan->flush_every == 0 ? UINT64_MAX : plan->flush_every;
  pf_status status = PF_OK;
  if (plan->older != NULL)
    status = replay_older(plan, error);
  if (status == PF_OK)
    status = open_ring(w, plan, error);
  if (status == PF_OK) {
    pf_ring_consumer_start(consumer);
    *writer = w;
    return PF_OK;
  }
  pf_ring_consumer_close(consumer);
  pf_ring_close(&w->ring, true);
  free(consumer);
  free_writer(w);
  return status;
}


pf_status pf_writer_start (pf_writer *w, pf_error *error) {
  pf_ring_start(&w->ring);
  return pf_ring_sync(&w->ring, error);
}


const pf_table *pf_writer_tables (const pf_writer *w, size_t *count) {
  *count = 0;
  if (!pf_writer_is_owner(w))
    return NULL;
  *count = w->consumer->encoder.ntables;
  return w->consumer->encoder.tables;
}


/* Appends a name, an area or a stack. */
static pf_status append (pf_writer *w, int kind, uint32_t number,
                         pf_error *error) {
  uint64_t n[PF_JOURNAL_AREA_NUMBERS];
  pf_bytes bytes = {(const uint8_t *)n, 0};
  if (kind == PF_JOURNAL_NAME)
    bytes = pf_name(w->dictionary, number);
  else if (kind == PF_JOURNAL_AREA) {
    const pf_area *const area = pf_area_at(w->dictionary, number);
    n[0] = area->name;
    n[1] = area->class;
    n[2] = area->file;
    n[3] = area->parent;
    n[4] = (uint64_t)area->line;
    n[5] = area->handle;
    n[6] = (uint64_t)area->value;
    n[7] = (uint64_t)area->has_handle | (uint64_t)area->has_value << 1;
    bytes.size = sizeof n;
  }
  else {
    const pf_stack *const stack = pf_stack_at(w->dictionary, number);
    n[0] = stack->parent;
    n[1] = stack->frame;
    bytes.size = 2 * sizeof *n;
  }
  return pf_ring_journal_append(&w->ring, (uint32_t)kind, bytes, error);
}


pf_status pf_writer_journal (pf_writer *w, pf_error *error) {
  if (!pf_writer_is_owner(w))
    return fail_in_child(error);
  const uint32_t there[PF_JOURNAL_KINDS] = {
      [PF_JOURNAL_NAME] = pf_names_count(w->dictionary),
      [PF_JOURNAL_AREA] = pf_areas_count(w->dictionary),
      [PF_JOURNAL_STACK] = pf_stacks_count(w->dictionary)};
  for (int kind = 0; kind < PF_JOURNAL_KINDS; kind++)
    for (; w->known[kind] < there[kind]; w->known[kind]++) {
      const pf_status status = append(w, kind, w->known[kind], error);
      if (status != PF_OK)
        return status;
    }
  return PF_OK;
}


/* Words of a value: one, and for PF_BYTES those of the bytes. */
static size_t words_of (const pf_column *column, size_t row) {
  if (column->type != PF_BYTES)
    return 1;
  return 1 + (column->bytes[row].size + 7) / 8;
}


static uint64_t *put_value (uint64_t *at, const pf_column *column, size_t row) {
  const size_t words = words_of(column, row);
  switch (column->type) {
    case PF_BOOL: *at = column->bools[row]; break;
    case PF_NAME:
    case PF_AREA:
    case PF_STACK: *at = column->ids[row]; break;
    case PF_BYTES:
      at[words - 1] = 0; /* padding */
      at[0] = column->bytes[row].size;
      if (column->bytes[row].size > 0)
        memcpy(at + 1, column->bytes[row].at, column->bytes[row].size);
      break;
    default: *at = column->addrs[row];
  }
  return at + words;
}


pf_status pf_writer_put (pf_writer *w, size_t table, const pf_batch *batch,
                         size_t row, pf_error *error) {
  size_t words = 0;
  uint32_t columns = 0;
  pf_status status = pf_writer_failure(w, error);
  if (status == PF_OK)
    status = pf_writer_journal(w, error);
  if (status != PF_OK)
    return status;
  for (size_t i = 0; i < batch->ncolumns; i++)
    if (pf_has_value(batch, i, row)) {
      words += words_of(&batch->columns[i], row);
      columns |= 1u << i;
    }
  uint64_t *const record = pf_writer_begin(w, words);
  if (record == NULL) {
    status = pf_writer_failure(w, error);
    if (status != PF_OK || pf_ring_can_hold(&w->ring, words))
      return status;
    return pf_fail(error, PF_ELIMIT, PF_NO_OFFSET,
                   "a record of %zu bytes is too large for a ring of %llu",
                   8 * words, (unsigned long long)w->ring.mask + 1);
  }
  uint64_t *at = record;
  for (size_t i = 0; i < batch->ncolumns; i++)
    if ((columns >> i & 1) != 0)
      at = put_value(at, &batch->columns[i], row);
  pf_writer_commit(w, record, words, pf_tag(table, columns));
  return PF_OK;
}


void pf_writer_flush_due (pf_writer *w) {
  w->flush_at = w->ring.count + w->flush_every;
  if (w->ring.mode != PF_RING_OVERWRITE)
    pf_ring_consumer_ask(w->consumer);
}


pf_status pf_writer_failure (pf_writer *w, pf_error *error) {
  if (!pf_writer_is_owner(w))
    return fail_in_child(error);
  if (pf_load_acquire(&w->failed) == 0)
    return PF_OK;
  *error = w->consumer->error; /* written before `failed`, and never again */
  return error->status;
}


pf_status pf_writer_dump (pf_writer *w, pf_error *error) {
  if (!pf_writer_is_owner(w))
    return fail_in_child(error);
  const uint64_t head = pf_load_relaxed(&w->ring.header->head);
  if (!w->consumer->has_thread)
    return pf_ring_consumer_consume_all(w->consumer, error);
  while (pf_load_acquire(&w->consumer->synced_tail) < head)
    if (!pf_ring_consumer_wait(w->consumer))
      break;
  return pf_writer_failure(w, error);
}


pf_status pf_writer_flush (pf_writer *w, pf_error *error) {
  if (w->ring.mode == PF_RING_OVERWRITE)
    return pf_writer_failure(w, error);
  return pf_writer_dump(w, error);
}


pf_writer_facts pf_writer_facts_of (pf_writer *w) {
  if (!pf_writer_is_owner(w))
    return (pf_writer_facts){.tried = 0};
  const pf_ring *const ring = &w->ring;
  const pf_checkpoint done = pf_ring_checkpoint(ring->header);
  uint64_t lost = done.lost + ring->dropped;
  if (ring->mode == PF_RING_OVERWRITE)
    lost = ring->oldest.before - done.consumed + ring->dropped;
  return (pf_writer_facts){ring->count + ring->dropped, done.consumed, lost,
                           pf_load_relaxed(&w->consumer->rounded)};
}


/* In a forked child, which has no thread of the writer, only the writer's pages
   are freed. */
pf_status pf_writer_close (pf_writer *w, pf_error *error) {
  if (!pf_writer_is_owner(w)) {
    free_writer(w);
    return fail_in_child(error);
  }
  pf_ring_consumer_stop(w->consumer);
  pf_status status = pf_ring_consumer_consume_all(w->consumer, error);
  if (status == PF_OK)
    status = pf_ring_consumer_finish(w->consumer, error);
  pf_ring_consumer_close(w->consumer);
  pf_ring_close(&w->ring, status == PF_OK);
  free(w->consumer);
  free_writer(w);
  return status;
}
