/*
** raw_dbf.c - the readers of table raw, whose column `bytes` of all rows,
** concatenated, is the file, and of table structure, the decoded descriptors.
** Opened through pf_table.open by lua/checked_reader.c, which closes them. Each
** owns nothing but itself.
*/

#include "formats/dbf/internal.h"
#include "model/rows/abilities.h"
#include "model/rows/put_values.h"
#include "model/rows/table_reader.h"


#define STRUCTURE_LIST(X, T)                                                  \
  X(T, name, NAME, "name of the field and of its column")                     \
  X(T, type, NAME, "letter of its type")                                      \
  X(T, length, INT, "bytes in a record")                                      \
  X(T, decimals, INT, "digits after the decimal point")                       \
  X(T, offset, INT, "offset in the record; the delete flag is at 0")          \
  X(T, flags, INT, "1 system, 2 nullable, 4 no conversion, 12 autoincrement") \
  X(T, column, NAME, "type of its column")
PF_COLUMN_INDEXES(STRUCTURE);
static const pf_field structure_fields[] = PF_COLUMN_FIELDS(STRUCTURE);

#define RAW_LIST(X, T)                                         \
  X(T, offset, INT, "offset in the file")                      \
  X(T, size, INT, "bytes")                                     \
  X(T, kind, NAME, "header, field, end, record, mark or rest") \
  X(T, name, NAME, "of a field")                               \
  X(T, type, NAME, "field: letter of its type")                \
  X(T, length, INT, "field: bytes in a record")                \
  X(T, decimals, INT, "of a field")                            \
  X(T, flags, INT, "of a field")                               \
  X(T, record, INT, "number of a record, from 1")              \
  X(T, deleted, BOOL, "whether a record is marked as deleted") \
  X(T, bytes, BYTES, "bytes of the segment")
PF_COLUMN_INDEXES(RAW);
static const pf_field raw_fields[] = PF_COLUMN_FIELDS(RAW);

typedef struct raw_reader {
  pf_reader reader;
  pf_trace *trace;
  const dbf_file *file;
  uint64_t row;     /* index of the next row */
  uint64_t records; /* records that have been counted, from the first one */
} raw_reader;

/* A row of table raw. */
typedef struct segment {
  const char *kind;
  uint64_t offset, size;
  const dbf_field *field; /* of a field */
  uint64_t record;        /* number of a record, from 1; 0: not a record */
} segment;


/* Counts records up to those of the next batch. A record has no number after
   bytes that are not a record, so all records before it are counted. */
static void count_records (raw_reader *self, pf_bytes bytes) {
  const uint64_t after_batch = self->row + PF_BATCH_ROWS;
  if (self->records < after_batch)
    self->records += dbf_available(self->file, bytes, self->records,
                                   (size_t)(after_batch - self->records))
                         .count;
}


/* Returns segment `self->row`, limited to the bytes. Size 0: none. */
static segment segment_at (const raw_reader *self, pf_bytes bytes) {
  const dbf_file *const file = self->file;
  const dbf_layout *const layout = dbf_layout_of(file->version);
  const uint64_t after_fields = file->descriptors_end;
  const bool has_end = file->start > after_fields && bytes.size > after_fields;
  const uint64_t before = file->nfields + 1 + has_end; /* the records */
  const uint64_t row = self->row, record = row - before;
  segment p = {NULL, 0, 0, NULL, 0};
  if (row == 0)
    p = (segment){"header", 0, layout->first, NULL, 0};
  else if (row <= file->nfields) {
    const dbf_field *const field = &file->fields[row - 1];
    p = (segment){"field", field->descriptor_at, layout->size, field, 0};
  }
  else if (row < before)
    p = (segment){"end", after_fields, file->start - after_fields, NULL, 0};
  else if (record < self->records)
    p = (segment){"record", file->start + record * file->record, file->record,
                  NULL, record + 1};
  else {
    const uint64_t end = file->start + self->records * file->record;
    const bool is_marked = end < bytes.size && bytes.at[end] == 0x1A;
    if (is_marked && record == self->records)
      p = (segment){"mark", end, 1, NULL, 0};
    else if (record == self->records + is_marked)
      p = (segment){"rest", end + is_marked, UINT64_MAX, NULL, 0};
  }
  if (p.offset >= bytes.size)
    p.size = 0;
  else if (p.size > bytes.size - p.offset)
    p.size = bytes.size - p.offset;
  return p;
}


