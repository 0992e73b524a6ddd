/*
** open_xpp.c - the format xpp: traces of the Alaska Xbase++ profiler.
**
** The PRF file is a table of Visual FoxPro (formats/dbf) or, for "human
** readable output", text of the DELDBE. The fields of an entry:
**
**   FIELD    as a table   meaning
**   TID      I(4), N      ThreadId()
**   TIME     I(4), N      ms since the start; optional
**   OP       C(1)         operation: i about to be called, I entered,
**                         O about to return, o returned
**   MSG      C(n)         the function, cut to n bytes ("size for symbols")
**   LINE     I(4), N      line of the source; optional
**   PARAMS   M            parameters, in a memo file .PRV; optional
**
** The documents describe that the file can be read as such a table, its
** contents, the operations, flushing, packets and the name OP. The names TID,
** TIME, MSG, LINE and PARAMS occur in the profiler. Not known: types and widths
** (the table states them), the order of fields in text and whether it has a row
** of names; so roles.c finds fields by several names and by values.
*/

#include <stdio.h>
#include <stdlib.h>

#include "formats/xpp/parser/items.h"
#include "formats/xpp/encoder/write_xpp.h"
#include "model/dictionary/names.h"


/* Sets the fact "fields": "thread=TID time=TIME ...". */
static void set_roles (pf_trace *trace, const xpp_file *file) {
  char text[512];
  size_t used = 0;
  for (size_t i = 0; i < XPP_ROLES; i++) {
    const size_t field = file->roles.field[i];
    if (field == XPP_NO_FIELD || used + 100 > sizeof text)
      continue;
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%s=%.60s",
                             used > 0 ? " " : "", xpp_role_names[i],
                             file->fields[field].name);
  }
  pf_info_text(trace, "fields", (pf_bytes){(uint8_t *)text, used});
}


/* The number of records that fit into the segments. */
static uint64_t capacity_of (const pf_trace *trace, const xpp_file *file) {
  uint64_t found = 0;
  for (size_t i = 0; i < file->nsegments; i++) {
    const size_t source = file->segments[i].source;
    const uint64_t size = trace->sources[source].bytes.size;
    const uint64_t start = source == 0 ? file->dbf->start : 0;
    found += size > start ? (size - start) / file->dbf->record : 0;
  }
  return found;
}


/* The number of records in the header. In a file that is read together with its
   ring, the header may already count records after the settled length. */
static uint64_t records_of (const pf_trace *trace, const xpp_file *file) {
  const uint64_t counted = dbf_header_count(file->dbf, trace->sources[0].bytes);
  const uint64_t found = capacity_of(trace, file);
  return counted > found && pf_option_int(trace, "settled", 0) != 0 ? found
                                                                    : counted;
}


static void set_info (pf_trace *trace, const xpp_file *file) {
  const char separator[] = {(char)file->separator, '\0'};
  const size_t call = file->roles.field[XPP_CALL];
  const dbf_file *const dbf = file->dbf;
  pf_info_text(trace, "dialect",
               pf_bytes_of(file->is_text ? "deldbe" : "foxdbe"));
  if (file->is_text) {
    pf_info_text(trace, "separator",
                 pf_bytes_of(file->separator == '\t' ? "tab" : separator));
    pf_info_bool(trace, "header_row", file->has_names);
  }
  else {
    pf_info_text(trace, "byte_order", pf_bytes_of("little"));
    pf_info_addr(trace, "version", dbf->version);
    pf_info_addr(trace, "code_page_mark", dbf->mark);
    pf_info_text(
        trace, "code_page",
        pf_bytes_of(dbf->charset.name[0] != '\0' ? dbf->charset.name : "raw"));
    pf_info_int(trace, "records", (int64_t)records_of(trace, file));
    pf_info_int(trace, "record_size", dbf->record);
    if (call != XPP_NO_FIELD)
      pf_info_int(trace, "symbol_size", dbf->fields[call].size);
  }
  set_roles(trace, file);
  if (xpp_is_mapped(&file->roles))
    pf_info_text(trace, "filtering",
                 pf_bytes_of(file->is_unfiltered ? "off" : "on"));
  if (file->nsources > 1 && file->nsegments > 1)
    pf_info_int(trace, "packets", (int64_t)file->nsegments - 1);
  xpp_settings_info(trace, file->settings);
}


