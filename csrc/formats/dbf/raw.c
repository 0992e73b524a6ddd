/*
** raw.c - table `raw`: all bytes of a table in order, each once, so that its
** rows written one after the other are the file; and table `structure`, the
** descriptors as they are understood.
*/

#include <stdlib.h>
#include <string.h>

#include "formats/dbf/parts.h"
#include "formats/dbf/tables.h"
#include "model/batch.h"
#include "model/names.h"

typedef struct raw_reader {
  pf_reader reader;
  pf_trace *trace;
  const dbf_file *file;
  uint64_t row;
} raw_reader;

/* One row of raw. */
typedef struct piece {
  const char *kind;
  uint64_t offset, size;
  const dbf_field *field; /* of kind field */
  uint64_t record;        /* of kind record, from 1 */
} piece;


/* {====== What stands where ====== */

/* Rows before the first record: header, fields, and the end of the header when
   it has bytes of its own. */
static uint64_t rows_before (const dbf_file *file, pf_bytes bytes) {
  const bool ends =
      file->start > file->described && bytes.size > file->described;
  return file->nfields + 1 + ends;
}


static piece piece_of_head (const raw_reader *self, uint64_t row) {
  const dbf_file *const file = self->file;
  const dbf_shape *const shape = dbf_shape_of(file->version);
  if (row == 0)
    return (piece){"header", 0, shape->first, NULL, 0};
  if (row <= file->nfields) {
    const dbf_field *const field = &file->fields[row - 1];
    return (piece){"field", field->described, shape->size, field, 0};
  }
  return (piece){"end", file->described, file->start - file->described, NULL,
                 0};
}


/* What follows the last record: an end mark, then the rest; size 0: nothing. */
static piece piece_of_tail (pf_bytes bytes, uint64_t end, uint64_t number) {
  const bool marked = end < bytes.size && bytes.at[end] == 0x1A;
  if (marked && number == 0)
    return (piece){"mark", end, 1, NULL, 0};
  end += marked;
  number -= marked;
  return (piece){"rest", end, number == 0 && end < bytes.size ? UINT64_MAX : 0,
                 NULL, 0};
}


/* How many records there are, also those the header does not count. */
static uint64_t count_records (const dbf_file *file, pf_bytes bytes) {
  const uint64_t counted = dbf_counted(file, bytes);
  const uint64_t room = dbf_room(file, bytes);
  uint64_t count = counted < room ? counted : room;
  for (;;) {
    const size_t more = dbf_available(file, bytes, count, PF_BATCH_ROWS).count;
    if (more == 0)
      return count;
    count += more;
  }
}


/* Row `self->row`, never longer than the bytes; size 0 where there is none. */
static piece piece_at (const raw_reader *self, pf_bytes bytes,
                       uint64_t *records) {
  const dbf_file *const file = self->file;
  const uint64_t before = rows_before(file, bytes);
  piece p;
  if (self->row < before)
    p = piece_of_head(self, self->row);
  else if (self->row - before < *records ||
           dbf_available(file, bytes, self->row - before, 1).count > 0) {
    const uint64_t record = self->row - before;
    p = (piece){"record", file->start + record * file->record, file->record,
                NULL, record + 1};
  }
  else {
    if (*records == 0)
      *records = count_records(file, bytes);
    p = piece_of_tail(bytes, file->start + *records * file->record,
                      self->row - before - *records);
  }
  if (p.offset >= bytes.size)
    p.size = 0;
  else if (p.size > bytes.size - p.offset)
    p.size = bytes.size - p.offset;
  return p;
}

/* }====== */


/* {====== Rows ====== */

static void put_int (pf_column *column, size_t row, bool has, uint64_t value) {
  if (column->data == NULL)
    return;
  column->ints[row] = (int64_t)value;
  if (!has)
    pf_set_missing(column, row);
}


/* False when out of memory. */
static bool put_name (pf_dictionary *dictionary, pf_column *column, size_t row,
                      const char *name) {
  if (column->data == NULL)
    return true;
  if (name == NULL) {
    pf_set_missing(column, row);
    return true;
  }
  column->ids[row] = pf_intern_text(dictionary, name);
  return column->ids[row] != PF_NO_NAME;
}


