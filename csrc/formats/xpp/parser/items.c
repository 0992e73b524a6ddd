/*
** items.c - the parser: the sequence of segments, the rows of text, and the
** records of tables.
**
** All records have one size, and each begins with a blank or an asterisk. This
** detects lost bytes (a packet that was copied as text ends at its first 0x1A)
** and finds the records after them. A record is valid only if another record,
** an end mark or the end of the file follows it, and if it has a valid
** operation, provided that the offset of the operation is known.
*/

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/xpp/parser/items.h"
#include "model/base/memory.h"

#define FEWEST_DIGITS 6    /* of a packet number */
#define DELETED       0x2A /* the flag of a deleted record */
#define END_MARK      0x1A
#define MIN_CHAIN     4  /* consecutive records that do not occur by chance */
#define MAX_INVALID   16 /* invalid records before such a chain, at most */

const char *const xpp_item_names[XPP_ITEM_KINDS] = {
    [XPP_HEADER] = "header", [XPP_ENTRY] = "entry", [XPP_DELETED] = "deleted",
    [XPP_BLANK] = "blank",   [XPP_END] = "end",     [XPP_REST] = "rest"};


/* Adds a warning at the position of the parser. Returns what pf_warn returns.
   Packets are files of their own, so messages give their number. */
PF_PRINTF(5, 6)
static pf_status warn_here (xpp_parser *parser, pf_note_kind kind,
                            const char *code, pf_status status,
                            const char *format, ...) {
  const xpp_segment *const segment = &parser->file->segments[parser->segment];
  char message[180], prefix[40] = "";
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  if (segment->source > 0)
    (void)snprintf(prefix, sizeof prefix,
                   "packet %06llu: ", (unsigned long long)segment->number);
  return pf_warn(parser->trace, kind, code, status, parser->at, parser->error,
                 "%s%s", prefix, message);
}


/* Returns true if the current segment may grow: a live trace appends to its
   last file only. */
static bool may_grow (const xpp_parser *parser) {
  return parser->file->is_live &&
         parser->segment + 1 == parser->file->nsegments;
}


/* Makes the next `size` bytes an item and advances the parser. Returns
   PF_MORE. */
static pf_status take_item (xpp_parser *parser, xpp_item_kind kind,
                            uint64_t size, xpp_item *item) {
  *item = (xpp_item){.kind = kind,
                     .source = parser->file->segments[parser->segment].source,
                     .offset = parser->at,
                     .size = size,
                     .count = 1,
                     .has_gap = parser->has_gap};
  parser->at += size;
  if (kind != XPP_ENTRY)
    return PF_MORE;
  parser->has_gap = false;
  parser->has_rows = true;
  return PF_MORE;
}


bool xpp_are_names (const xpp_cell *cells, size_t count) {
  bool has[XPP_ROLES] = {false};
  for (size_t i = 0; i < count; i++) {
    const xpp_role role = xpp_role_of(xpp_trim(cells[i].text), false);
    if (role != XPP_ROLES)
      has[role] = true;
  }
  return has[XPP_OP] && has[XPP_CALL];
}


/* Takes a row that has too few or too many cells. One that the end of the file
   cuts becomes an item of kind XPP_REST. */
static pf_status take_uneven_row (xpp_parser *parser, xpp_item *item) {
  const xpp_row *const row = &parser->row;
  const size_t expected = parser->file->nfields;
  const bool is_cut = !row->has_end && row->cells < expected;
  const pf_status status =
      warn_here(parser, PF_DAMAGE, is_cut ? "xpp-partial-row" : "xpp-columns",
                is_cut ? PF_ETRUNCATED : PF_EFORMAT,
                "a row of %zu fields expected, found %zu%s", expected,
                row->cells, is_cut ? " before the end of the file" : "");
  if (status != PF_OK)
    return status;
  (void)take_item(parser, is_cut ? XPP_REST : XPP_ENTRY, row->end - row->at,
                  item);
  parser->has_gap |= is_cut;
  return PF_MORE;
}


