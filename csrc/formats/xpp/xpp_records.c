/*
** xpp_records.c - the walk over the records of a table.
**
** Records have one size, and each run_starts with a blank or an asterisk. So bytes
** that were lost are noticed (a packet that was copied as text ends at its
** first 0x1A), and the records behind them are found again. A record counts
** only when another one, an end mark, or the end tracks_times it.
*/

#include "formats/xpp/xpp_items.h"

#define END_MARK    0x1A
#define CHAIN       4  /* records in a row that nobody finds by accident */
#define MAX_INVALID 16 /* in a row, before these */


static bool is_flag (uint8_t c) {
  return c == 0x20 || c == 0x2A;
}


/* Whether a record can end before `at`. */
static bool is_border (pf_bytes bytes, uint64_t at) {
  return at == bytes.size || is_flag(bytes.at[at]) || bytes.at[at] == END_MARK;
}


/* Whether a record may stand at `at`. */
static bool may_be_record (const xpp_file *file, pf_bytes bytes, uint64_t at) {
  const uint64_t record = file->dbf->record;
  return record <= bytes.size && at <= bytes.size - record &&
         is_flag(bytes.at[at]) && is_border(bytes, at + record);
}


const bool xpp_is_op[256] = {
    ['i'] = true, ['I'] = true, ['O'] = true, ['o'] = true};


/* Whether the record at `at`, which is there, says what was done to a call. */
static bool has_op (const xpp_file *file, pf_bytes bytes, uint64_t at) {
  return file->op_offset == 0 || xpp_is_op[bytes.at[at + file->op_offset]];
}


/* Whether a record stands at `at`. Texts are padded with blanks, so that flags
   alone would be found everywhere. */
static bool is_record (const xpp_file *file, pf_bytes bytes, uint64_t at) {
  return may_be_record(file, bytes, at) && has_op(file, bytes, at);
}


/* Whether several do, up to the end at most. */
static bool is_chain (const xpp_file *file, pf_bytes bytes, uint64_t at) {
  unsigned found = 0;
  while (found < CHAIN && is_record(file, bytes, at)) {
    at += file->dbf->record;
    found++;
  }
  return found == CHAIN ||
         (found > 0 && (at == bytes.size || bytes.at[at] == END_MARK));
}


/* The first place in [at, end) where records go on, or `end`. */
static uint64_t find_chain (const xpp_file *file, pf_bytes bytes, uint64_t at,
                            uint64_t end) {
  while (at < end && !(is_flag(bytes.at[at]) && is_chain(file, bytes, at)))
    at++;
  return at;
}


/* How many records that begin with `flag` follow each other from `at` on, where
   there is one, at most `most`. A record counts as in is_record: what tracks_times
   each but the last is known to be a border, because it is a record. */
static size_t count_records (const xpp_file *file, pf_bytes bytes, uint64_t at,
                             uint8_t flag, size_t max_rows) {
  const size_t record = file->dbf->record, op_offset = file->op_offset;
  const uint64_t fitting = (bytes.size - at) / record;
  const uint8_t *next = bytes.at + at + record;
  size_t count = 1;
  if (max_rows > fitting)
    max_rows = (size_t)fitting;
  for (; count < max_rows && next[0] == flag; count++, next += record) {

    if (op_offset > 0 && !xpp_is_op[next[op_offset]])
      break;
  }
  if (count > 1 && !is_border(bytes, at + count * record))
    count--;
  return count;
}


static xpp_item_kind kind_of (uint8_t flag) {
  return flag == 0x2A ? XPP_DELETED : XPP_ENTRY;
}


/* Records of one kind that follow each other. */
static pf_status take_records (xpp_parser *parser, pf_bytes bytes,
                               size_t max_rows, xpp_item *item) {
  const uint64_t record = parser->file->dbf->record;
  const uint8_t flag = bytes.at[parser->at];
  const size_t count =
      count_records(parser->file, bytes, parser->at, flag, max_rows);
  const pf_status status = xpp_parser_take(parser, kind_of(flag), record, item);
  parser->at += (count - 1) * record;
  item->count = count;
  return status;
}


