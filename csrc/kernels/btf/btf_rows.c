/*
** btf_rows.c - rows of BTF that wait until a batch has room: one event may be many
** rows, when it takes the core from a task that is deep in calls.
*/

#include <stdlib.h>

#include "kernels/btf/btf_machine.h"

#define FIRST_ROOM 64

const pf_field btf_fields[BTF_FIELDS] = {
    {"kind", PF_NAME, "event, write, number or comment", false},
    {"time", PF_INT, "ns since the base", false},
    {"source", PF_NAME, "who does it; of a comment its text", false},
    {"source_instance", PF_INT, "which of these", false},
    {"type", PF_NAME, "what the target is: T, R, SIG or STI", false},
    {"target", PF_NAME, "to whom it is done", false},
    {"target_instance", PF_INT, "which of these", false},
    {"event", PF_NAME, "what is done", false},
    {"note", PF_INT, "the value of a write", false},
    {"number", PF_NUM, "the value of a write that is no whole number", false},
};


static bool grow (btf_queue *q) {
  const size_t room = q->room == 0 ? FIRST_ROOM : 2 * q->room;
  btf_row *const rows = realloc(q->rows, room * sizeof *rows);
  if (rows == NULL)
    return false;
  q->rows = rows;
  q->room = room;
  return true;
}


void btf_put (btf_queue *q, const btf_row *row) {
  q->failed |= q->count == q->room && !grow(q);
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
