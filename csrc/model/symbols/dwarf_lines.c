/*
** dwarf_lines.c - the line tables of DWARF: programs that write rows of an
** address, a file and a line.
**
** Each table is read once, and not at all if it is damaged. A row lasts until
** the next one of its sequence. Rows outside the code, which begin at or near
** address 0, belong to functions that the linker removed; they are dropped.
*/

#include <stdlib.h>
#include <string.h>

#include "model/base/id_table.h"
#include "model/base/memory.h"
#include "model/dictionary/names.h"
#include "model/symbols/dwarf.h"

#define LONGEST_PATH 16384u /* of a file; code of others has no lines */

enum { /* opcodes of line programs */
  DW_LNS_copy = 1,
  DW_LNS_advance_pc,
  DW_LNS_advance_line,
  DW_LNS_set_file,
  DW_LNS_set_column,
  DW_LNS_negate_stmt,
  DW_LNS_set_basic_block,
  DW_LNS_const_add_pc,
  DW_LNS_fixed_advance_pc,
  DW_LNS_set_prologue_end,
  DW_LNS_set_epilogue_begin,
  DW_LNS_set_isa,
  DW_LNE_end_sequence = 1,
  DW_LNE_set_address = 2,
  DW_LNE_define_file = 3,
  DW_LNCT_path = 1,
  DW_LNCT_directory_index = 2
};

/* A file of a table, or, without a folder, a folder. */
typedef struct file_entry {
  const char *name; /* NULL: it cannot be read */
  uint64_t folder;  /* index */
  uint32_t id;      /* PF_NO_NAME: it has none yet */
} file_entry;

typedef struct file_list {
  file_entry *list; /* owned */
  size_t count, capacity;
} file_list;

/* The state of reading. */
typedef struct reading {
  dwarf *debug;
  pf_dictionary *dictionary;
  uint64_t code_start, code_end;
  bool as_gprof; /* with its defect: see start_sequence */
  pf_line_row *rows;
  size_t count, capacity;

  /* The table that is read: */
  const dwarf_unit *unit;
  dwarf_widths widths;
  file_list folders, files;
  uint64_t min_length, max_operations, line_range, opcode_base;
  int64_t line_base;
  const uint8_t *operands; /* their numbers, by opcode - 1 */

  /* The row: */
  uint64_t address, operation, file, line;
  bool has_last; /* one before it in its sequence: */
  uint64_t last_address, last_file, last_line;
} reading;


/* Removes `.` and `x/..` from a path in place, and returns its size. `..`
   removes only a plain name, never the root or a leading `..`. */
static size_t clean_path (char *path) {
  const bool is_absolute = path[0] == '/';
  size_t size = 0, undoable = 0; /* number of parts that `..` may remove */
  const char *part = path;
  while (*part != 0) {
    const size_t n = strcspn(part, "/");
    if (n == 2 && memcmp(part, "..", 2) == 0 && undoable > 0) {
      while (size > 0 && path[--size] != '/')
        ;
      undoable--;
    }
    else if (n > 0 && !(n == 1 && *part == '.')) {
      undoable = n == 2 && memcmp(part, "..", 2) == 0 ? 0 : undoable + 1;
      if (size > 0 || is_absolute)
        path[size++] = '/';
      memmove(path + size, part, n);
      size += n;
    }
    part += n;
    part += *part == '/';
  }
  return size;
}


/* Whether a path has all folders, on Windows, too. */
static bool has_root (const char *path) {
  return path[0] == '/' || path[0] == '\\' || (path[0] != 0 && path[1] == ':');
}


/* Puts a folder before a path that is not absolute. False: too long. */
static bool join (const char *folder, char *path) {
  if (folder == NULL || folder[0] == 0 || has_root(path))
    return true;
  const size_t before = strlen(folder), size = strlen(path);
  if (before + 1 + size >= LONGEST_PATH)
    return false;
  memmove(path + before + 1, path, size + 1);
  memcpy(path, folder, before);
  path[before] = '/';
  return true;
}


/* Returns the id of a file, PF_NO_NAME if it has none; PF_NO_NAME and
   *status PF_ENOMEM when out of memory. */