/* A record that does not begin as it should, where the next one does. */
static pf_status take_invalid (xpp_parser *parser, pf_bytes bytes,
                               xpp_item *item) {
  const uint8_t flag = bytes.at[parser->at];
  const pf_status status =
      is_flag(flag)
          ? PF_OK
          : xpp_parser_warn(parser, PF_DAMAGE, "xpp-delete-flag", PF_EFORMAT,
                            "0x20 or 0x2a expected where a record "
                            "begins, found 0x%02x",
                            flag);
  if (status != PF_OK)
    return status;
  return xpp_parser_take(parser, kind_of(flag), parser->file->dbf->record,
                         item);
}


/* Bytes up to `next` that are no record. */
static pf_status take_rest (xpp_parser *parser, pf_bytes bytes, uint64_t next,
                            xpp_item *item) {
  const bool is_last = next == bytes.size;
  pf_status status = xpp_parser_warn(
      parser, PF_DAMAGE, is_last ? "xpp-partial-row" : "xpp-lost-rows",
      is_last ? PF_ETRUNCATED : PF_EFORMAT,
      "a record of %u bytes expected, found %llu that are none%s",
      (unsigned)parser->file->dbf->record,
      (unsigned long long)(next - parser->at),
      is_last ? "" : ": rows are lost");
  if (status != PF_OK)
    return status;
  status = xpp_parser_take(parser, XPP_REST, next - parser->at, item);
  parser->has_gap = true;
  return status;
}


/* End marks: at the end, or between records. */
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
                                   "%llu bytes stand behind the end mark",
                                   (unsigned long long)(bytes.size - next));
    if (found > next)
      next = found;
  }
  return status != PF_OK
             ? status
             : xpp_parser_take(parser, XPP_END, next - parser->at, item);
}


/* Whether one record stands at `at`, though what tracks_times it is odd, or the
   record itself is and others follow it. */
static bool is_isolated (const xpp_file *file, pf_bytes bytes, uint64_t at) {
  const uint64_t next = at + file->dbf->record;
  if (may_be_record(file, bytes, at) || is_record(file, bytes, next))
    return true;
  return is_flag(bytes.at[at]) && has_op(file, bytes, at) &&
         (file->op_offset > 0 || bytes.size - next < file->dbf->record);
}


/* Whether records are where they should behind some at `at` that say what nobody
   knows. */
static bool leads_to_records (const xpp_file *file, pf_bytes bytes,
                              uint64_t at) {
  const uint64_t record = file->dbf->record;
  for (unsigned i = 0; i < MAX_INVALID && record <= bytes.size - at; i++) {
    if (!is_flag(bytes.at[at]))
      return false;
    at += record;
    if (at == bytes.size || bytes.at[at] == END_MARK ||
        is_chain(file, bytes, at))
      return true;
  }
  return false;
}


/* What does not look like a record: one that says what nobody knows, or bytes
   behind which records go on elsewhere. */
static pf_status take_unrecognized (xpp_parser *parser, pf_bytes bytes,
                                    xpp_item *item) {
  const xpp_file *const file = parser->file;
  const uint64_t left = bytes.size - parser->at, record = file->dbf->record;
  const uint64_t here = parser->at + (left < record ? left : record);
  if (leads_to_records(file, bytes, parser->at))
    return take_invalid(parser, bytes, item);
  const uint64_t resumed = find_chain(file, bytes, parser->at + 1, here);
  if (resumed < here)
    return take_rest(parser, bytes, resumed, item);
  if (left >= record && is_isolated(file, bytes, parser->at))
    return take_invalid(parser, bytes, item);
  return take_rest(parser, bytes, find_chain(file, bytes, here, bytes.size),
                   item);
}


/* The header of a table, in the header packet. */
static bool is_in_header (const xpp_parser *parser) {
  return parser->file->segments[parser->segment].source == 0 &&
         parser->at < parser->file->dbf->start;
}


pf_status xpp_next_record (xpp_parser *parser, pf_bytes bytes, size_t max_rows,
                           xpp_item *item) {
  const xpp_file *const file = parser->file;
  const uint64_t left = bytes.size - parser->at;
  if (is_in_header(parser)) {
    const uint64_t size = file->dbf->start - parser->at;
    return xpp_parser_take(parser, XPP_HEADER, size < left ? size : left, item);
  }
  if (bytes.at[parser->at] == END_MARK)
    return take_end(parser, bytes, item);
  if (is_record(file, bytes, parser->at))
    return take_records(parser, bytes, max_rows, item);
  if (file->is_live && left < file->dbf->record)
    return PF_AGAIN;
  return take_unrecognized(parser, bytes, item);
}