static pf_status next_row (xpp_parser *parser, pf_bytes bytes, xpp_item *item) {
  const xpp_file *const file = parser->file;
  parser->row = xpp_scan_row(&parser->scanner, bytes, parser->at, parser->cells,
                             file->nfields);
  const xpp_row *const row = &parser->row;
  const uint64_t size = row->end - row->at;
  const size_t cells = row->cells < file->nfields ? row->cells : file->nfields;
  if (!row->has_end && may_grow(parser)) {
    parser->scanner.unclosed = UINT64_MAX;
    return PF_AGAIN; /* incomplete until its line end is written */
  }
  if (row->cells == 1 && size > 0 && xpp_is_line_end(bytes.at[row->at]))
    return take_item(parser, XPP_BLANK, size, item);
  if (file->has_names && !parser->has_rows &&
      xpp_are_names(parser->cells, cells))
    return take_item(parser, XPP_HEADER, size, item);
  pf_status status = PF_OK;
  if (row->is_unclosed)
    status = warn_here(parser, PF_DAMAGE, "xpp-open-quote", PF_EFORMAT,
                       "a closing quote expected, found none: the "
                       "opening one is read as a character");
  else if (row->has_stray_quote)
    status = warn_here(parser, PF_NOTE, "xpp-odd-quote", PF_EFORMAT,
                       "a quote inside a text is not doubled");
  if (status != PF_OK)
    return status;
  if (row->cells != file->nfields)
    return take_uneven_row(parser, item);
  return take_item(parser, XPP_ENTRY, size, item);
}


/* Takes a row, or all adjacent end marks. End marks normally follow the rows;
   in packets that were concatenated they also stand between rows. At the end of
   a file that may grow, the next row may replace them. */
static pf_status next_of_text (xpp_parser *parser, pf_bytes bytes,
                               xpp_item *item) {
  if (bytes.at[parser->at] == END_MARK) {
    size_t size = 1;
    while (parser->at + size < bytes.size &&
           bytes.at[parser->at + size] == END_MARK)
      size++;
    if (parser->at + size == bytes.size && may_grow(parser))
      return PF_AGAIN;
    const pf_status status =
        parser->at + 1 == bytes.size
            ? PF_OK
            : warn_here(parser, PF_NOTE, "xpp-stray-end", PF_EFORMAT,
                        "an end mark stands between rows");
    return status != PF_OK ? status : take_item(parser, XPP_END, size, item);
  }
  if (bytes.at[bytes.size - 1] == END_MARK)
    bytes.size--;
  return next_row(parser, bytes, item);
}


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
   the first one at `at` is known to be valid. Only for the last one must
   is_record check what follows. */
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
          : warn_here(parser, PF_DAMAGE, "xpp-delete-flag", PF_EFORMAT,
                      "0x20 or 0x2a expected where a record "
                      "begins, found 0x%02x",
                      flag);
  if (status != PF_OK)
    return status;
  return take_item(parser, flag == DELETED ? XPP_DELETED : XPP_ENTRY,
                   parser->file->dbf->record, item);
}


/* Takes the bytes up to `next`, which contain no record, with a warning. */
static pf_status take_rest (xpp_parser *parser, pf_bytes bytes, uint64_t next,
                            xpp_item *item) {
  const bool is_last = next == bytes.size;
  pf_status status = warn_here(
      parser, PF_DAMAGE, is_last ? "xpp-partial-row" : "xpp-lost-rows",
      is_last ? PF_ETRUNCATED : PF_EFORMAT,
      "a record of %u bytes expected, found %llu bytes that are not a record%s",
      (unsigned)parser->file->dbf->record,
      (unsigned long long)(next - parser->at),
      is_last ? "" : ": rows are lost");
  if (status != PF_OK)
    return status;
  status = take_item(parser, XPP_REST, next - parser->at, item);
  parser->has_gap = true;
  return status;
}


