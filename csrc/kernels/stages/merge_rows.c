/*
** merge_rows.c - the rows of two inputs in the order of a column. Rows are
** copied in runs: as many of one input as come before the next one of the
** other.
*/

#include <stdio.h>
#include <string.h>

#include "kernels/stages/stages.h"
#include "model/dictionary/names.h"
#include "model/rows/put_values.h"
#include "model/rows/table_reader.h"

typedef struct side {
  pf_reader *reader;
  size_t time;
  size_t *columns; /* of the merged rows: its column, or SIZE_MAX */
  pf_batch batch;
  size_t at;    /* the next row of the batch */
  int64_t last; /* the latest time of the rows before */
  bool has_last, is_open, is_over;
} side;

typedef struct merge_reader {
  pf_reader reader;
  pf_field *fields;
  bool *wanted;
  side sides[2];
  uint64_t disorder; /* rows whose time is before that of a row before */
  uint64_t *counter; /* the maximum over all readers, or NULL */
} merge_reader;


/* {====== Values ====== */

/* Write whole numbers or areas as names, for a column that the other input has
   as names. */
static bool put_names (pf_dictionary *dictionary, pf_column *to, size_t at,
                       const pf_column *from, size_t first, size_t count) {
  for (size_t i = 0; i < count; i++) {
    char text[24];
    if (pf_is_missing(from, first + i)) {
      pf_put_id(to, at + i, PF_NO_NAME);
      continue;
    }
    if (from->type == PF_AREA) {
      to->ids[at + i] = pf_area_name(dictionary, from->ids[first + i]);
      continue;
    }
    if (i > 0 && from->ints[first + i] == from->ints[first + i - 1] &&
        to->ids[at + i - 1] != PF_NO_NAME) {
      to->ids[at + i] = to->ids[at + i - 1];
      continue;
    }
    snprintf(text, sizeof text, "%lld", (long long)from->ints[first + i]);
    to->ids[at + i] = pf_intern_text(dictionary, text);
    if (to->ids[at + i] == PF_NO_NAME)
      return false;
  }
  return true;
}


/* Copy `count` values from row `first` to row `at`. */
static void copy_values (pf_column *to, size_t at, const pf_column *from,
                         size_t first, size_t count) {
  const size_t size = pf_type_size(to->type);
  memcpy((uint8_t *)to->data + at * size,
         (const uint8_t *)from->data + first * size, count * size);
  for (size_t i = 0; from->has_missing && i < count; i++)
    if (pf_is_missing(from, first + i))
      pf_set_missing(to, at + i);
}


static bool put_rows (const merge_reader *m, const side *s, pf_batch *batch,
                      size_t count) {
  for (size_t i = 0; i < m->reader.nfields; i++) {
    pf_column *const to = &batch->columns[i];
    const pf_column *const from =
        s->columns[i] == SIZE_MAX ? NULL : &s->batch.columns[s->columns[i]];
    if (to->data == NULL)
      continue;
    if (from == NULL || from->data == NULL)
      pf_put_none(to, batch->rows, count);
    else if (to->type == from->type)
      copy_values(to, batch->rows, from, s->at, count);
    else if (!put_names(m->reader.dictionary, to, batch->rows, from, s->at,
                        count))
      return false;
  }
  batch->rows += count;
  return true;
}

/* }====== */


/* {====== Order ====== */

/* Read a batch of an input, if all rows of the one before are taken. PF_OK when
   there is a row or the input has ended; PF_AGAIN; a failure. */
static pf_status fill (merge_reader *m, side *s, pf_error *error) {
  while (!s->is_over && s->at >= s->batch.rows) {
    const pf_status status = s->reader->next(s->reader, &s->batch, error);
    s->at = 0;
    if (status == PF_END) {
      s->is_over = true;
      s->batch.rows = 0;
    }
    else if (status != PF_MORE) {
      s->batch.rows = 0;
      return status;
    }
    const pf_column *const times = &s->batch.columns[s->time];
    for (size_t i = 0; i < s->batch.rows; i++) {
      if (pf_is_missing(times, i))
        continue;
      m->disorder += s->has_last && times->ints[i] < s->last;
      s->last =
          s->has_last && s->last > times->ints[i] ? s->last : times->ints[i];
      s->has_last = true;
    }
  }
  return PF_OK;
}


/* How many rows of an input, at most `most`, come before the next one of the
   other. A row without a time follows the one before. */
static size_t run_of (const side *s, const side *other, bool is_first,
                      size_t most) {
  const pf_column *const times = &s->batch.columns[s->time];
  const pf_column *const others = &other->batch.columns[other->time];
  const bool has_bound = !other->is_over && !pf_is_missing(others, other->at);
  const int64_t until = has_bound ? others->ints[other->at] : 0;
  size_t count = 0;
  for (; count < most && s->at + count < s->batch.rows; count++) {
    const size_t row = s->at + count;
    if (other->is_over || pf_is_missing(times, row))
      continue;
    if (!has_bound || times->ints[row] > until ||
        (times->ints[row] == until && !is_first))
      break;
  }
  return count;
}

/* }====== */