static uint32_t name_file (reading *r, uint64_t number, pf_status *status) {
  if (number >= r->files.count || r->files.list[number].name == NULL)
    return PF_NO_NAME;
  file_entry *const file = &r->files.list[number];
  if (file->id != PF_NO_NAME)
    return file->id;
  const file_list *const folders = &r->folders;
  const char *const folder =
      file->folder < folders->count ? folders->list[file->folder].name : NULL;
  const char *const first = folders->count > 0 ? folders->list[0].name : NULL;
  char path[LONGEST_PATH];
  const size_t size = strlen(file->name);
  if (size >= LONGEST_PATH)
    return PF_NO_NAME;
  memcpy(path, file->name, size + 1);
  if (number == 0 && r->widths.version < 5)
    ; /* a file of this number does not exist */
  else if (!join(folder, path) || (file->folder != 0 && !join(first, path)) ||
           !dwarf_spend(r->debug, strlen(path)))
    return PF_NO_NAME;
  const pf_bytes bytes = {(const uint8_t *)path, clean_path(path)};
  file->id = pf_intern(r->dictionary, bytes);
  if (file->id == PF_NO_NAME)
    *status = PF_ENOMEM;
  return file->id;
}


/* Adds the range of the last row, which ends where the next one begins. */
static pf_status add_row (reading *r) {
  pf_status status = PF_OK;
  const uint64_t start = r->last_address;
  if (!r->has_last || r->address <= start || start < r->code_start ||
      start >= r->code_end)
    return PF_OK;
  const uint32_t line = r->last_line <= INT32_MAX ? (uint32_t)r->last_line : 0;
  const pf_line_row row = {start, r->address,
                           name_file(r, r->last_file, &status), line};
  if (row.file == PF_NO_NAME)
    return status;
  if (r->count >= UINT32_MAX - 1)
    return PF_ELIMIT;
  if (!pf_grow(&r->rows, &r->capacity, r->count + 1))
    return PF_ENOMEM;
  r->rows[r->count++] = row;
  return PF_OK;
}


static pf_status emit (reading *r) {
  const pf_status status = add_row(r);
  r->has_last = true;
  r->last_address = r->address;
  r->last_file = r->file;
  r->last_line = r->line;
  return status;
}


/* The binutils, and so gprof, have a defect: in tables of version 5 the lines
   of a sequence before it names a file have file 0, which is that of the unit,
   instead of file 1. */
static void start_sequence (reading *r) {
  r->address = r->operation = 0;
  r->file = r->as_gprof && r->widths.version >= 5 ? 0 : 1;
  r->line = 1;
  r->has_last = false;
}


static void advance (reading *r, uint64_t operations) {
  const uint64_t all = r->operation + operations;
  r->address += r->min_length * (all / r->max_operations);
  r->operation = all % r->max_operations;
}


static bool add_file (file_list *files, const char *name, uint64_t folder) {
  if (!pf_grow(&files->list, &files->capacity, files->count + 1))
    return false;
  files->list[files->count++] = (file_entry){name, folder, PF_NO_NAME};
  return true;
}


/* Takes a file as versions before 5 state it: a name, its folder, its time and
   its size. */
static pf_status take_file (pf_cursor *c, file_list *files, const char *name) {
  uint64_t folder, ignored;
  if (name == NULL || !pf_take_varint(c, &folder) ||
      !pf_take_varint(c, &ignored) || !pf_take_varint(c, &ignored))
    return PF_EFORMAT;
  return add_file(files, name, folder) ? PF_OK : PF_ENOMEM;
}


/* Takes the folders and files of versions before 5, which count from 1. */
static pf_status take_old_lists (reading *r, pf_cursor *c) {
  pf_status status = PF_OK;
  if (!add_file(&r->folders,
                dwarf_text(r->debug, r->unit, &r->unit->entry.folder), 0) ||
      !add_file(&r->files, "???", 0))
    return PF_ENOMEM;
  for (;;) {
    const char *const name = dwarf_take_text(c);
    if (name == NULL)
      return PF_EFORMAT;
    if (name[0] == 0)
      break;
    if (!add_file(&r->folders, name, 0))
      return PF_ENOMEM;
  }
  while (status == PF_OK) {
    const char *const name = dwarf_take_text(c);
    if (name != NULL && name[0] == 0)
      break;
    status = take_file(c, &r->files, name);
  }
  return status;
}


