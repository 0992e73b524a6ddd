/*
** records.c - parses the records of a table.
**
** All records have one size, and each begins with a blank or an asterisk. This
** detects lost bytes (a packet that was copied as text ends at its first 0x1A)
** and finds the records after them. A record is valid only if another record,
** an end mark or the end of the file follows it. items.c calls it for files that
** are not text, before the end of their bytes (contract: items.h). It allocates
** nothing, borrows the bytes and the file, and advances the parser; items are
** offsets.
*/

#include "formats/xpp/parser/items.h"

#define DELETED     0x2A /* the flag of a deleted record */
#define END_MARK    0x1A
#define MIN_CHAIN   4  /* consecutive records that do not occur by chance */
#define MAX_INVALID 16 /* invalid records before such a chain, at most */


/* Returns true if a record can end before `at`. */
static bool is_border (pf_bytes bytes, uint64_t at) {
  return at == bytes.size || dbf_is_flag(bytes.at[at]) ||
         bytes.at[at] == END_MARK;
}


/* Returns true if `at` may be the start of a record, judged by its first byte
   and the byte after it. */
static bool may_be_record (const xpp_file *file, pf_bytes bytes, uint64_t at) {
  const uint64_t record = file->dbf->record;
  return record <= bytes.size && at <= bytes.size - record &&
         dbf_is_flag(bytes.at[at]) && is_border(bytes, at + record);
}


/* True for the operations i, I, O and o. A table, because operations alternate
   at random and a comparison would be mispredicted. */
static const bool is_op[256] = {
    ['i'] = true, ['I'] = true, ['O'] = true, ['o'] = true};


/* Returns true if the record at `at`, which is complete, has a valid operation,
   or if its offset is not known. */
static bool has_op (const xpp_file *file, pf_bytes bytes, uint64_t at) {
  return file->op_offset == 0 || is_op[bytes.at[at + file->op_offset]];
}


/* Returns true if a record starts at `at`. The operation is checked, too: texts
   are padded with blanks, so the first byte alone would match anywhere. */
static bool is_record (const xpp_file *file, pf_bytes bytes, uint64_t at) {
  return may_be_record(file, bytes, at) && has_op(file, bytes, at);
}


/* Returns true if MIN_CHAIN records follow each other from `at` on, or at least
   one up to the end. */
static bool is_chain (const xpp_file *file, pf_bytes bytes, uint64_t at) {
  unsigned found = 0;
  while (found < MIN_CHAIN && is_record(file, bytes, at)) {
    at += file->dbf->record;
    found++;
  }
  return found == MIN_CHAIN ||
         (found > 0 && (at == bytes.size || bytes.at[at] == END_MARK));
}


/* The first position in [at, end) at which a chain of records starts, or
   `end`. */
static uint64_t find_chain (const xpp_file *file, pf_bytes bytes, uint64_t at,
                            uint64_t end) {
  while (at < end && !(dbf_is_flag(bytes.at[at]) && is_chain(file, bytes, at)))
    at++;
  return at;
}


/* Counts the consecutive records that begin with `flag`, at most `max_rows`;
   the first one at `at` is known to be valid. The check of is_record for what
   follows a record is needed only for the last one, because a record follows
   each of the others. */
static size_t count_records (const xpp_file *file, pf_bytes bytes, uint64_t at,
                             uint8_t flag, size_t max_rows) {
  const size_t record = file->dbf->record, op_offset = file->op_offset;
  const uint64_t fitting = (bytes.size - at) / record;
  const uint8_t *next = bytes.at + at + record;
  size_t count = 1;
  if (max_rows > fitting)
    max_rows = (size_t)fitting;
  for (; count < max_rows && next[0] == flag; count++, next += record)
    if (op_offset > 0 && !is_op[next[op_offset]])
      break;
  if (count > 1 && !is_border(bytes, at + count * record))
    count--;
  return count;
}


/* Takes one record although it is not valid. Warns about its first byte; an
   invalid operation is reported by the reader of entries. */
static pf_status take_invalid (xpp_parser *parser, pf_bytes bytes,
                               xpp_item *item) {
  const uint8_t flag = bytes.at[parser->at];
  const pf_status status =
      dbf_is_flag(flag)
          ? PF_OK
          : xpp_parser_warn(parser, PF_DAMAGE, "xpp-delete-flag", PF_EFORMAT,
                            "0x20 or 0x2a expected where a record "
                            "begins, found 0x%02x",
                            flag);
  if (status != PF_OK)
    return status;
  return xpp_parser_take(parser, flag == DELETED ? XPP_DELETED : XPP_ENTRY,
                         parser->file->dbf->record, item);
}