/* Takes end marks, which stand at the end or between records, with a warning
   for bytes that follow. At the end of a file that may grow, the next record
   may replace them or follow them. */
static pf_status take_end (xpp_parser *parser, pf_bytes bytes, xpp_item *item) {
  uint64_t next = parser->at;
  while (next < bytes.size && bytes.at[next] == END_MARK)
    next++;
  pf_status status = PF_OK;
  if (bytes.size - next < parser->file->dbf->record && may_grow(parser))
    return PF_AGAIN;
  if (next < bytes.size) {
    const uint64_t found = find_chain(parser->file, bytes, next, bytes.size);
    if (found > next && found < bytes.size)
      return take_rest(parser, bytes, found, item);
    status = found == next
                 ? warn_here(parser, PF_NOTE, "xpp-stray-end", PF_EFORMAT,
                             "an end mark stands between records")
                 : warn_here(parser, PF_NOTE, "xpp-trailing", PF_EFORMAT,
                             "%llu bytes follow the end mark",
                             (unsigned long long)(bytes.size - next));
    if (found > next)
      next = found;
  }
  return status != PF_OK ? status
                         : take_item(parser, XPP_END, next - parser->at, item);
}


/* Takes bytes that are not a valid record: as one invalid record of the right
   size if a chain of records starts after at most MAX_INVALID of them, or if
   its begin or its end is that of a record; else as damage up to the next
   chain. */
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


/* Parses the next item of a table; `bytes` are those of its segment. */
static pf_status next_record (xpp_parser *parser, pf_bytes bytes,
                              size_t max_rows, xpp_item *item) {
  const xpp_file *const file = parser->file;
  const uint64_t left = bytes.size - parser->at;
  const uint8_t flag = bytes.at[parser->at];
  if (file->segments[parser->segment].source == 0 &&
      parser->at < file->dbf->start) {
    const uint64_t size = file->dbf->start - parser->at;
    return take_item(parser, XPP_HEADER, size < left ? size : left, item);
  }
  if (flag == END_MARK)
    return take_end(parser, bytes, item);
  if (is_record(file, bytes, parser->at)) {
    const size_t count = count_records(file, bytes, parser->at, flag, max_rows);
    const pf_status status =
        take_item(parser, flag == DELETED ? XPP_DELETED : XPP_ENTRY,
                  file->dbf->record, item);
    parser->at += (count - 1) * (uint64_t)file->dbf->record;
    item->count = count;
    return status;
  }
  if (left < file->dbf->record && may_grow(parser))
    return PF_AGAIN;
  return take_unrecognized(parser, bytes, item);
}


/* The packet number at the end of a path; 0: none, as in the main file. */
static uint64_t number_of (const char *path) {
  const size_t size = strlen(path);
  size_t first = size;
  int64_t number = 0;
  while (first > 0 && path[first - 1] >= '0' && path[first - 1] <= '9')
    first--;
  if (first == 0 || path[first - 1] != '.' || size - first < FEWEST_DIGITS)
    return 0;
  (void)xpp_parse_integer(
      (pf_bytes){(const uint8_t *)path + first, size - first}, &number);
  return (uint64_t)number;
}


/* Returns true if the main file was rebuilt from its packets up to this one:
   its rows are those of the packets before and then those of this one. */
static bool is_in_main (const pf_trace *trace, xpp_file *file, pf_bytes packet,
                        uint64_t number) {
  const pf_bytes bytes = trace->sources[0].bytes;
  const uint64_t start = file->is_text ? 0 : file->dbf->start;
  const uint64_t at = start + file->repeated;
  if (packet.size == 0 || bytes.size < at || packet.size > bytes.size - at ||
      memcmp(bytes.at + at, packet.at, packet.size) != 0)
    return false;
  file->repeated += packet.size;
  file->last_repeated = number;
  return true;
}


/* Adds a segment, unless it repeats rows: its number is not higher than that
   of the last one, its content is the same, or it is part of the main file. */