static pf_status open_side (const merge_reader *m, side *s, pf_error *error) {
  bool *const wanted = calloc(s->reader->nfields + 1, sizeof *wanted);
  if (wanted == NULL)
    return pf_no_memory(error);
  for (size_t i = 0; i < m->reader.nfields; i++)
    if (m->wanted[i] && s->columns[i] != SIZE_MAX)
      wanted[s->columns[i]] = true;
  wanted[s->time] = true;
  s->is_open = pf_batch_for(&s->batch, s->reader, wanted) == PF_OK;
  free(wanted);
  return s->is_open ? PF_OK : pf_no_memory(error);
}


static pf_status fill_both (merge_reader *m, pf_error *error) {
  pf_status status = PF_OK;
  for (size_t i = 0; i < 2 && status == PF_OK; i++) {
    side *const s = &m->sides[i];
    if (!s->is_open)
      status = open_side(m, s, error);
    if (status == PF_OK)
      status = fill(m, s, error);
  }
  if (m->counter != NULL && *m->counter < m->disorder)
    *m->counter = m->disorder;
  return status;
}


/* A batch ends with that of an input, whose texts it has. */
static pf_status merge_next (pf_reader *self, pf_batch *batch,
                             pf_error *error) {
  merge_reader *const m = (merge_reader *)(void *)self;
  side *const left = &m->sides[0], *const right = &m->sides[1];
  pf_batch_clear(batch);
  const pf_status status = fill_both(m, error);
  if (status != PF_OK)
    return status;
  while (batch->rows < PF_BATCH_ROWS &&
         (left->at < left->batch.rows || left->is_over) &&
         (right->at < right->batch.rows || right->is_over) &&
         !(left->is_over && right->is_over)) {
    const size_t most = PF_BATCH_ROWS - batch->rows;
    side *s = left;
    size_t count = run_of(left, right, true, most);
    if (count == 0) {
      s = right;
      count = run_of(right, left, false, most);
    }
    if (!put_rows(m, s, batch, count))
      return pf_no_memory(error);
    s->at += count;
  }
  return batch->rows > 0 ? PF_MORE : PF_END;
}


/* The inputs are read into batches of their own. */
/* cppcheck-suppress constParameter ; the type is that of pf_reader.want */
static void merge_want (pf_reader *self, bool *wanted) {
  merge_reader *const m = (merge_reader *)(void *)self;
  for (size_t i = 0; i < self->nfields; i++)
    m->wanted[i] = m->wanted[i] || wanted[i];
}


static void merge_close (pf_reader *self) {
  merge_reader *const m = (merge_reader *)(void *)self;
  for (size_t i = 0; i < 2; i++) {
    pf_batch_close(&m->sides[i].batch);
    free(m->sides[i].columns);
  }
  free(m->wanted);
  free(m->fields);
  free(m);
}


/* Set the columns that the merged rows have from the right input. */
static pf_status add_fields (merge_reader *m, pf_reader *right,
                             pf_error *error) {
  size_t *const columns[] = {m->sides[0].columns, m->sides[1].columns};
  const size_t known = m->reader.input->nfields;
  for (size_t i = 0; i < known; i++)
    columns[0][i] = i;
  for (size_t i = 0; i < right->nfields; i++) {
    const pf_field *const field = &right->fields[i];
    const size_t at = pf_field_index(m->fields, known, field->name);
    if (at == known) {
      columns[1][m->reader.nfields] = i;
      m->fields[m->reader.nfields++] = *field;
      continue;
    }
    pf_field *const mine = &m->fields[at];
    columns[1][at] = i;
    if (mine->type == field->type)
      continue;
    const pf_type other = mine->type == PF_NAME ? field->type : mine->type;
    const bool has_names = mine->type == PF_NAME || field->type == PF_NAME;
    if (!has_names || (other != PF_INT && other != PF_AREA))
      return pf_refuse(error, "column \"%s\" is of two types: %s and %s",
                       field->name, pf_type_name(mine->type),
                       pf_type_name(field->type));
    mine->type = PF_NAME;
  }
  return PF_OK;
}


pf_status pf_merge_open (pf_reader *left, pf_reader *right, size_t left_time,
                         size_t right_time, uint64_t *disorder,
                         pf_reader **reader, pf_error *error) {
  merge_reader *const m = pf_stage_new(sizeof *m, left, merge_next, error);
  if (m == NULL)
    return PF_ENOMEM;
  const size_t most = left->nfields + right->nfields;
  m->reader.want = merge_want;
  m->reader.close = merge_close;
  m->counter = disorder;
  m->sides[0].reader = left;
  m->sides[0].time = left_time;
  m->sides[1].reader = right;
  m->sides[1].time = right_time;
  m->fields = pf_stage_fields(&m->reader, right->nfields);
  m->reader.nfields = left->nfields;
  m->wanted = calloc(most + 1, sizeof *m->wanted);
  bool has_memory = m->fields != NULL && m->wanted != NULL;
  for (size_t i = 0; i < 2; i++) {
    size_t *const columns = malloc((most + 1) * sizeof *columns);
    has_memory = has_memory && columns != NULL;
    m->sides[i].columns = columns;
    for (size_t j = 0; columns != NULL && j < most; j++)
      columns[j] = SIZE_MAX;
  }
  const pf_status status =
      has_memory ? add_fields(m, right, error) : pf_no_memory(error);
  return pf_reader_opened(&m->reader, status, reader);
}
