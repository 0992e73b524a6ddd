/*
** rows_btf.c - the queue of BTF rows. One event may cause many rows, when a
** task with many open calls loses the core.
*/

#include <stdlib.h>

#include "kernels/btf/machine.h"
#include "model/base/memory.h"
#include "model/rows/put_values.h"

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


static void fill (pf_column *columns, size_t row, const btf_row *from) {
  pf_put_id(&columns[0], row, from->kind);
  pf_put_int(&columns[1], row, from->time, true);
  pf_put_id(&columns[2], row, from->source);
  pf_put_int(&columns[3], row, from->source_instance, true);
  pf_put_id(&columns[4], row, from->type);
  pf_put_id(&columns[5], row, from->target);
  pf_put_int(&columns[6], row, from->target_instance, true);
  pf_put_id(&columns[7], row, from->event);
  pf_put_int(&columns[8], row, from->note, from->has_note);
  pf_put_num(&columns[9], row, from->number, from->has_number);
}


void btf_take (btf_queue *q, pf_batch *batch) {
  while (q->head < q->count && batch->rows < PF_BATCH_ROWS)
    fill(batch->columns, batch->rows++, &q->rows[q->head++]);
  if (q->head == q->count)
    q->head = q->count = 0;
}
