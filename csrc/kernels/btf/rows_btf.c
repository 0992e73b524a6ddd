/*
** rows_btf.c - the queue of BTF rows. One event may cause many rows, when a
** task with many open calls loses the core.
*/

#include <stdlib.h>

#include "kernels/btf/machine.h"
#include "model/base/memory.h"

#define FIRST_CAPACITY 64

const pf_field btf_fields[BTF_FIELDS] = {
    {"kind", PF_NAME, "event, write, number or comment"},
    {"time", PF_INT, "ns since the base"},
    {"source", PF_NAME, "name of the source; of a comment its text"},
    {"source_instance", PF_INT, "its instance"},
    {"type", PF_NAME, "type of the target: T, I, R, SIG or STI"},
    {"target", PF_NAME, "name of the target"},
    {"target_instance", PF_INT, "its instance"},
    {"event", PF_NAME, "what happens to the target"},
    {"note", PF_INT, "the value of a write"},
    {"number", PF_NUM, "the value of a write that is not an integer"},
};


void btf_put (btf_queue *q, const btf_row *row) {
  q->failed |= !pf_grow(&q->rows, &q->capacity, q->count + 1);
  if (!q->failed)
    q->rows[q->count++] = *row;
}


static void set_name (pf_column *column, size_t row, uint32_t name) {
  if (column->data != NULL)
    column->ids[row] = name;
}


static void set_int (pf_column *column, size_t row, int64_t value) {
  if (column->data != NULL)
    column->ints[row] = value;
}


static void fill (pf_column *columns, size_t row, const btf_row *from) {
  set_name(&columns[0], row, from->kind);
  set_int(&columns[1], row, from->time);
  set_name(&columns[2], row, from->source);
  set_int(&columns[3], row, from->source_instance);
  set_name(&columns[4], row, from->type);
  set_name(&columns[5], row, from->target);
  set_int(&columns[6], row, from->target_instance);
  set_name(&columns[7], row, from->event);
  set_int(&columns[8], row, from->note);
  if (columns[9].data != NULL)
    columns[9].nums[row] = from->number;
  if (columns[8].data != NULL && !from->has_note)
    pf_set_missing(&columns[8], row);
  if (columns[9].data != NULL && !from->has_number)
    pf_set_missing(&columns[9], row);
}


void btf_take (btf_queue *q, pf_batch *batch) {
  while (q->head < q->count && batch->rows < PF_BATCH_ROWS)
    fill(batch->columns, batch->rows++, &q->rows[q->head++]);
  if (q->head == q->count)
    q->head = q->count = 0;
}