/* Warns if the header counts more or fewer records than there are. */
static pf_status check_count (pf_trace *trace, const xpp_file *file,
                              pf_error *error) {
  const uint64_t counted = records_of(trace, file),
                 found = capacity_of(trace, file);
  if (counted == found)
    return PF_OK;
  const bool is_low = counted < found;
  return pf_warn(trace, is_low ? PF_NOTE : PF_DAMAGE,
                 is_low ? "xpp-stale-count" : "xpp-count", PF_ETRUNCATED, 4,
                 error, "the header states %llu records, the file has %llu",
                 (unsigned long long)counted, (unsigned long long)found);
}


static void add_table (pf_trace *trace, xpp_file *file, pf_table table) {
  file->tables[trace->ntables++] = table;
  trace->tables = file->tables;
}


static pf_status add_tables (pf_trace *trace, xpp_file *file, pf_error *error) {
  pf_status status = xpp_raw_schema(file, error);
  if (status == PF_OK)
    status = xpp_entries_schema(file, error);
  if (status != PF_OK)
    return status;
  if (xpp_is_mapped(&file->roles))
    add_table(trace, file,
              (pf_table){"entries", file->entries, file->nentries, -1,
                         xpp_open_entries});
  if (file->settings.size > 0)
    add_table(trace, file, xpp_settings_table);
  add_table(trace, file, xpp_structure_table);
  add_table(trace, file,
            (pf_table){"raw", file->raw, file->nraw, -1, xpp_open_raw});
  return PF_OK;
}


static pf_status open_trace (pf_trace *trace, xpp_file *file, pf_error *error) {
  const pf_source *const settings = pf_source_of(trace, "pri");
  if (settings != NULL)
    file->settings = settings->bytes;
  pf_status status = xpp_find_fields(trace, file, error);
  if (status == PF_OK)
    status = xpp_find_segments(trace, file, error);
  if (status == PF_OK)
    status = xpp_find_roles(trace, file, error);
  if (status == PF_OK && !file->is_text && !file->is_live)
    status = check_count(trace, file, error);
  if (status != PF_OK)
    return status;
  set_info(trace, file);
  return add_tables(trace, file, error);
}


static pf_status open (pf_trace *trace, pf_error *error) {
  xpp_file *const file = trace->state;
  const pf_source *const own = pf_source_of(trace, "settings");
  file->is_live = pf_option_int(trace, "live", 0) != 0;
  if (own != NULL) { /* the main file is a PRI file */
    file->settings = own->bytes;
    add_table(trace, file, xpp_settings_table);
    pf_info_text(trace, "dialect", pf_bytes_of("pri"));
    xpp_settings_info(trace, own->bytes);
    return PF_OK;
  }
  return open_trace(trace, file, error);
}


static void close (pf_trace *trace) {
  xpp_file *const file = trace->state;
  dbf_close(file->dbf);
  free(file->names);
  free(file->segments);
  free(file->fields);
  free(file->entries);
  free(file->extras);
  free(file->raw);
  free(file->shown);
}


static int score (pf_bytes head, uint64_t size) {
  const int table = xpp_table_score(head, size);
  return table > 0 || !xpp_is_text(head) ? table : xpp_text_score(head, size);
}


const pf_format pf_format_xpp = {
    .name = "xpp",
    .score = score,
    .open = open,
    .close = close,
    .state_size = sizeof(xpp_file),
    .written = xpp_written,
    .nwritten = 1,
    .encoder = xpp_encoder,
};