/* Store a name; NULL is missing. Returns false if out of memory. */
static bool put_name (pf_dictionary *dictionary, pf_column *column, size_t row,
                      const char *name) {
  return pf_put_text(dictionary, column, row,
                     pf_bytes_of(name == NULL ? "" : name), name != NULL);
}


static bool put_segment (const raw_reader *self, pf_bytes bytes,
                         const segment *p, pf_column *columns, size_t row) {
  static const dbf_field none = {.name = NULL};
  pf_dictionary *const dictionary = self->trace->dictionary;
  const bool is_field = p->field != NULL, is_record = p->record > 0;
  const dbf_field *const field = is_field ? p->field : &none;
  const uint8_t *const at = bytes.at + p->offset;
  const char type[2] = {field->type, '\0'};
  pf_put_int(&columns[RAW_offset], row, (int64_t)p->offset, true);
  pf_put_int(&columns[RAW_size], row, (int64_t)p->size, true);
  pf_put_int(&columns[RAW_length], row, field->stated, is_field);
  pf_put_int(&columns[RAW_decimals], row, field->decimals, is_field);
  pf_put_int(&columns[RAW_flags], row, field->flags, is_field);
  pf_put_int(&columns[RAW_record], row, (int64_t)p->record, is_record);
  pf_put_bool(&columns[RAW_deleted], row, is_record && dbf_is_deleted(at),
              is_record);
  pf_put_bytes(&columns[RAW_bytes], row, (pf_bytes){at, (size_t)p->size}, true);
  return put_name(dictionary, &columns[RAW_kind], row, p->kind) &&
         put_name(dictionary, &columns[RAW_name], row, field->name) &&
         put_name(dictionary, &columns[RAW_type], row, is_field ? type : NULL);
}


static pf_status next_raw (pf_reader *reader, pf_batch *batch,
                           pf_error *error) {
  raw_reader *const self = (raw_reader *)reader;
  const pf_bytes bytes = self->trace->sources[0].bytes;
  pf_batch_clear(batch);
  count_records(self, bytes);
  while (batch->rows < PF_BATCH_ROWS) {
    const segment p = segment_at(self, bytes);
    if (p.size == 0)
      break;
    self->row++;
    if (!put_segment(self, bytes, &p, batch->columns, batch->rows))
      return pf_no_memory(error);
    batch->rows++;
  }
  return pf_batch_status(batch, PF_END);
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
    pf_put_int(&c[STRUCTURE_length], row, field->stated, true);
    pf_put_int(&c[STRUCTURE_decimals], row, field->decimals, true);
    pf_put_int(&c[STRUCTURE_offset], row, field->offset, true);
    pf_put_int(&c[STRUCTURE_flags], row, field->flags, true);
    if (!put_name(dictionary, &c[STRUCTURE_name], row, field->name) ||
        !put_name(dictionary, &c[STRUCTURE_type], row, type) ||
        !put_name(dictionary, &c[STRUCTURE_column], row,
                  pf_type_name(field->column)))
      return pf_no_memory(error);
  }
  return pf_batch_status(batch, PF_END);
}


static pf_status seek (pf_reader *reader, uint64_t row, pf_error *error) {
  (void)error;
  ((raw_reader *)reader)->row = row;
  return PF_OK;
}


static pf_status open_reader (pf_trace *trace, const pf_table *table,
                              pf_status (*next)(pf_reader *, pf_batch *,
                                                pf_error *),
                              pf_reader **reader, pf_error *error) {
  static const pf_abilities abilities = {.seek = seek};
  raw_reader *const self =
      pf_reader_new(sizeof *self, trace, table, next, error);
  if (self == NULL)
    return PF_ENOMEM;
  self->reader.can = &abilities;
  self->trace = trace;
  self->file = ((const dbf_state *)trace->state)->file;
  *reader = &self->reader;
  return PF_OK;
}


static pf_status open_raw (pf_trace *trace, const pf_table *table,
                           pf_reader **reader, pf_error *error) {
  return open_reader(trace, table, next_raw, reader, error);
}


static pf_status open_structure (pf_trace *trace, const pf_table *table,
                                 pf_reader **reader, pf_error *error) {
  return open_reader(trace, table, next_field, reader, error);
}


const pf_table dbf_structure_table = {"structure", structure_fields,
                                      STRUCTURE_COLUMNS, 0, open_structure};
const pf_table dbf_raw_table = {"raw", raw_fields, RAW_COLUMNS, -1, open_raw};
