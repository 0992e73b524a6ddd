/*
** records.c - the walk over the records of a table.
**
** Records have one size, and each begins with a blank or an asterisk. So bytes
** that were lost are noticed (a packet that was copied as text ends at its
** first 0x1A), and the records behind them are found again. A record counts
** only when another one, an end mark, or the end follows it.
*/

#include "formats/xpp/walk.h"

#define END_MARK 0x1A
#define CHAIN    4  /* records in a row that nobody finds by accident */
#define MOST_ODD 16 /* in a row, before these */


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


const bool xpp_is_letter[256] = {
    ['i'] = true, ['I'] = true, ['O'] = true, ['o'] = true};


/* Whether the record at `at`, which is there, says what was done to a call. */
static bool has_letter (const xpp_file *file, pf_bytes bytes, uint64_t at) {
  return file->op_at == 0 || xpp_is_letter[bytes.at[at + file->op_at]];
}


/* Whether a record stands at `at`. Texts are padded with blanks, so that flags
   alone would be found everywhere. */
static bool is_record (const xpp_file *file, pf_bytes bytes, uint64_t at) {
  return may_be_record(file, bytes, at) && has_letter(file, bytes, at);
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
   there is one, at most `most`. A record counts as in is_record: what follows
   each but the last is known to be a border, because it is a record. */
static size_t count_records (const xpp_file *file, pf_bytes bytes, uint64_t at,
                             uint8_t flag, size_t most) {
  const size_t record = file->dbf->record, op_at = file->op_at;
  const uint64_t room = (bytes.size - at) / record;
  const uint8_t *next = bytes.at + at + record;
  size_t count = 1;
  if (most > room)
    most = (size_t)room;
  for (; count < most && next[0] == flag; count++, next += record) {

    if (op_at > 0 && !xpp_is_letter[next[op_at]])
      break;
  }
  if (count > 1 && !is_border(bytes, at + count * record))
    count--;
  return count;
}


static xpp_piece_kind kind_of (uint8_t flag) {
  return flag == 0x2A ? XPP_DELETED : XPP_ENTRY;
}


/* Records of one kind that follow each other. */
static pf_status take_records (xpp_walk *walk, pf_bytes bytes, size_t most,
                               xpp_piece *piece) {
  const uint64_t record = walk->file->dbf->record;
  const uint8_t flag = bytes.at[walk->at];
  const size_t count = count_records(walk->file, bytes, walk->at, flag, most);
  const pf_status status = xpp_walk_take(walk, kind_of(flag), record, piece);
  walk->at += (count - 1) * record;
  piece->count = count;
  return status;
}


/* A record that does not begin as it should, where the next one does. */
static pf_status take_odd (xpp_walk *walk, pf_bytes bytes, xpp_piece *piece) {
  const uint8_t flag = bytes.at[walk->at];
  const pf_status status =
      is_flag(flag)
          ? PF_OK
          : xpp_walk_warn(walk, PF_DAMAGE, "xpp-delete-flag", PF_EFORMAT,
                          "0x20 or 0x2a expected where a record "
                          "begins, found 0x%02x",
                          flag);
  if (status != PF_OK)
    return status;
  return xpp_walk_take(walk, kind_of(flag), walk->file->dbf->record, piece);
}


/* Bytes up to `next` that are no record. */
static pf_status take_rest (xpp_walk *walk, pf_bytes bytes, uint64_t next,
                            xpp_piece *piece) {
  const bool is_last = next == bytes.size;
  pf_status status = xpp_walk_warn(
      walk, PF_DAMAGE, is_last ? "xpp-partial-row" : "xpp-lost-rows",
      is_last ? PF_ETRUNCATED : PF_EFORMAT,
      "a record of %u bytes expected, found %llu that are none%s",
      (unsigned)walk->file->dbf->record, (unsigned long long)(next - walk->at),
      is_last ? "" : ": rows are lost");
  if (status != PF_OK)
    return status;
  status = xpp_walk_take(walk, XPP_REST, next - walk->at, piece);
  walk->has_gap = true;
  return status;
}


/* End marks: at the end, or between records. */
static pf_status take_end (xpp_walk *walk, pf_bytes bytes, xpp_piece *piece) {
  uint64_t next = walk->at;
  while (next < bytes.size && bytes.at[next] == END_MARK)
    next++;
  pf_status status = PF_OK;
  if (next < bytes.size) {
    const uint64_t found = find_chain(walk->file, bytes, next, bytes.size);
    if (found > next && found < bytes.size)
      return take_rest(walk, bytes, found, piece);
    status = found == next
                 ? xpp_walk_warn(walk, PF_NOTE, "xpp-stray-end", PF_EFORMAT,
                                 "an end mark stands between records")
                 : xpp_walk_warn(walk, PF_NOTE, "xpp-trailing", PF_EFORMAT,
                                 "%llu bytes stand behind the end mark",
                                 (unsigned long long)(bytes.size - next));
    if (found > next)
      next = found;
  }
  return status != PF_OK ? status
                         : xpp_walk_take(walk, XPP_END, next - walk->at, piece);
}


/* Whether one record stands at `at`, though what follows it is odd, or the
   record itself is and others follow it. */
static bool is_lonely (const xpp_file *file, pf_bytes bytes, uint64_t at) {
  const uint64_t next = at + file->dbf->record;
  if (may_be_record(file, bytes, at) || is_record(file, bytes, next))
    return true;
  return is_flag(bytes.at[at]) && has_letter(file, bytes, at) &&
         (file->op_at > 0 || bytes.size - next < file->dbf->record);
}


/* Whether records are where they should behind some at `at` that say what nobody
   knows. */
static bool records_go_on (const xpp_file *file, pf_bytes bytes, uint64_t at) {
  const uint64_t record = file->dbf->record;
  for (unsigned i = 0; i < MOST_ODD && record <= bytes.size - at; i++) {
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
static pf_status take_unlike (xpp_walk *walk, pf_bytes bytes,
                              xpp_piece *piece) {
  const xpp_file *const file = walk->file;
  const uint64_t left = bytes.size - walk->at, record = file->dbf->record;
  const uint64_t here = walk->at + (left < record ? left : record);
  if (records_go_on(file, bytes, walk->at))
    return take_odd(walk, bytes, piece);
  const uint64_t near = find_chain(file, bytes, walk->at + 1, here);
  if (near < here)
    return take_rest(walk, bytes, near, piece);
  if (left >= record && is_lonely(file, bytes, walk->at))
    return take_odd(walk, bytes, piece);
  return take_rest(walk, bytes, find_chain(file, bytes, here, bytes.size),
                   piece);
}


/* The header of a table, in the header packet. */
static bool is_in_header (const xpp_walk *walk) {
  return walk->file->segments[walk->segment].source == 0 &&
         walk->at < walk->file->dbf->start;
}


pf_status xpp_next_record (xpp_walk *walk, pf_bytes bytes, size_t most,
                           xpp_piece *piece) {
  const xpp_file *const file = walk->file;
  const uint64_t left = bytes.size - walk->at;
  if (is_in_header(walk)) {
    const uint64_t size = file->dbf->start - walk->at;
    return xpp_walk_take(walk, XPP_HEADER, size < left ? size : left, piece);
  }
  if (bytes.at[walk->at] == END_MARK)
    return take_end(walk, bytes, piece);
  if (is_record(file, bytes, walk->at))
    return take_records(walk, bytes, most, piece);
  if (file->is_live && left < file->dbf->record)
    return PF_AGAIN;
  return take_unlike(walk, bytes, piece);
}
