/*
** detect.c - how sure we are, from the first bytes.
**
** A table is a trace when its fields are called so, or when what they say
** could only be calls: one field of letters, of which each leave matches an
** enter of the same name. 0x30, 0x31 and 0x32, which begin a table of Visual
** FoxPro, are digits too: dbf_score looks at more than them.
*/

#include <string.h>

#include "bytes/cursor.h"
#include "formats/xpp/fields.h"
#include "formats/xpp/walk.h"

#define ROWS_LOOKED_AT 64
#define FIELDS         64 /* of a trace, at most, to know it by its first bytes */
#define DESCRIPTOR     32

/* What the first bytes of a table say. */
typedef struct head_table {
  pf_bytes head;
  uint32_t start, record;
  size_t nfields;
  uint32_t offsets[FIELDS];
  xpp_candidate fields[FIELDS];
} head_table;


/* {====== Tables ====== */

static pf_bytes name_at (const uint8_t *descriptor) {
  const uint8_t *const end = memchr(descriptor, 0, 11);
  return (pf_bytes){descriptor, end == NULL ? 11 : (size_t)(end - descriptor)};
}


static xpp_kind kind_of (uint8_t type) {
  switch (type) {
    case 'C':
    case 'V': return XPP_TEXT;
    case 'N':
    case 'F':
    case 'I':
    case 'B':
    case 'Y': return XPP_NUMBER;
    case 'M': return XPP_MEMO;
    default: return XPP_OTHER;
  }
}


/* The fields of a table with the usual descriptors; false when there are none
   or too many. */
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
        .name = name_at(d), .kind = kind_of(d[11]), .width = d[16]};
    offset += d[16];
  }
  while (table->start < head.size && head.at[table->start] == 0x1A)
    table->start++; /* packets that were copied together */
  return table->nfields > 0 && table->record >= offset;
}


/* The value of a field in a record that is there. */
static pf_bytes value_of (const head_table *table, const uint8_t *record,
                          size_t field) {
  return xpp_trim(
      (pf_bytes){record + table->offsets[field], table->fields[field].width});
}


/* How many of the first records are there, up to where something else is. */
static size_t records_of (const head_table *table) {
  if (table->record == 0 || table->head.size <= table->start)
    return 0;
  const size_t most = (table->head.size - table->start) / table->record;
  size_t count = 0;
  while (count < most && count < ROWS_LOOKED_AT &&
         memchr(" *", table->head.at[table->start + count * table->record],
                2) != NULL)
    count++;
  return count;
}


static void look_at_records (head_table *table) {
  const size_t count = records_of(table);
  for (size_t row = 0; row < count; row++) {
    const uint8_t *const record =
        table->head.at + table->start + row * table->record;
    for (size_t i = 0; i < table->nfields; i++)
      if (table->fields[i].kind == XPP_TEXT)
        xpp_shape_text(&table->fields[i].shape, value_of(table, record, i));
  }
}


/* How many leaves end the call that was entered last of those that are open,
   less those that do not. */
static int nesting_of (const head_table *table, size_t op, size_t call) {
  pf_bytes open[ROWS_LOOKED_AT];
  const size_t count = records_of(table);
  size_t depth = 0;
  int matches = 0;
  for (size_t row = 0; row < count; row++) {
    const uint8_t *const record =
        table->head.at + table->start + row * table->record;
    const pf_bytes letter = value_of(table, record, op);
    const pf_bytes name = value_of(table, record, call);
    if (letter.size == 1 && (letter.at[0] | 0x20) == 'i')
      open[depth++] = name;
    else if (depth > 0) {
      depth--;
      matches += open[depth].size == name.size &&
                         memcmp(open[depth].at, name.at, name.size) == 0
                     ? 1
                     : -1;
    }
  }
  return matches;
}


int xpp_table_score (pf_bytes head, uint64_t size) {
  static const xpp_hints none = {false, false, false};
  head_table table;
  xpp_roles roles;
  if (dbf_score(head, size) == 0 || !read_table(head, &table))
    return 0;
  look_at_records(&table);
  for (size_t i = 0; i < XPP_ROLES; i++)
    roles.field[i] = XPP_NO_FIELD;
  roles.is_guessed = false;
  roles.doubled = XPP_NO_FIELD;
  xpp_map(table.fields, table.nfields, &none, &roles);
  if (!xpp_is_mapped(&roles))
    return 0;
  const int sure =
      xpp_roles_score(&roles, &table.fields[roles.field[XPP_OP]].shape);
  if (!roles.is_guessed || sure == 0)
    return sure > 0 && sure < 92 ? 92 : sure; /* a table is one in any case */
  return nesting_of(&table, roles.field[XPP_OP], roles.field[XPP_CALL]) > 1 ? 93
                                                                            : 0;
}

/* }====== */


/* {====== Text ====== */

/* Look at the first rows; how many there were. A row of names gives them. */
static size_t look_at_text (pf_bytes head, uint8_t separator, size_t columns,
                            xpp_candidate *fields) {
  xpp_scanner scanner = {separator, UINT64_MAX};
  xpp_cell cells[FIELDS];
  size_t rows = 0;
  for (uint64_t at = 0; at < head.size && rows < ROWS_LOOKED_AT;) {
    const xpp_row row = xpp_scan_row(&scanner, head, at, cells, columns);
    at = row.end;
    if (row.cells != columns)
      continue;
    const bool are_names = rows == 0 && xpp_are_names(cells, columns);
    for (size_t i = 0; i < columns; i++)
      if (are_names)
        fields[i].name = xpp_trim(cells[i].text);
      else
        xpp_shape_text(&fields[i].shape, cells[i].text);
    rows += !are_names;
  }
  return rows;
}


static bool is_plain_text (pf_bytes head) {
  for (size_t i = 0; i < head.size; i++)
    if (head.at[i] < ' ' && memchr("\t\r\n\x1A\f", head.at[i], 5) == NULL)
      return false;
  return head.size > 0;
}


int xpp_text_score (pf_bytes head, uint64_t size) {
  static const xpp_hints none = {false, false, false};
  xpp_candidate fields[FIELDS] = {{{0}, XPP_TEXT, 0, {0}}};
  xpp_roles roles = {.doubled = XPP_NO_FIELD};
  size_t columns;
  if (!is_plain_text(head))
    return 0;
  const uint8_t separator =
      xpp_find_separator(head, head.size == size, 0, &columns);
  if (separator == 0 || columns > FIELDS)
    return 0;
  const size_t rows = look_at_text(head, separator, columns, fields);
  for (size_t i = 0; i < XPP_ROLES; i++)
    roles.field[i] = XPP_NO_FIELD;
  xpp_map(fields, columns, &none, &roles);
  if (!xpp_is_mapped(&roles))
    return 0;
  const int sure = xpp_roles_score(&roles, &fields[roles.field[XPP_OP]].shape);
  return rows < 2 && sure > 60 ? 60 : sure;
}

/* }====== */
