/*
** records_br.c - decodes one record, and interns names of modules and
** functions, converted from the code page of the file.
**
** Used by groups_br.c, rows_br.c and open_br.c. The slices of a record point
** into the source; br_names_close frees the buffer of br_names.
*/

#include <stdlib.h>

#include "formats/br/br.h"


br_result br_record_at (pf_bytes bytes, uint64_t at, br_record *record) {
  /* Bytes before the name; 0: unknown type. */
  static const uint8_t sizes[BR_TYPES] = {
      [BR_MODULE] = 5, [BR_LINE] = 8,     [BR_TIME] = 9,  [BR_BACKTRACE] = 8,
      [BR_END] = 1,    [BR_FUNCTION] = 2, [BR_GOSUB] = 1, [BR_MAIN] = 1};
  const uint8_t *const here = bytes.at + at;
  const size_t left = bytes.size - (size_t)at;
  const size_t fixed = here[0] < BR_TYPES ? sizes[here[0]] : 0;
  *record = (br_record){.type = BR_REST, .offset = at, .size = left};
  if (fixed == 0)
    return BR_INVALID;
  record->type = (br_type)here[0];
  record->size = fixed;
  if (left < fixed)
    return BR_TRUNCATED;
  switch (record->type) {
    case BR_LINE:
    case BR_BACKTRACE:
      record->line = pf_load32(here + 3, true);
      record->clause = here[7];
      record->module = pf_load16(here + 1, true);
      break;
    case BR_MODULE:
      record->module = pf_load16(here + 1, true);
      record->name.size = pf_load16(here + 3, true);
      break;
    case BR_FUNCTION: record->name.size = here[1]; break;
    case BR_TIME: record->spent = pf_load64(here + 1, true); break;
    default: break;
  }
  record->size += record->name.size;
  if (record->size > left)
    return BR_TRUNCATED;
  record->name.at = here + fixed;
  return BR_COMPLETE;
}


/* The name of the first mapping, if profio's recorder wrote it. */
static bool recorder_of (pf_bytes bytes, pf_bytes *name) {
  static const char prefix[] = "profio.recorder";
  br_record record;
  if (bytes.size == 0 || br_record_at(bytes, 0, &record) != BR_COMPLETE ||
      record.type != BR_MODULE || record.name.size < sizeof prefix - 1 ||
      memcmp(record.name.at, prefix, sizeof prefix - 1) != 0)
    return false;
  *name = record.name;
  return true;
}


bool br_is_recording (pf_bytes bytes) {
  pf_bytes name;
  return recorder_of(bytes, &name);
}


bool br_recorded_by (const pf_trace *trace, pf_bytes *recorder) {
  return recorder_of(trace->sources[0].bytes, recorder);
}


pf_status br_names_open (br_names *names, const pf_trace *trace,
                         pf_error *error) {
  const pf_charset *const charset = &((const br_file *)trace->state)->charset;
  names->dictionary = trace->dictionary;
  names->text = NULL;
  const pf_status status = pf_converter_open(&names->converter, charset);
  if (status == PF_OK)
    return PF_OK;
  return pf_fail(error, status, PF_NO_OFFSET,
                 "this system cannot convert code page %s", charset->name);
}


void br_names_close (br_names *names) {
  if (names->converter.charset != NULL)
    pf_converter_close(&names->converter);
  free(names->text);
}


uint32_t br_intern (br_names *names, pf_bytes name) {
  if (pf_is_same_in_utf8(names->converter.charset, name))
    return pf_intern(names->dictionary, name);
  if (names->text == NULL)
    names->text = malloc(BR_MAX_CONVERTED);
  if (names->text == NULL)
    return PF_NO_NAME;
  const size_t size = pf_convert(&names->converter, name, names->text);
  return pf_intern(names->dictionary, (pf_bytes){names->text, size});
}
