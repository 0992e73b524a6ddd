/*
** sorter.c - an external merge sort. A run is sorted in memory; if it is full,
** it becomes a buffer of a spill file. Runs are merged by a binary heap of
** their numbers, in which the run of the least element is on top.
*/

#include "model/rows/sorter.h"

#include <stdlib.h>

#include "model/base/memory.h"
#include "model/rows/heap.h"

#define RUN_BYTES ((size_t)8 << 20) /* of a run in memory */

struct pf_sorter {
  size_t size, most; /* bytes of an element; elements of a run */
  pf_compare *compare;
  const void *context;
  uint8_t *run, *spare; /* the elements in memory, and as much for the sort */
  size_t used, at;      /* elements of the run; next one that is read */
  size_t capacity, spare_capacity;
  pf_spill spill;
  pf_spill_reader **runs; /* of those in the file */
  size_t nruns, run_capacity;
  size_t *heap; /* runs that are not at their end */
  size_t nheap;
  bool is_advanced; /* the run on top has to go on before the next element */
};


pf_sorter *pf_sorter_new (size_t size, pf_compare *compare,
                          const void *context) {
  pf_sorter *const self = calloc(1, sizeof *self);
  if (self != NULL) {
    self->size = size;
    self->most = RUN_BYTES / size;
    self->compare = compare;
    self->context = context;
  }
  return self;
}


void pf_sorter_close (pf_sorter *self) {
  if (self == NULL)
    return;
  for (size_t i = 0; self->runs != NULL && i < self->nruns; i++)
    free(self->runs[i]);
  free(self->runs);
  free(self->heap);
  free(self->run);
  free(self->spare);
  pf_spill_close(&self->spill);
  free(self);
}


static pf_status sort_run (pf_sorter *self, pf_error *error) {
  if (!pf_grow(&self->spare, &self->spare_capacity, self->used * self->size))
    return pf_no_memory(error);
  pf_sort(self->run, self->spare, self->used, self->size, self->compare,
          self->context);
  return PF_OK;
}


/* Moves the run in memory to the file. */
static pf_status spill_run (pf_sorter *self, pf_error *error) {
  pf_status status = sort_run(self, error);
  for (size_t i = 0; i < self->used && status == PF_OK; i++) {
    status = pf_spill_reserve(&self->spill, self->nruns, error);
    if (status != PF_OK)
      break;
    pf_spill_buffer *const buffer = &self->spill.buffers[self->nruns];
    memcpy(buffer->last + buffer->used, self->run + i * self->size, self->size);
    buffer->used += (uint32_t)self->size;
  }
  self->nruns++;
  self->used = 0;
  return status;
}


pf_status pf_sorter_add (pf_sorter *self, const void *element,
                         pf_error *error) {
  if (self->used == self->most) {
    const pf_status status = spill_run(self, error);
    if (status != PF_OK)
      return status;
  }
  if (!pf_grow(&self->run, &self->capacity, (self->used + 1) * self->size))
    return pf_no_memory(error);
  memcpy(self->run + self->used++ * self->size, element, self->size);
  return PF_OK;
}


/* {====== Merge ====== */

/* Whether the element of a run comes before that of another one. */
static bool is_before (const void *context, const void *left,
                       const void *right) {
  const pf_sorter *const self = context;
  const size_t a = *(const size_t *)left, b = *(const size_t *)right;
  const int order =
      self->compare(self->context, self->runs[a]->at, self->runs[b]->at);
  return order < 0 || (order == 0 && a < b);
}


static pf_status open_runs (pf_sorter *self, pf_error *error) {
  self->runs = pf_array_of_zeros(self->nruns, sizeof *self->runs);
  self->heap = pf_array(self->nruns, sizeof *self->heap);
  if (self->runs == NULL || self->heap == NULL)
    return pf_no_memory(error);
  for (size_t i = 0; i < self->nruns; i++) {
    pf_spill_reader *const run = calloc(1, sizeof *run);
    if (run == NULL)
      return pf_no_memory(error);
    self->runs[i] = run;
    run->spill = &self->spill;
    run->number = i;
    const pf_status status = pf_spill_next(run, error);
    if (status < 0)
      return status;
    pf_heap_push(self->heap, self->nheap++, sizeof i, is_before, self, &i);
  }
  return PF_OK;
}


pf_status pf_sorter_end (pf_sorter *self, uint64_t *in_file, pf_error *error) {
  pf_status status = PF_OK;
  if (self->nruns == 0)
    status = sort_run(self, error);
  else if (self->used > 0)
    status = spill_run(self, error);
  *in_file = self->spill.end;
  return status == PF_OK && self->nruns > 0 ? open_runs(self, error) : status;
}


/* Lets the run on top go on after its element was read. */
static pf_status advance (pf_sorter *self, pf_error *error) {
  size_t top = self->heap[0];
  pf_spill_reader *const run = self->runs[top];
  run->at += self->size;
  if (run->at == run->end) {
    const pf_status status = pf_spill_next(run, error);
    if (status < 0)
      return status;
    if (status == PF_END)
      top = self->heap[--self->nheap];
  }
  if (self->nheap > 0)
    pf_heap_sink(self->heap, self->nheap, sizeof top, is_before, self, 0, &top);
  return PF_OK;
}


pf_status pf_sorter_next (pf_sorter *self, const void **element,
                          pf_error *error) {
  if (self->nruns == 0) {
    if (self->at == self->used)
      return PF_END;
    *element = self->run + self->at++ * self->size;
    return PF_MORE;
  }
  if (self->is_advanced && self->nheap > 0) {
    const pf_status status = advance(self, error);
    if (status != PF_OK)
      return status;
  }
  self->is_advanced = true;
  if (self->nheap == 0)
    return PF_END;
  *element = self->runs[self->heap[0]]->at;
  return PF_MORE;
}


/* }====== */
