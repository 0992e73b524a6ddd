/*
** settings.c - reads the PRI file: lines KEY=VALUE, possibly in [sections]. All
** results point into the text, a source of the trace. The documents describe
** the keys OPERATIONMODE and OUTFLUSHEVERY; the profiler itself contains
** BUILTINS, PARAMLIST, LINENUMBERS, OUTFILE, OUTFORMAT, OUTMSGSIZE, OUTNAME,
** TIMELINE, THREADS, SYMBOLMODE, SYMBOLS. Most of the values are not
** documented. Used by open_xpp.c and fields.c. Nothing is allocated but the
** reader, which lua/checked_reader.c closes.
*/

#include <stdio.h>
#include <string.h>

#include "formats/xpp/xpp.h"
#include "model/rows/put_values.h"
#include "model/rows/table_reader.h"

#define MODE_SIZE 160 /* bytes of the names of a mode */


static const pf_field fields[] = {
    {"section", PF_BYTES, "the section the setting stands in"},
    {"key", PF_BYTES, "its key; missing: the line is no setting"},
    {"value", PF_BYTES, "its value"},
    {"meaning", PF_NAME, "of OPERATIONMODE: the names of its bits"},
    {"line", PF_BYTES, "the whole line with its end"},
};

typedef struct setting {
  uint64_t offset, size; /* of its line */
  pf_bytes section;      /* empty: before the first section */
  pf_bytes key, value;   /* key empty: the line is not a setting */
} setting;


/* The documents describe 1, 1024 and 2048 separately, and 8 and 4096 together;
   the other bits have no name. */
static const struct {
  int64_t bits;
  const char *name;
} modes[] = {{XPP_MODE_TRACE, "trace"},
             {XPP_MODE_UNFILTERED, "unfiltered"},
             {XPP_MODE_FLUSH, "flush"},
             {XPP_MODE_PACKETS, "packets"}};


/* Splits a line into key and value. Comments, section headings and lines
   without "=" have no key. */
static void split (pf_bytes line, setting *found) {
  const uint8_t *const sign =
      line.size == 0 ? NULL : memchr(line.at, '=', line.size);
  found->key = found->value = (pf_bytes){line.at, 0};
  if (line.size == 0 || line.at[0] == ';' || line.at[0] == '#')
    return;
  if (line.at[0] == '[') {
    const uint8_t *const end = memchr(line.at, ']', line.size);
    if (end != NULL)
      found->section = (pf_bytes){line.at + 1, (size_t)(end - line.at - 1)};
    return;
  }
  if (sign == NULL)
    return;
  const size_t size = (size_t)(sign - line.at);
  found->key = xpp_trim((pf_bytes){line.at, size});
  found->value = xpp_trim((pf_bytes){sign + 1, line.size - size - 1});
}


/* Parses the line at `at`: first 0, then offset + size of the line before.
   Returns false at the end of the text. Pass the same setting, zeros at first,
   for all lines, because it keeps the current section. */
static bool next_setting (pf_bytes text, uint64_t at, setting *found) {
  if (at >= text.size)
    return false;
  const uint8_t *const line = text.at + at;
  const size_t left = (size_t)(text.size - at);
  const uint8_t *const end = memchr(line, '\n', left);
  const size_t size = end == NULL ? left : (size_t)(end - line) + 1;
  pf_bytes shown = {line, size};
  while (shown.size > 0 && (xpp_is_line_end(line[shown.size - 1]) ||
                            line[shown.size - 1] == 0x1A))
    shown.size--;
  found->offset = at;
  found->size = size;
  split(xpp_trim(shown), found);
  return true;
}


/* Finds a key (given in capitals, any case in the text); the last occurrence
   counts. Returns false if there is none. */
static bool find_value (pf_bytes text, const char *key, pf_bytes *value) {
  setting found = {0};
  bool has_it = false;
  for (uint64_t at = 0; next_setting(text, at, &found); at += found.size)
    if (xpp_is_same_name(found.key, pf_bytes_of(key))) {
      *value = found.value;
      has_it = true;
    }
  return has_it;
}


/* Parses an integer of 0 or more. */
static bool parse_number (pf_bytes text, int64_t *number) {
  return xpp_parse_integer(text, number) && text.at[0] != '-';
}


bool xpp_setting_number (pf_bytes text, const char *key, int64_t *number) {
  pf_bytes value;
  return find_value(text, key, &value) && parse_number(value, number);
}


bool xpp_has_settings (pf_bytes text) {
  int64_t mode;
  return (text.size == 0 || memchr(text.at, 0, text.size) == NULL) &&
         xpp_setting_number(text, "OPERATIONMODE", &mode);
}


