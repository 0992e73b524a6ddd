/*
** detect_xpp.c - detection from the first bytes.
**
** A table is a trace if its fields have the names of one, or if the values can
** only be calls: one field of operations, and leaves that match enters of the
** same name. The first byte of a Visual FoxPro table (0x30 to 0x32) is also a
** digit; dbf_score therefore checks more than that byte. Called by open_xpp.c.
** Nothing is allocated.
*/

#include <string.h>

#include "bytes/cursor.h"
#include "formats/xpp/parser/items.h"
#include "model/dictionary/names.h"

#define FIELDS     64 /* maximum number of fields of a trace */
#define DESCRIPTOR 32

/* The header and the first records of a table. */
typedef struct head_table {
  pf_bytes head;
  uint32_t start, record;
  size_t nfields;
  uint32_t offsets[FIELDS];
  xpp_candidate fields[FIELDS];
} head_table;


static xpp_kind kind_of (uint8_t type) {
  if (memchr("NFIBY", type, 5) != NULL)
    return XPP_NUMBER;
  return type == 'C' || type == 'V' ? XPP_TEXT
         : type == 'M'              ? XPP_MEMO
                                    : XPP_OTHER;
}


/* Reads the field descriptors. Returns false if there are none or too many. */
static bool read_table (pf_bytes head, head_table *table) {
  *table = (head_table){.head = head};
  if (head.size < 2 * DESCRIPTOR)
    return false;
  table->start = pf_load16(head.at + 8, false);
  table->record = pf_load16(head.at + 10, false);
  uint32_t offset = 1;
  for (size_t at = DESCRIPTOR;
       at + DESCRIPTOR <= head.size && head.at[at] != 0x0D; at += DESCRIPTOR) {
    const uint8_t *const d = head.at + at;
    if (table->nfields == FIELDS)
      return false;
    table->offsets[table->nfields] = offset;
    table->fields[table->nfields++] = (xpp_candidate){
        .name = {d, strnlen((const char *)d, 11)},
        .kind = kind_of(d[11]),
        .width = d[16],
        .has_no_text = d[11] == 'L' || kind_of(d[11]) == XPP_NUMBER};
    offset += d[16];
  }
  while (table->start < head.size && head.at[table->start] == 0x1A)
    table->start++; /* end marks of packets that were concatenated */
  return table->nfields > 0 && table->record >= offset;
}


static pf_bytes value_of (const head_table *table, size_t row, size_t field) {
  return xpp_trim((pf_bytes){table->head.at + table->start +
                                 row * table->record + table->offsets[field],
                             table->fields[field].width});
}


static size_t records_of (const head_table *table) {
  if (table->record == 0 || table->head.size <= table->start)
    return 0;
  const size_t max = (table->head.size - table->start) / table->record;
  size_t count = 0;
  while (count < max && count < XPP_EXAMINED_ROWS &&
         memchr(" *", table->head.at[table->start + count * table->record],
                2) != NULL)
    count++;
  return count;
}


/* The stacks of calls of all threads, built from operations and names. */
typedef struct nesting {
  struct open_call {
    pf_bytes name, thread;
  } open[XPP_EXAMINED_ROWS]; /* calls that were entered and not left */
  size_t depth;              /* number of these calls */
  int matches; /* leaves that match the top of their thread, less other ones */
} nesting;


/* Processes an entry; `thread` is empty if there is no such field. Calls beyond
   the array are ignored. */
static void nest (nesting *n, pf_bytes op, pf_bytes name, pf_bytes thread) {
  if (op.size == 1 && (op.at[0] | 0x20) == 'i') {
    if (n->depth < XPP_EXAMINED_ROWS)
      n->open[n->depth++] = (struct open_call){name, thread};
    return;
  }
  size_t top = n->depth;
  while (top > 0 && pf_text_compare(n->open[top - 1].thread, thread) != 0)
    top--;
  if (top == 0)
    return;
  n->matches += pf_text_compare(n->open[top - 1].name, name) == 0 ? 1 : -1;
  memmove(&n->open[top - 1], &n->open[top], (n->depth - top) * sizeof *n->open);
  n->depth--;
}


int xpp_table_score (pf_bytes head, uint64_t size) {
  head_table table;
  xpp_roles roles = XPP_NO_ROLES;
  if (dbf_score(head, size) == 0 || !read_table(head, &table))
    return 0;
  const size_t count = records_of(&table);
  for (size_t row = 0; row < count; row++)
    for (size_t i = 0; i < table.nfields; i++)
      if (table.fields[i].kind == XPP_TEXT)
        xpp_stats_text(&table.fields[i].stats, value_of(&table, row, i));
  xpp_map_roles(table.fields, table.nfields, &roles);
  if (!xpp_is_mapped(&roles))
    return 0;
  const int sure =
      xpp_roles_score(&roles, &table.fields[roles.field[XPP_OP]].stats);
  if (!roles.is_guessed || sure == 0)
    return sure > 0 && sure < 92 ? 92 : sure; /* it is a table in any case */
  const size_t thread = roles.field[XPP_THREAD];
  nesting n = {.depth = 0};
  for (size_t row = 0; row < count; row++)
    nest(&n, value_of(&table, row, roles.field[XPP_OP]),
         value_of(&table, row, roles.field[XPP_CALL]),
         thread == XPP_NO_FIELD ? (pf_bytes){NULL, 0}
                                : value_of(&table, row, thread));
  return n.matches > 1 ? 93 : 0;
}


