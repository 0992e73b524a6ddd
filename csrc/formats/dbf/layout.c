/*
** layout.c - computes sizes, offsets, kinds and bits of fields, and the start
** and the size of records.
**
** Offsets of fields are sums of sizes, because those that Visual FoxPro states
** are often 0. Impossible sizes in the header are replaced by computed ones.
** If the records contradict the sizes, another start or record size is taken if
** all checked delete flags and the end of the file agree with it. Called by
** dbf_open of header_dbf.c. Nothing is allocated.
*/

#include "formats/dbf/internal.h"

#define CHECKED_FLAGS 100 /* number of delete flags that are checked */


static uint64_t sum_of (const dbf_file *file, bool long_text) {
  uint64_t sum = 1;
  for (size_t i = 0; i < file->nfields; i++) {
    const dbf_field *const field = &file->fields[i];
    sum += field->size;
    if (long_text && field->type == 'C')
      sum += (uint64_t)field->decimals << 8;
  }
  return sum;
}


/* Set the offsets of the fields, limited to the end of the record. */
static pf_status place_fields (pf_trace *trace, dbf_file *file,
                               pf_error *error) {
  const uint64_t sum = sum_of(file, false);
  uint64_t at = 1;
  for (size_t i = 0; i < file->nfields; i++) {
    dbf_field *const field = &file->fields[i];
    const uint64_t end = at + field->size;
    field->offset = (uint32_t)(at < file->record ? at : file->record);
    if (end > file->record)
      field->size = file->record - field->offset;
    at = end;
  }
  if (sum == file->record)
    return PF_OK;
  return pf_warn(trace, sum < file->record ? PF_NOTE : PF_DAMAGE,
                 "dbf-record-size", PF_EFORMAT, 10, error,
                 "the fields and the delete flag take %llu bytes, a record %u",
                 (unsigned long long)sum, file->record);
}


/* Whether the first records begin with a delete flag for these sizes. */
static bool flags_fit (const dbf_file *file, pf_bytes bytes, uint64_t start,
                       uint64_t record) {
  const uint64_t counted = dbf_header_count(file, bytes);
  uint64_t at = start;
  if (start >= bytes.size)
    return counted == 0;
  for (uint64_t i = 0; i < counted && i < CHECKED_FLAGS && at < bytes.size;
       i++) {
    if (!dbf_is_flag(bytes.at[at]))
      return false;
    at += record;
  }
  return true;
}


/* Whether the counted records end at the end of the file or at an end mark
   0x1A. */
static bool end_fits (const dbf_file *file, pf_bytes bytes, uint64_t start,
                      uint64_t record) {
  const uint64_t end = start + dbf_header_count(file, bytes) * record;
  return end == bytes.size || (end + 1 == bytes.size && bytes.at[end] == 0x1A);
}


static pf_status use_sizes (pf_trace *trace, dbf_file *file, uint64_t start,
                            uint64_t record, pf_error *error) {
  const uint32_t stated_start = file->start, stated_record = file->record;
  file->start = (uint32_t)start;
  file->record = (uint32_t)record;
  return pf_warn(trace, PF_DAMAGE, "dbf-header-size", PF_EFORMAT, 8, error,
                 "the header states records of %u bytes from byte %u on; they "
                 "are read as %u bytes from byte %u on, where they fit",
                 stated_record, stated_start, file->record, file->start);
}


/* Replace impossible sizes by computed ones. */
static pf_status replace_sizes (pf_trace *trace, dbf_file *file,
                                pf_error *error) {
  const pf_bytes bytes = trace->sources[0].bytes;
  const uint64_t sum = sum_of(file, false);
  uint64_t start = file->start, record = file->record;
  if (start < file->descriptors_end) {
    const bool ended = file->descriptors_end < bytes.size &&
                       bytes.at[file->descriptors_end] == 0x0D;
    start = file->descriptors_end + ended +
            (dbf_is_visual(file->version) ? DBF_BACKLINK : 0);
  }
  if (record == 0 || (record == 1 && file->nfields > 0))
    record = sum;
  if (start == file->start && record == file->record)
    return PF_OK;
  return use_sizes(trace, file, start, record, error);
}


/* Try other sizes if delete flags are invalid with the stated ones, or if both
   the fields and the end of the file contradict the record size. */
static pf_status detect_sizes (pf_trace *trace, dbf_file *file,
                               pf_error *error) {
  const pf_bytes bytes = trace->sources[0].bytes;
  const pf_status status = replace_sizes(trace, file, error);
  const uint64_t starts[] = {file->start, (uint64_t)file->descriptors_end + 1,
                             (uint64_t)file->descriptors_end + 1 +
                                 DBF_BACKLINK};
  const uint64_t records[] = {file->record, sum_of(file, false)};
  const bool agree = records[0] == records[1] ||
                     end_fits(file, bytes, file->start, file->record);
  if (status < 0 || dbf_header_count(file, bytes) == 0 ||
      (agree && flags_fit(file, bytes, file->start, file->record)))
    return status;
  for (size_t i = 0; i < 3; i++)
    for (size_t j = 0; j < 2; j++)
      if (records[j] > 0 && records[j] <= UINT32_MAX &&
          flags_fit(file, bytes, starts[i], records[j]) &&
          end_fits(file, bytes, starts[i], records[j]))
        return use_sizes(trace, file, starts[i], records[j], error);
  return PF_OK;
}


