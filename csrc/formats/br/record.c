/*
** record.c - decodes one record.
*/

#include "formats/br/br.h"


/* Bytes of a record before its name; 0: unknown type. */
static size_t fixed_size (uint8_t type) {
  static const uint8_t sizes[BR_TYPES] = {
      [BR_MODULE] = 5, [BR_LINE] = 8,     [BR_TIME] = 9,  [BR_BACKTRACE] = 8,
      [BR_END] = 1,    [BR_FUNCTION] = 2, [BR_GOSUB] = 1, [BR_MAIN] = 1};
  return type < BR_TYPES ? sizes[type] : 0;
}


/* Bytes of the name, given the fixed part. */
static size_t name_size (const uint8_t *at) {
  switch (at[0]) {
    case BR_MODULE: return pf_load16(at + 3, true);
    case BR_FUNCTION: return at[1];
    default: return 0;
  }
}


/* Sets the fields of a complete record. */
static void load_fields (const uint8_t *at, br_record *record) {
  switch (record->type) {
    case BR_LINE:
    case BR_BACKTRACE:
      record->line = pf_load32(at + 3, true);
      record->clause = at[7];
      record->module = pf_load16(at + 1, true);
      break;
    case BR_MODULE: record->module = pf_load16(at + 1, true); break;
    case BR_TIME: record->spent = pf_load64(at + 1, true); break;
    default: break;
  }
}


br_result br_record_at (pf_bytes bytes, uint64_t at, br_record *record) {
  const uint8_t *const here = bytes.at + at;
  const size_t left = bytes.size - (size_t)at;
  const size_t fixed = fixed_size(here[0]);
  *record = (br_record){.type = BR_REST, .offset = at, .size = left};
  if (fixed == 0)
    return BR_INVALID;
  record->type = (br_type)here[0];
  record->size = fixed;
  if (left < fixed)
    return BR_TRUNCATED;
  const size_t name = name_size(here);
  record->size = fixed + name;
  if (left - fixed < name)
    return BR_TRUNCATED;
  record->name = (pf_bytes){here + fixed, name};
  load_fields(here, record);
  return BR_COMPLETE;
}