static pf_status add_segment (pf_trace *trace, xpp_file *file, size_t source,
                              pf_error *error) {
  const pf_source *const from = &trace->sources[source];
  xpp_segment next = {source, number_of(from->path), false};
  if (!pf_grow(&file->segments, &file->segments_capacity, file->nsegments + 1))
    return pf_no_memory(error);
  if (file->nsegments > 0) {
    const xpp_segment *const last = &file->segments[file->nsegments - 1];
    const pf_bytes bytes = trace->sources[last->source].bytes;
    const bool is_repeated =
        last->source == 0
            ? is_in_main(trace, file, from->bytes, next.number)
            : next.number <= last->number ||
                  (bytes.size > 0 && bytes.size == from->bytes.size &&
                   memcmp(bytes.at, from->bytes.at, bytes.size) == 0);
    if (is_repeated)
      return pf_warn(
          trace, PF_DAMAGE, "xpp-packet-double", PF_EFORMAT, PF_NO_OFFSET,
          error, "%.120s: the packet repeats rows and is left out", from->path);
    const uint64_t expected =
        1 + (last->number > file->last_repeated ? last->number
                                                : file->last_repeated);
    next.has_gap = next.number != expected;
    const pf_status status = !next.has_gap
                                 ? PF_OK
                                 : pf_warn(trace, PF_DAMAGE, "xpp-packet-gap",
                                           PF_EFORMAT, PF_NO_OFFSET, error,
                                           "packet %06llu expected, found "
                                           "%06llu: the rows between are lost",
                                           (unsigned long long)expected,
                                           (unsigned long long)next.number);
    if (status != PF_OK)
      return status;
  }
  file->segments[file->nsegments++] = next;
  return PF_OK;
}


pf_status xpp_find_segments (pf_trace *trace, xpp_file *file, pf_error *error) {
  pf_status status = PF_OK;
  for (; file->nsources < trace->nsources && status == PF_OK;
       file->nsources++) {
    const pf_source *const from = &trace->sources[file->nsources];
    if (file->nsources == 0 || strcmp(from->role, "packet") == 0)
      status = add_segment(trace, file, file->nsources, error);
  }
  return status;
}


pf_status xpp_parser_next (xpp_parser *parser, size_t max_rows, xpp_item *item,
                           pf_error *error) {
  xpp_file *const file = parser->file;
  parser->error = error;
  for (;;) {
    const xpp_segment *const segment = &file->segments[parser->segment];
    const pf_bytes bytes = xpp_source(parser, segment->source);
    if (!parser->is_begun) {
      parser->is_begun = true;
      parser->has_rows = false;
      parser->has_gap |= segment->has_gap;
      parser->scanner = (xpp_scanner){file->separator, UINT64_MAX};
    }
    pf_status status = PF_AGAIN;
    if (parser->at < bytes.size)
      status = file->is_text ? next_of_text(parser, bytes, item)
                             : next_record(parser, bytes, max_rows, item);
    if (status == PF_AGAIN && file->is_live) {
      status = xpp_find_segments(parser->trace, file, error) == PF_OK
                   ? PF_AGAIN
                   : error->status;
      if (status == PF_AGAIN && parser->at < bytes.size && !may_grow(parser))
        continue; /* another packet follows: this one is complete */
    }
    if (status != PF_AGAIN)
      return status;
    if (parser->segment + 1 >= file->nsegments)
      return file->is_live ? PF_AGAIN : PF_END;
    parser->segment++;
    parser->at = 0;
    parser->is_begun = false;
  }
}


pf_status xpp_parser_open (xpp_parser *parser, pf_trace *trace) {
  xpp_file *const file = trace->state;
  *parser = (xpp_parser){.trace = trace, .file = file};
  parser->cells = calloc(file->nfields + 1, sizeof *parser->cells);
  return parser->cells == NULL ? PF_ENOMEM : PF_OK;
}


void xpp_parser_close (xpp_parser *parser) {
  free(parser->cells);
}
