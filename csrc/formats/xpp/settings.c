/*
** settings.c - the settings of the run, from the PRI file. Its one parser is
** lua/profio/formats/xpp/pri.lua, which packs what it finds into the source of
** the role "pri", or "settings" if the main file is a PRI file:
**
**   OFFSET SIZE FIELD (little-endian)
**        0    8 OPERATIONMODE     -1: not stated, in all three
**        8    8 OUTFLUSHEVERY
**       16    8 OUTMSGSIZE
**       24    1 fields that the trace lacks: 1 time, 2 line, 4 parameters
**       25      texts, each a size of 4 bytes and its bytes: names of the bits
**               of OPERATIONMODE; then five for each line, the columns of
**               table settings. An empty text is a missing value.
**
** All results point into that source. Used by open_xpp.c and fields.c. Nothing
** is allocated but the reader, which lua/checked_reader.c closes.
*/

#include "bytes/cursor.h"
#include "formats/xpp/xpp.h"
#include "model/rows/put_values.h"
#include "model/rows/table_reader.h"

#define LACKS   24 /* offset of the fields that the trace lacks */
#define NAMES   25 /* offset of the names of OPERATIONMODE */
#define COLUMNS (sizeof fields / sizeof *fields)

static const pf_field fields[] = {
    {"section", PF_BYTES, "the section the setting stands in"},
    {"key", PF_BYTES, "its key; missing: the line is no setting"},
    {"value", PF_BYTES, "its value"},
    {"meaning", PF_NAME, "of OPERATIONMODE: the names of its bits"},
    {"line", PF_BYTES, "the whole line with its end"},
};


/* Takes a text with its size. */
static bool take_text (pf_cursor *cursor, pf_bytes *text) {
  uint64_t size;
  return pf_take_uint(cursor, 4, &size) && pf_take(cursor, size, text);
}


bool xpp_settings_lack (pf_bytes settings, xpp_role role) {
  const unsigned bit = role == XPP_TIME     ? 1
                       : role == XPP_LINE   ? 2
                       : role == XPP_PARAMS ? 4
                                            : 0;
  return settings.size > LACKS && (settings.at[LACKS] & bit) != 0;
}


void xpp_settings_info (pf_trace *trace, pf_bytes settings) {
  static const char *const facts[] = {"operation_mode", "flush_every",
                                      "symbol_size_set"};
  pf_cursor cursor = pf_cursor_over(settings, false);
  for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
    uint64_t value;
    pf_bytes names;
    if (!pf_take_uint(&cursor, 8, &value) || value > INT64_MAX)
      continue;
    pf_info_int(trace, facts[i], (int64_t)value);
    pf_cursor at = pf_cursor_over(settings, false);
    if (i == 0 && pf_skip(&at, NAMES) && take_text(&at, &names))
      pf_info_text(trace, "operation", names);
  }
}


typedef struct settings_reader {
  pf_reader reader;
  pf_trace *trace;
  pf_cursor cursor; /* at the next line */
} settings_reader;


static pf_status next (pf_reader *reader, pf_batch *batch, pf_error *error) {
  settings_reader *const self = (settings_reader *)(void *)reader;
  pf_bytes texts[COLUMNS];
  pf_batch_clear(batch);
  while (batch->rows < PF_BATCH_ROWS) {
    size_t taken = 0;
    while (taken < COLUMNS && take_text(&self->cursor, &texts[taken]))
      taken++;
    if (taken < COLUMNS)
      break;
    const size_t row = batch->rows++;
    for (size_t i = 0; i < COLUMNS; i++)
      if (fields[i].type == PF_BYTES)
        pf_put_bytes(&batch->columns[i], row, texts[i], texts[i].size > 0);
      else if (!pf_put_text(self->trace->dictionary, &batch->columns[i], row,
                            texts[i], texts[i].size > 0))
        return pf_no_memory(error);
  }
  return pf_batch_status(batch, PF_END);
}


static pf_status open (pf_trace *trace, const pf_table *table,
                       pf_reader **reader, pf_error *error) {
  const xpp_file *const file = trace->state;
  pf_bytes names;
  settings_reader *const self =
      pf_reader_new(sizeof *self, trace, table, next, error);
  if (self == NULL)
    return PF_ENOMEM;
  self->trace = trace;
  self->cursor = pf_cursor_over(file->settings, false);
  (void)(pf_skip(&self->cursor, NAMES) && take_text(&self->cursor, &names));
  *reader = &self->reader;
  return PF_OK;
}


const pf_table xpp_settings_table = {"settings", fields, COLUMNS, -1, open};