/* Takes the bytes up to `next`, which contain no record, with a warning. */
static pf_status take_rest (xpp_parser *parser, pf_bytes bytes, uint64_t next,
                            xpp_item *item) {
  const bool is_last = next == bytes.size;
  pf_status status = xpp_parser_warn(
      parser, PF_DAMAGE, is_last ? "xpp-partial-row" : "xpp-lost-rows",
      is_last ? PF_ETRUNCATED : PF_EFORMAT,
      "a record of %u bytes expected, found %llu bytes that are not a record%s",
      (unsigned)parser->file->dbf->record,
      (unsigned long long)(next - parser->at),
      is_last ? "" : ": rows are lost");
  if (status != PF_OK)
    return status;
  status = xpp_parser_take(parser, XPP_REST, next - parser->at, item);
  parser->has_gap = true;
  return status;
}


/* Takes end marks, which stand at the end or between records, with a warning
   for bytes that follow. */
static pf_status take_end (xpp_parser *parser, pf_bytes bytes, xpp_item *item) {
  uint64_t next = parser->at;
  while (next < bytes.size && bytes.at[next] == END_MARK)
    next++;
  pf_status status = PF_OK;
  if (next < bytes.size) {
    const uint64_t found = find_chain(parser->file, bytes, next, bytes.size);
    if (found > next && found < bytes.size)
      return take_rest(parser, bytes, found, item);
    status = found == next
                 ? xpp_parser_warn(parser, PF_NOTE, "xpp-stray-end", PF_EFORMAT,
                                   "an end mark stands between records")
                 : xpp_parser_warn(parser, PF_NOTE, "xpp-trailing", PF_EFORMAT,
                                   "%llu bytes follow the end mark",
                                   (unsigned long long)(bytes.size - next));
    if (found > next)
      next = found;
  }
  return status != PF_OK
             ? status
             : xpp_parser_take(parser, XPP_END, next - parser->at, item);
}


/* Takes bytes that are not a valid record: as one invalid record of the right
   size if a chain of records starts after at most MAX_INVALID of them, or if its
   begin or its end is that of a record; else as damage up to the next chain. */
static pf_status take_unrecognized (xpp_parser *parser, pf_bytes bytes,
                                    xpp_item *item) {
  const xpp_file *const file = parser->file;
  const uint64_t at = parser->at, left = bytes.size - at;
  const uint64_t record = file->dbf->record;
  const uint64_t here = at + (left < record ? left : record);
  uint64_t next = at;
  for (unsigned i = 0; i < MAX_INVALID && record <= bytes.size - next &&
                       dbf_is_flag(bytes.at[next]);
       i++) {
    next += record;
    if (next == bytes.size || bytes.at[next] == END_MARK ||
        is_chain(file, bytes, next))
      return take_invalid(parser, bytes, item);
  }
  const uint64_t resumed = find_chain(file, bytes, at + 1, here);
  if (resumed < here)
    return take_rest(parser, bytes, resumed, item);
  if (left >= record &&
      (may_be_record(file, bytes, at) || is_record(file, bytes, here) ||
       (dbf_is_flag(bytes.at[at]) && has_op(file, bytes, at) &&
        (file->op_offset > 0 || left - record < record))))
    return take_invalid(parser, bytes, item);
  return take_rest(parser, bytes, find_chain(file, bytes, here, bytes.size),
                   item);
}


pf_status xpp_next_record (xpp_parser *parser, pf_bytes bytes, size_t max_rows,
                           xpp_item *item) {
  const xpp_file *const file = parser->file;
  const uint64_t left = bytes.size - parser->at;
  const uint8_t flag = bytes.at[parser->at];
  if (file->segments[parser->segment].source == 0 &&
      parser->at < file->dbf->start) {
    const uint64_t size = file->dbf->start - parser->at;
    return xpp_parser_take(parser, XPP_HEADER, size < left ? size : left, item);
  }
  if (flag == END_MARK)
    return take_end(parser, bytes, item);
  if (is_record(file, bytes, parser->at)) {
    const size_t count = count_records(file, bytes, parser->at, flag, max_rows);
    const pf_status status =
        xpp_parser_take(parser, flag == DELETED ? XPP_DELETED : XPP_ENTRY,
                        file->dbf->record, item);
    parser->at += (count - 1) * (uint64_t)file->dbf->record;
    item->count = count;
    return status;
  }
  if (file->is_live && left < file->dbf->record)
    return PF_AGAIN;
  return take_unrecognized(parser, bytes, item);
}