/* Takes a list of version 5, which says what its entries have. */
static pf_status take_new_list (reading *r, pf_cursor *c, file_list *files) {
  uint64_t parts, count, types[256], forms[256];
  if (!pf_take_uint(c, 1, &parts))
    return PF_EFORMAT;
  for (size_t i = 0; i < parts; i++)
    if (!pf_take_varint(c, &types[i]) || !pf_take_varint(c, &forms[i]))
      return PF_EFORMAT;
  if (!pf_take_varint(c, &count))
    return PF_EFORMAT;
  for (; count > 0; count--) {
    const size_t start = c->at;
    const char *name = NULL;
    uint64_t folder = 0;
    for (size_t i = 0; i < parts; i++) {
      dwarf_value value;
      if (!dwarf_take(c, r->widths, forms[i], &value))
        return PF_EFORMAT;
      if (types[i] == DW_LNCT_path)
        name = dwarf_text(r->debug, r->unit, &value);
      if (types[i] == DW_LNCT_directory_index)
        folder = value.number;
    }
    if (c->at == start)
      return PF_EFORMAT;
    if (!add_file(files, name, folder))
      return PF_ENOMEM;
  }
  return PF_OK;
}


/* Takes what the opcodes mean. */
static bool take_opcodes (reading *r, pf_cursor *c) {
  uint64_t base, ignored;
  pf_bytes operands;
  r->max_operations = 1;
  if (!pf_take_uint(c, 1, &r->min_length) ||
      (r->widths.version >= 4 && !pf_take_uint(c, 1, &r->max_operations)) ||
      !pf_take_uint(c, 1, &ignored) || !pf_take_uint(c, 1, &base) ||
      !pf_take_uint(c, 1, &r->line_range) ||
      !pf_take_uint(c, 1, &r->opcode_base) || r->opcode_base == 0 ||
      !pf_take(c, r->opcode_base - 1, &operands))
    return false;
  r->line_base = (int64_t)(base ^ 0x80) - 0x80; /* a signed byte */
  r->operands = operands.at;
  return r->line_range != 0 && r->max_operations != 0;
}


/* Takes the header of a table, and narrows the cursor to its program. */
static pf_status take_header (reading *r, pf_cursor *c) {
  uint64_t size, version, address = r->unit->widths.address, ignored;
  dwarf_widths *const widths = &r->widths;
  if (!dwarf_take_size(c, &widths->offset, &size) ||
      !dwarf_spend(r->debug, size))
    return PF_EFORMAT;
  c->bytes.size = c->at + (size_t)size;
  if (!pf_take_uint(c, 2, &version) || version < 2 || version > 5 ||
      (version >= 5 &&
       (!pf_take_uint(c, 1, &address) || !pf_take_uint(c, 1, &ignored))) ||
      !pf_take_uint(c, widths->offset, &size) || size > pf_left(c))
    return PF_EFORMAT;
  const size_t program = c->at + (size_t)size;
  widths->version = (unsigned)version;
  widths->address = (unsigned)address;
  r->folders.count = r->files.count = 0;
  pf_status status = take_opcodes(r, c) ? PF_OK : PF_EFORMAT;
  if (status == PF_OK && version < 5)
    status = take_old_lists(r, c);
  if (status == PF_OK && version >= 5)
    status = take_new_list(r, c, &r->folders);
  if (status == PF_OK && version >= 5)
    status = take_new_list(r, c, &r->files);
  if (c->at > program)
    return PF_EFORMAT;
  c->at = program;
  return status;
}


/* Follows an opcode that has its size. */
static pf_status follow_extended (reading *r, pf_cursor *c) {
  uint64_t size;
  pf_status status = PF_OK;
  if (!pf_take_varint(c, &size) || size == 0 || size > pf_left(c))
    return PF_EFORMAT;
  const size_t end = c->at + (size_t)size;
  const uint8_t opcode = c->bytes.at[c->at++];
  if (opcode == DW_LNE_end_sequence) {
    status = add_row(r);
    start_sequence(r);
  }
  else if (opcode == DW_LNE_set_address) {
    if ((size != 9 && size != 5 && size != 3) ||
        !pf_take_uint(c, (unsigned)size - 1, &r->address))
      return PF_EFORMAT;
    r->operation = 0;
  }
  else if (opcode == DW_LNE_define_file)
    status = take_file(c, &r->files, dwarf_take_text(c));
  c->at = end;
  return status;
}