typedef struct type_rule {
  char type;
  uint8_t size; /* required size; 0: any */
  dbf_kind kind;
  pf_type column;
} type_rule;

/* The first line of a type with the right size applies. */
static const type_rule type_rules[] = {
    {'C', 0, DBF_TEXT, PF_BYTES},    {'V', 0, DBF_TEXT, PF_BYTES},
    {'Q', 0, DBF_BINARY, PF_BYTES},  {'N', 0, DBF_DIGITS, PF_INT},
    {'F', 0, DBF_DIGITS, PF_NUM},    {'L', 0, DBF_LOGICAL, PF_BOOL},
    {'D', 8, DBF_DATE, PF_BYTES},    {'I', 4, DBF_INTEGER, PF_INT},
    {'+', 4, DBF_SORTABLE, PF_INT},  {'B', 8, DBF_DOUBLE, PF_NUM},
    {'B', 0, DBF_MEMO, PF_BYTES},    {'O', 8, DBF_ORDERED, PF_NUM},
    {'Y', 8, DBF_CURRENCY, PF_NUM},  {'T', 8, DBF_TIME, PF_BYTES},
    {'@', 8, DBF_INSTANT, PF_BYTES}, {'M', 0, DBF_MEMO, PF_BYTES},
    {'G', 0, DBF_MEMO, PF_BYTES},    {'P', 0, DBF_MEMO, PF_BYTES},
    {'W', 0, DBF_MEMO, PF_BYTES},    {'0', 0, DBF_NULL_FLAGS, PF_BYTES},
};

#define TYPE_RULES (sizeof type_rules / sizeof type_rules[0])


static pf_status set_kind (pf_trace *trace, const dbf_file *file,
                           dbf_field *field, pf_error *error) {
  const type_rule *known = NULL;
  for (size_t i = 0; i < TYPE_RULES && known == NULL; i++)
    if (type_rules[i].type == field->type &&
        (type_rules[i].size == 0 || type_rules[i].size == field->stated))
      known = &type_rules[i];
  field->kind = known == NULL ? DBF_BINARY : known->kind;
  field->column = known == NULL ? PF_BYTES : known->column;
  if (field->kind == DBF_INTEGER && dbf_is_seven(file->version))
    field->kind = DBF_SORTABLE;
  if (field->kind == DBF_DIGITS && field->decimals > 0)
    field->column = PF_NUM;
  if (known != NULL)
    return PF_OK;
  return pf_warn(trace, PF_NOTE, "dbf-field-type", PF_EUNSUPPORTED,
                 field->descriptor_at, error,
                 "no field of type 0x%02x has %u bytes: its bytes are shown",
                 (unsigned)(uint8_t)field->type, field->stated);
}


/* Returns the index of the next bit, or -1 if the flags are too short. */
static int32_t take_bit (const dbf_field *flags, uint32_t *bits) {
  const uint32_t bit = (*bits)++;
  return bit < 8 * flags->size ? (int32_t)bit : -1;
}


/* Assign bits in the order of the fields: a length bit for V and Q, a null bit
   for nullable fields. */
static pf_status number_bits (pf_trace *trace, dbf_file *file,
                              pf_error *error) {
  file->null_flags = file->nfields;
  for (size_t i = 0; i < file->nfields; i++)
    if (file->fields[i].kind == DBF_NULL_FLAGS)
      file->null_flags = i;
  if (file->null_flags == file->nfields)
    return PF_OK;
  const dbf_field *const flags = &file->fields[file->null_flags];
  uint32_t bits = 0;
  for (size_t i = 0; i < file->nfields; i++) {
    dbf_field *const field = &file->fields[i];
    if (field->type == 'V' || field->type == 'Q')
      field->length_bit = take_bit(flags, &bits);
    if (field->flags & DBF_NULLABLE)
      field->null_bit = take_bit(flags, &bits);
  }
  if (bits <= 8 * flags->size)
    return PF_OK;
  return pf_warn(
      trace, PF_DAMAGE, "dbf-null-flags", PF_EFORMAT, flags->descriptor_at,
      error, "%u null flags expected, the field has %u", bits, 8 * flags->size);
}


pf_status dbf_derive_fields (pf_trace *trace, dbf_file *file, pf_error *error) {
  /* Clipper and FoxPro 2 store the high byte of long text sizes in the byte of
     the decimals. That byte may also be garbage, so the size is extended only
     if the record size agrees. */
  const bool is_long =
      sum_of(file, false) != file->record && sum_of(file, true) == file->record;
  for (size_t i = 0; is_long && i < file->nfields; i++) {
    dbf_field *const field = &file->fields[i];
    if (field->type != 'C')
      continue;
    field->size += (uint32_t)field->decimals << 8;
    field->stated = field->size;
    field->decimals = 0;
  }
  pf_status status = detect_sizes(trace, file, error);
  if (status == PF_OK)
    status = place_fields(trace, file, error);
  for (size_t i = 0; i < file->nfields && status == PF_OK; i++)
    status = set_kind(trace, file, &file->fields[i], error);
  return status == PF_OK ? number_bits(trace, file, error) : status;
}