/* The first rows of a text. */
typedef struct head_text {
  pf_bytes head;
  bool is_complete; /* the head is the whole file, so the last row is not cut */
  uint8_t separator;
  size_t columns;
  size_t rows;       /* with as many cells, without a row of names */
  size_t mismatches; /* with another number of cells */
  xpp_candidate fields[FIELDS];
} head_text;


/* Scans the next row that is not blank and advances *at. Returns false at the
   end. A row that is cut is left out. */
static bool next_row (const head_text *text, xpp_scanner *scanner, uint64_t *at,
                      xpp_cell *cells, xpp_row *row) {
  while (*at < text->head.size) {
    *row = xpp_scan_row(scanner, text->head, *at, cells, text->columns);
    *at = row->end;
    const bool is_blank = row->cells == 1 && (cells[0].text.size == 0 ||
                                              cells[0].text.at[0] == 0x1A);
    if (!is_blank)
      return row->has_end || (text->is_complete &&
                              row->cells == text->columns && !row->is_unclosed);
  }
  return false;
}


/* Computes the statistics of all columns; a row of names sets the names. */
static void inspect_text (head_text *text) {
  xpp_scanner scanner = {text->separator, UINT64_MAX};
  xpp_cell cells[FIELDS];
  xpp_row row;
  bool has_names = false;
  for (uint64_t at = 0; next_row(text, &scanner, &at, cells, &row);) {
    if (row.cells != text->columns) {
      text->mismatches++;
      continue;
    }
    const bool are_names =
        text->rows == 0 && !has_names && xpp_are_names(cells, text->columns);
    for (size_t i = 0; i < text->columns; i++)
      if (are_names)
        text->fields[i].name = xpp_trim(cells[i].text);
      else
        xpp_stats_text(&text->fields[i].stats, cells[i].text);
    has_names |= are_names;
    text->rows += !are_names;
  }
}


/* The statistics of the column of a role if it has an integer of 0 or more in
   each row, else NULL. */
static const xpp_stats *numbers_of (const head_text *text,
                                    const xpp_roles *roles, xpp_role role) {
  if (roles->field[role] == XPP_NO_FIELD)
    return NULL;
  const xpp_stats *const stats = &text->fields[roles->field[role]].stats;
  return stats->numbers == text->rows && stats->numbers > 0 && stats->min >= 0
             ? stats
             : NULL;
}


/* Decides whether columns that were found by their values are a trace: there is
   a time or a thread, every row has the same form, and calls are left as they
   were entered. A time never decreases and is not just the number of the row; a
   thread has the same number in several rows. Without a matching pair both are
   required, because any table may have a column of I and O. */
static bool is_guess_sound (const head_text *text, const xpp_roles *roles) {
  const size_t op = roles->field[XPP_OP], call = roles->field[XPP_CALL],
               of_thread = roles->field[XPP_THREAD];
  const xpp_stats *const time = numbers_of(text, roles, XPP_TIME);
  const xpp_stats *const thread = numbers_of(text, roles, XPP_THREAD);
  const bool has_time =
      time != NULL && !time->decreases &&
      (text->rows == 1 || (uint64_t)(time->max - time->min) + 1 != text->rows);
  const bool has_thread =
      thread != NULL && (uint64_t)(thread->max - thread->min) <= text->rows / 2;
  const int clocks = has_time + has_thread;
  if (clocks == 0 || text->mismatches > 0 ||
      text->fields[op].stats.ops != text->rows)
    return false;
  xpp_scanner scanner = {text->separator, UINT64_MAX};
  xpp_cell cells[FIELDS];
  xpp_row row;
  nesting n = {.depth = 0};
  for (uint64_t at = 0; next_row(text, &scanner, &at, cells, &row);)
    if (row.cells == text->columns)
      nest(&n, xpp_trim(cells[op].text), xpp_trim(cells[call].text),
           of_thread == XPP_NO_FIELD ? (pf_bytes){NULL, 0}
                                     : xpp_trim(cells[of_thread].text));
  return n.matches > 0 || (n.matches == 0 && clocks == 2);
}


bool xpp_is_text (pf_bytes head) {
  for (size_t i = 0; i < head.size; i++)
    if (head.at[i] < ' ' && memchr("\t\r\n\x1A\f", head.at[i], 5) == NULL)
      return false;
  return true;
}


int xpp_text_score (pf_bytes head, uint64_t size) {
  head_text text = {.head = head, .is_complete = head.size == size};
  xpp_roles roles = XPP_NO_ROLES;
  text.separator =
      xpp_detect_separator(head, text.is_complete, 0, &text.columns);
  if (text.separator == 0 || text.columns > FIELDS)
    return 0;
  inspect_text(&text);
  xpp_map_roles(text.fields, text.columns, &roles);
  if (!xpp_is_mapped(&roles) ||
      (roles.is_guessed && !is_guess_sound(&text, &roles)))
    return 0;
  const int sure =
      xpp_roles_score(&roles, &text.fields[roles.field[XPP_OP]].stats);
  return text.rows < 2 && sure > 60 ? 60 : sure;
}