/* Follows an opcode below the special ones. */
static pf_status follow_standard (reading *r, pf_cursor *c, uint64_t opcode) {
  uint64_t number;
  int64_t lines;
  switch (opcode) {
    case DW_LNS_copy: return emit(r);
    case DW_LNS_advance_pc:
      if (!pf_take_varint(c, &number))
        return PF_EFORMAT;
      advance(r, number);
      return PF_OK;
    case DW_LNS_advance_line:
      if (!dwarf_take_signed(c, &lines))
        return PF_EFORMAT;
      r->line += (uint64_t)lines;
      return PF_OK;
    case DW_LNS_set_file:
      return pf_take_varint(c, &r->file) ? PF_OK : PF_EFORMAT;
    case DW_LNS_const_add_pc:
      advance(r, (255 - r->opcode_base) / r->line_range);
      return PF_OK;
    case DW_LNS_fixed_advance_pc:
      if (!pf_take_uint(c, 2, &number))
        return PF_EFORMAT;
      r->address += number;
      r->operation = 0;
      return PF_OK;
    default:
      for (unsigned i = r->operands[opcode - 1]; i > 0; i--)
        if (!pf_take_varint(c, &number))
          return PF_EFORMAT;
      return PF_OK;
  }
}


/* Reads the table at the cursor. PF_EFORMAT: it is damaged. */
static pf_status read_table (reading *r, pf_cursor *c) {
  pf_status status = take_header(r, c);
  start_sequence(r);
  while (status == PF_OK && pf_left(c) > 0) {
    const uint64_t opcode = c->bytes.at[c->at++];
    if (opcode >= r->opcode_base) {
      const uint64_t step = opcode - r->opcode_base;
      advance(r, step / r->line_range);
      r->line += (uint64_t)(r->line_base + (int64_t)(step % r->line_range));
      status = emit(r);
    }
    else if (opcode == 0)
      status = follow_extended(r, c);
    else
      status = follow_standard(r, c, opcode);
  }
  return status;
}


/* Reads the tables of all units, each once: units may share a table. */
static pf_status read_tables (reading *r) {
  const dwarf *const d = r->debug;
  pf_id_table known;
  pf_status status = PF_OK;
  pf_id_table_init(&known);
  for (size_t i = 0; i < d->nunits && status == PF_OK; i++) {
    const dwarf_value *const at = &d->units[i].entry.lines;
    const uint32_t fresh = known.count;
    uint32_t table = PF_NO_ID;
    pf_cursor c = pf_cursor_over(d->sections[DWARF_LINE], d->is_big);
    if (at->form == 0 || !pf_skip(&c, at->number))
      continue;
    status = pf_id_table_words(&known, &at->number, 1, &table);
    if (status != PF_OK || table != fresh)
      continue;
    const size_t before = r->count;
    r->unit = &d->units[i];
    status = read_table(r, &c);
    if (status != PF_EFORMAT)
      continue;
    r->count = before;
    status = PF_OK;
  }
  pf_id_table_free(&known);
  return status;
}


pf_status pf_read_dwarf (pf_symbols *symbols, pf_bytes file) {
  dwarf d;
  pf_status status = dwarf_open(&d, file);
  reading r = {
      .debug = &d,
      .dictionary = symbols->dictionary,
      .code_start = symbols->facts.code_start,
      .code_end = symbols->facts.code_end,
      .as_gprof = symbols->rule == PF_SYMBOLS_GPROF,
  };
  if (status == PF_OK)
    status = read_tables(&r);
  if (status == PF_OK)
    status = pf_symbols_set_lines(symbols, r.rows, r.count);
  /* The exact rule keeps the names of the symbols, which a store has, too. */
  if (status == PF_OK && symbols->by_line && r.as_gprof)
    status = dwarf_functions(&d, symbols->dictionary, &symbols->facts,
                             &symbols->functions, &symbols->nfunctions);
  free(r.rows);
  free(r.folders.list);
  free(r.files.list);
  dwarf_close(&d);
  return status;
}
