/*
** raw_records_br.c - the reader of table raw: the records of the file. The
** bytes of all rows together are the file.
*/

#include <stdlib.h>

#include "formats/br/columns.h"

const pf_field br_raw_fields[RAW_COLUMNS] = {
    {"offset", PF_INT, "byte at which it begins"},
    {"size", PF_INT, "bytes"},
    {"kind", PF_NAME,
     "module, line, time, backtrace, end, function, gosub, main, or rest"},
    {"module_number", PF_INT, "of a module, a line, a backtrace"},
    {"line", PF_INT, "of a line, a backtrace"},
    {"clause", PF_INT, "of a line, a backtrace"},
    {"spent", PF_INT, "of a time, ns"},
    {"name", PF_NAME, "of a module, a function"},
    {"bytes", PF_BYTES, "all its bytes"},
};

static const char *const kind_names[BR_TYPES] = {[BR_REST] = "rest",
                                                 [BR_MODULE] = "module",
                                                 [2] = "",
                                                 [BR_LINE] = "line",
                                                 [BR_TIME] = "time",
                                                 [BR_BACKTRACE] = "backtrace",
                                                 [BR_END] = "end",
                                                 [BR_FUNCTION] = "function",
                                                 [BR_GOSUB] = "gosub",
                                                 [BR_MAIN] = "main"};

typedef struct raw_reader {
  pf_reader reader;
  const pf_trace *trace;
  br_names names;
  uint64_t at;
  bool is_live;
  uint32_t kinds[BR_TYPES]; /* ids of their names */
} raw_reader;


static pf_status put_record (raw_reader *self, pf_batch *batch,
                             const br_record *record, pf_error *error) {
  const size_t row = batch->rows++;
  const bool has_line = record->type == BR_LINE || record->type == BR_BACKTRACE;
  const bool has_name =
      record->type == BR_MODULE || record->type == BR_FUNCTION;
  br_put_int(batch, RAW_OFFSET, row, (int64_t)record->offset);
  br_put_int(batch, RAW_SIZE, row, (int64_t)record->size);
  br_put_id(batch, RAW_KIND, row, self->kinds[record->type]);
  br_put_int_if(batch, RAW_MODULE_NUMBER, row,
                has_line || record->type == BR_MODULE, record->module);
  br_put_int_if(batch, RAW_LINE, row, has_line, record->line);
  br_put_int_if(batch, RAW_CLAUSE, row, has_line, record->clause);
  br_put_int_if(batch, RAW_SPENT, row,
                record->type == BR_TIME && record->spent <= INT64_MAX,
                (int64_t)record->spent);
  if (br_wanted(batch, RAW_BYTES))
    batch->columns[RAW_BYTES].bytes[row] =
        (pf_bytes){self->trace->sources[0].bytes.at + record->offset,
                   (size_t)record->size};
  if (!has_name)
    br_put_missing(batch, RAW_NAME, row);
  if (!has_name || !br_wanted(batch, RAW_NAME))
    return PF_OK;
  const uint32_t name = br_intern(&self->names, record->name);
  batch->columns[RAW_NAME].ids[row] = name;
  return name == PF_NO_NAME ? pf_no_memory(error) : PF_OK;
}


/* Decodes the record at the position of the reader. Bytes that cannot be read
   are one record, BR_REST; in a live trace an incomplete record is waited for
   (PF_AGAIN). */
static pf_status record_here (const raw_reader *self, br_record *record) {
  const pf_bytes bytes = self->trace->sources[0].bytes;
  if (self->at == bytes.size)
    return self->is_live ? PF_AGAIN : PF_END;
  const br_result found = br_record_at(bytes, self->at, record);
  if (found == BR_TRUNCATED && self->is_live)
    return PF_AGAIN;
  if (found != BR_COMPLETE)
    *record = (br_record){
        .type = BR_REST, .offset = self->at, .size = bytes.size - self->at};
  return PF_MORE;
}


static pf_status next (pf_reader *reader, pf_batch *batch, pf_error *error) {
  raw_reader *const self = (raw_reader *)(void *)reader;
  pf_status status = PF_MORE;
  br_record record;
  pf_batch_clear(batch);
  while (batch->rows < PF_BATCH_ROWS && status == PF_MORE) {
    status = record_here(self, &record);
    if (status != PF_MORE)
      break;
    status = put_record(self, batch, &record, error);
    self->at += record.size;
  }
  if (status < 0)
    return status;
  return batch->rows > 0 ? PF_MORE : status;
}


static void close_reader (pf_reader *reader) {
  raw_reader *const self = (raw_reader *)(void *)reader;
  br_names_close(&self->names);
  free(self);
}


pf_status br_open_raw (pf_trace *trace, const pf_table *table,
                       pf_reader **reader, pf_error *error) {
  raw_reader *const self = calloc(1, sizeof *self);
  if (self == NULL)
    return pf_no_memory(error);
  self->reader.fields = table->fields;
  self->reader.nfields = table->nfields;
  self->reader.dictionary = trace->dictionary;
  self->reader.next = next;
  self->reader.close = close_reader;
  self->trace = trace;
  self->is_live = pf_option_int(trace, "live", 0) != 0;
  pf_status status = br_names_open(&self->names, trace, error);
  for (int i = 0; i < BR_TYPES && status == PF_OK; i++) {
    self->kinds[i] = pf_intern_text(trace->dictionary, kind_names[i]);
    if (self->kinds[i] == PF_NO_NAME)
      status = pf_no_memory(error);
  }
  if (status == PF_OK)
    *reader = &self->reader;
  else
    close_reader(&self->reader);
  return status;
}