static bool put_piece (const raw_reader *self, pf_bytes bytes, const piece *p,
                       pf_column *columns, size_t row) {
  pf_dictionary *const dictionary = self->trace->dictionary;
  const dbf_field *const field = p->field;
  const bool described = field != NULL;
  const char type[2] = {described ? field->type : '\0', '\0'};
  put_int(&columns[RAW_OFFSET], row, true, p->offset);
  put_int(&columns[RAW_SIZE], row, true, p->size);
  put_int(&columns[RAW_LENGTH], row, described, described ? field->stated : 0);
  put_int(&columns[RAW_DECIMALS], row, described,
          described ? field->decimals : 0);
  put_int(&columns[RAW_FLAGS], row, described, described ? field->flags : 0);
  put_int(&columns[RAW_RECORD], row, p->record > 0, p->record);
  if (columns[RAW_DELETED].data != NULL) {
    columns[RAW_DELETED].bools[row] =
        p->record > 0 && dbf_is_deleted(bytes.at + p->offset);
    if (p->record == 0)
      pf_set_missing(&columns[RAW_DELETED], row);
  }
  if (columns[RAW_BYTES].data != NULL)
    columns[RAW_BYTES].bytes[row] =
        (pf_bytes){bytes.at + p->offset, (size_t)p->size};
  return put_name(dictionary, &columns[RAW_KIND], row, p->kind) &&
         put_name(dictionary, &columns[RAW_NAME], row,
                  described ? field->name : NULL) &&
         put_name(dictionary, &columns[RAW_TYPE], row, described ? type : NULL);
}


static pf_status next_raw (pf_reader *reader, pf_batch *batch,
                           pf_error *error) {
  raw_reader *const self = (raw_reader *)reader;
  const pf_bytes bytes = self->trace->sources[0].bytes;
  uint64_t records = 0; /* as far as they are known */
  pf_batch_clear(batch);
  while (batch->rows < PF_BATCH_ROWS) {
    const piece p = piece_at(self, bytes, &records);
    if (p.size == 0)
      break;
    self->row++;
    if (!put_piece(self, bytes, &p, batch->columns, batch->rows))
      return dbf_no_memory(error);
    batch->rows++;
  }
  return batch->rows > 0 ? PF_MORE : PF_END;
}


static pf_status next_field (pf_reader *reader, pf_batch *batch,
                             pf_error *error) {
  raw_reader *const self = (raw_reader *)reader;
  pf_dictionary *const dictionary = self->trace->dictionary;
  pf_column *const c = batch->columns;
  pf_batch_clear(batch);
  for (; self->row < self->file->nfields && batch->rows < PF_BATCH_ROWS;
       self->row++, batch->rows++) {
    const dbf_field *const field = &self->file->fields[self->row];
    const char type[2] = {field->type, '\0'};
    const size_t row = batch->rows;
    put_int(&c[STRUCTURE_LENGTH], row, true, field->stated);
    put_int(&c[STRUCTURE_DECIMALS], row, true, field->decimals);
    put_int(&c[STRUCTURE_OFFSET], row, true, field->offset);
    put_int(&c[STRUCTURE_FLAGS], row, true, field->flags);
    if (!put_name(dictionary, &c[STRUCTURE_NAME], row, field->name) ||
        !put_name(dictionary, &c[STRUCTURE_TYPE], row, type) ||
        !put_name(dictionary, &c[STRUCTURE_COLUMN], row,
                  pf_type_name(field->column)))
      return dbf_no_memory(error);
  }
  return batch->rows > 0 ? PF_MORE : PF_END;
}

/* }====== */


static pf_status seek (pf_reader *reader, uint64_t row, pf_error *error) {
  (void)error;
  ((raw_reader *)reader)->row = row;
  return PF_OK;
}


static void close_reader (pf_reader *reader) {
  free(reader);
}


static pf_status open_reader (pf_trace *trace, const pf_table *table,
                              pf_status (*next)(pf_reader *, pf_batch *,
                                                pf_error *),
                              pf_reader **reader, pf_error *error) {
  raw_reader *const self = calloc(1, sizeof *self);
  if (self == NULL)
    return dbf_no_memory(error);
  self->reader = (pf_reader){.fields = table->fields,
                             .nfields = table->nfields,
                             .dictionary = trace->dictionary,
                             .next = next,
                             .seek = seek,
                             .close = close_reader};
  self->trace = trace;
  self->file = ((const dbf_state *)trace->state)->file;
  *reader = &self->reader;
  return PF_OK;
}


pf_status dbf_open_raw (pf_trace *trace, const pf_table *table,
                        pf_reader **reader, pf_error *error) {
  return open_reader(trace, table, next_raw, reader, error);
}


pf_status dbf_open_structure (pf_trace *trace, const pf_table *table,
                              pf_reader **reader, pf_error *error) {
  return open_reader(trace, table, next_field, reader, error);
}