/* A PRI file contains OPERATIONMODE and few lines that are not settings; a text
   about PRI files has many. A key has letters, digits, blanks and "_-.". */
int xpp_settings_score (pf_bytes head) {
  setting found = {0};
  size_t lines = 0, others = 0;
  if (!xpp_has_settings(head))
    return 0;
  for (uint64_t at = 0; next_setting(head, at, &found); at += found.size) {
    const pf_bytes text =
        xpp_trim((pf_bytes){head.at + found.offset, (size_t)found.size});
    const pf_bytes key = found.key;
    bool is_setting = key.size > 0;
    for (size_t i = 0; i < key.size; i++) {
      const uint8_t c = key.at[i], lower = c | 0x20;
      is_setting &= (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') ||
                    memchr(" _-.", c, 4) != NULL;
    }
    lines++;
    others += !is_setting && text.size > 0 &&
              memchr(";#[\r\n\x1A", text.at[0], 6) == NULL;
  }
  return others * 4 <= lines ? 95 : 0;
}


/* Writes the names of the bits that are set, and as many values of those
   without a name as fit, with blanks between. Returns the size; `text` has
   MODE_SIZE bytes. */
static size_t mode_text (int64_t mode, char *text) {
  size_t used = 0;
  text[0] = '\0';
  for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
    if ((mode & modes[i].bits) == modes[i].bits) {
      used += (size_t)snprintf(text + used, MODE_SIZE - used, "%s%s",
                               used > 0 ? " " : "", modes[i].name);
      mode &= ~modes[i].bits;
    }
  for (int64_t bit = 1; bit > 0 && bit <= mode && used + 24 < MODE_SIZE;
       bit *= 2)
    if (mode & bit)
      used += (size_t)snprintf(text + used, MODE_SIZE - used, "%s%lld",
                               used > 0 ? " " : "", (long long)bit);
  return used;
}


void xpp_settings_info (pf_trace *trace, pf_bytes text) {
  int64_t value;
  if (xpp_setting_number(text, "OPERATIONMODE", &value)) {
    char names[MODE_SIZE];
    const size_t size = mode_text(value, names);
    pf_info_int(trace, "operation_mode", value);
    pf_info_text(trace, "operation", (pf_bytes){(uint8_t *)names, size});
  }
  if (xpp_setting_number(text, "OUTFLUSHEVERY", &value))
    pf_info_int(trace, "flush_every", value);
  if (xpp_setting_number(text, "OUTMSGSIZE", &value))
    pf_info_int(trace, "symbol_size_set", value);
}


typedef struct settings_reader {
  pf_reader reader;
  pf_trace *trace;
  uint64_t at;
  setting found;
} settings_reader;


static pf_status next (pf_reader *reader, pf_batch *batch, pf_error *error) {
  settings_reader *const self = (settings_reader *)(void *)reader;
  const xpp_file *const file = self->trace->state;
  setting *const found = &self->found;
  char names[MODE_SIZE];
  int64_t mode = 0;
  pf_batch_clear(batch);
  while (batch->rows < PF_BATCH_ROWS &&
         next_setting(file->settings, self->at, found)) {
    const size_t row = batch->rows++;
    pf_put_bytes(&batch->columns[0], row, found->section,
                 found->section.size > 0);
    pf_put_bytes(&batch->columns[1], row, found->key, found->key.size > 0);
    pf_put_bytes(&batch->columns[2], row, found->value, found->value.size > 0);
    pf_put_bytes(&batch->columns[4], row,
                 (pf_bytes){file->settings.at + self->at, (size_t)found->size},
                 true);
    self->at += found->size;
    const bool is_mode =
        xpp_is_same_name(found->key, pf_bytes_of("OPERATIONMODE")) &&
        parse_number(found->value, &mode);
    const size_t size = is_mode ? mode_text(mode, names) : 0;
    if (!pf_put_text(self->trace->dictionary, &batch->columns[3], row,
                     (pf_bytes){(uint8_t *)names, size}, is_mode))
      return pf_no_memory(error);
  }
  return pf_batch_status(batch, PF_END);
}


static pf_status open (pf_trace *trace, const pf_table *table,
                       pf_reader **reader, pf_error *error) {
  settings_reader *const self =
      pf_reader_new(sizeof *self, trace, table, next, error);
  if (self == NULL)
    return PF_ENOMEM;
  self->trace = trace;
  *reader = &self->reader;
  return PF_OK;
}


const pf_table xpp_settings_table = {"settings", fields,
                                     sizeof fields / sizeof *fields, -1, open};
