/*
** elf_symbols.c - reads the symbol tables of an ELF file of any class and byte
** order.
**
** It reads .symtab of the executable, else .symtab of its debug file, else the
** dynamic table. Mapping symbols ($a, $d, $x) are local and untyped, so that
** the exact rule ignores them; gprof drops them because of the `$`.
**
** GNU gprof 2.40 drops local code symbols with an empty name, with a `$`, with
** a `.` (object files, compiler labels), and marks that begin with
** __gnu_compiled or ___gnu_compiled. It allows a `.` before digits (nested
** functions), and in .clone.N and .constprop.N. Its loop has a defect: if a
** name ends in such digits, it skips the terminating NUL and goes on with the
** next string of the table. Such a symbol is often lost, and its time goes to
** the function before it. To be comparable with gprof, this file reproduces the
** defect.
*/

#include <stdlib.h>
#include <string.h>

#include "bytes/cursor.h"
#include "model/symbols/builder.h"
#include "model/symbols/elf_format.h"

/* The decision of gprof on the string that starts at an offset. */
enum {
  UNKNOWN,
  KEPT,
  DROPPED
};

/* The decisions on the local names of a string table: a cache. */
typedef struct gprof_names {
  pf_bytes strings;
  uint8_t *verdicts; /* owned, by offset of the string */
} gprof_names;

/* The state of reading a symbol table. */
typedef struct reading {
  const elf_file *main; /* the executable */
  const elf_file *file; /* main or its debug file: it has the table */
  pf_symbol_rule rule;
  pf_bytes symbols, sections; /* `sections`: of SHN_XINDEX; may be empty */
  size_t count;
  uint64_t budget;                /* bytes of names that may still be read */
  const elf_section *descriptors; /* .opd of 64-bit PowerPC, or NULL */
  pf_bytes descriptor_bytes;
  const pf_executable *facts;
  gprof_names names;
  pf_symbols *out;
} reading;

/* A symbol of the table. */
typedef struct entry {
  elf_symbol symbol;
  const elf_section *section; /* NULL: undefined, absolute or common */
} entry;


static bool is_function (const reading *r, const entry *e) {
  const unsigned machine = r->main->machine;
  return e->symbol.type == STT_FUNC || e->symbol.type == STT_GNU_IFUNC ||
         (e->symbol.type == STT_CODE_13 &&
          (machine == EM_ARM || machine == EM_PARISC));
}


/* Returns a byte of a string table, or NUL after its end. */
static uint8_t byte_at (pf_bytes strings, size_t at) {
  return at < strings.size ? strings.at[at] : 0;
}


static bool begins (pf_bytes strings, size_t at, const char *prefix) {
  const size_t size = strlen(prefix);
  return at <= strings.size && strings.size - at >= size &&
         memcmp(strings.at + at, prefix, size) == 0;
}


/* Returns the end of the suffix that begins with the `.` at `at`: the offset of
   the next `.` or NUL. SIZE_MAX if it does not consist of digits. */
static size_t skip_suffix (pf_bytes strings, size_t at) {
  static const char clone[] = ".clone.", constprop[] = ".constprop.";
  const size_t skipped = begins(strings, at, clone)       ? sizeof clone - 2
                         : begins(strings, at, constprop) ? sizeof constprop - 2
                                                          : 0;
  if (byte_at(strings, at + skipped + 1) != 0)
    at += skipped;
  bool has_digit = false;
  for (at++; byte_at(strings, at) != 0; at++) {
    const uint8_t c = byte_at(strings, at);
    if (has_digit && c == '.')
      break;
    if (c < '0' || c > '9')
      return SIZE_MAX;
    has_digit = true;
  }
  return at;
}


/*
** The loop of gprof, with its defect: after a suffix, `at` is advanced once
** more, even over a NUL. Sets *end to the offset of the decision. A cached
** decision on the string after that NUL applies to this string, too.
*/
static bool judge (const gprof_names *names, size_t at, size_t *end) {
  const pf_bytes strings = names->strings;
  for (; byte_at(strings, at) != 0; at++) {
    *end = at;
    if (byte_at(strings, at - 1) == 0 && names->verdicts[at] != UNKNOWN)
      return names->verdicts[at] == KEPT;
    if (byte_at(strings, at) == '$')
      return false;
    while (byte_at(strings, at) == '.') {
      at = skip_suffix(strings, at);
      if (at == SIZE_MAX)
        return false;
    }
  }
  *end = at;
  return true;
}


/* Returns whether gprof regards a local text symbol as a function, by its name
   at `offset` in the table. gprof reads beyond the end of some names, so the
   whole table is needed. */
static bool keeps_local (gprof_names *names, size_t offset) {
  const pf_bytes strings = names->strings;
  if (byte_at(strings, offset) == 0 ||
      begins(strings, offset, "__gnu_compiled") ||
      begins(strings, offset, "___gnu_compiled"))
    return false;
  size_t end = offset;
  const bool kept = judge(names, offset, &end);
  /* Store the decision for each string that the loop has passed, so that no
     string is read twice, however many names end in digits. */
  while (offset <= end && offset < strings.size) {
    names->verdicts[offset] = kept ? KEPT : DROPPED;
    const uint8_t *const nul =
        memchr(strings.at + offset, 0, strings.size - offset);
    if (nul == NULL)
      break;
    offset = (size_t)(nul - strings.at) + 1;
  }
  return kept;
}


/* gprof's rule: the symbols that nm prints as T, W and t, weak ones in any
   section; those of t depend on the name. */
static bool is_gprof (reading *r, const entry *e) {
  if (e->symbol.section == SHN_UNDEF || e->symbol.section == SHN_COMMON ||
      e->symbol.type == STT_SECTION || e->symbol.type == STT_FILE ||
      e->symbol.type == STT_GNU_IFUNC)
    return false;
  if (e->symbol.bind == STB_WEAK)
    return e->symbol.type != STT_OBJECT && e->symbol.type != STT_COMMON;
  if (e->section == NULL || !e->section->is_code)
    return false;
  return e->symbol.bind == STB_GLOBAL ||
         (e->symbol.bind == STB_LOCAL &&
          keeps_local(&r->names, e->symbol.name));
}


/* Sets the name of a symbol. PF_ELIMIT if all names together are much longer
   than their table: a file with thousands of overlapping strings is an attack.
   */
static pf_status take_name (reading *r, size_t offset, pf_bytes *name) {
  *name = (pf_bytes){0};
  if (offset >= r->names.strings.size)
    return PF_OK;
  const uint8_t *start = r->names.strings.at + offset;
  const size_t left = r->names.strings.size - offset;
  const uint8_t *nul = memchr(start, 0, left);
  *name = (pf_bytes){start, nul != NULL ? (size_t)(nul - start) : left};
  if (name->size >= r->budget)
    return PF_ELIMIT;
  r->budget -= name->size + 1;
  return PF_OK;
}


/* Resolves a symbol in .opd to its code: the first word of the descriptor. */
static bool follow_descriptor (const reading *r, pf_found *found) {
  const elf_section *opd = r->descriptors;
  if (opd == NULL || found->address < opd->start || found->address >= opd->end)
    return false;
  const uint64_t at = found->address - opd->start;
  if (r->descriptor_bytes.size < 8 || at > r->descriptor_bytes.size - 8)
    return false;
  found->address = pf_load64(r->descriptor_bytes.at + at, r->main->is_big);
  const bool in_text = found->address >= r->facts->text_start &&
                       found->address < r->facts->text_end;
  found->limit = in_text ? r->facts->text_end : r->facts->code_end;
  return found->address >= r->facts->code_start &&
         found->address < found->limit;
}


/* Returns whether to take a symbol. gprof puts a dot before names that have a
   descriptor; it drops local ones, since their names may have no dot. */
static bool is_wanted (reading *r, const entry *e, bool has_descriptor) {
  if (r->rule == PF_SYMBOLS_EXACT) {
    if (is_function(r, e))
      return e->section != NULL || e->symbol.section == SHN_ABS;
    return e->symbol.type == STT_NOTYPE && e->symbol.bind != STB_LOCAL &&
           e->section != NULL && e->section->is_code &&
           e->symbol.value >= e->section->start &&
           e->symbol.value < e->section->end;
  }
  return has_descriptor
             ? e->symbol.bind != STB_LOCAL && e->symbol.type == STT_FUNC
             : is_gprof(r, e);
}


static pf_status read_entry (reading *r, const entry *e) {
  const unsigned machine = r->main->machine;
  const bool has_mode_bit = machine == EM_ARM || machine == EM_MIPS;
  pf_found found = {
      .address = e->symbol.value,
      .size = e->symbol.size,
      .limit = e->section != NULL ? e->section->end : UINT64_MAX,
      .is_function = is_function(r, e),
      .is_global = e->symbol.bind != STB_LOCAL,
  };
  if (has_mode_bit && found.is_function)
    found.address &= ~1ull; /* bit 0 selects the instruction set */
  const bool has_descriptor =
      e->section != NULL && follow_descriptor(r, &found);
  pf_status status = take_name(r, e->symbol.name, &found.name);
  if (status != PF_OK || found.name.size == 0 ||
      !is_wanted(r, e, has_descriptor))
    return status;
  found.is_dotted = has_descriptor && r->rule == PF_SYMBOLS_GPROF;
  if (r->rule == PF_SYMBOLS_EXACT)
    found.name = pf_without_version(found.name);
  return pf_symbols_add(r->out, &found);
}


static pf_status read_entries (reading *r) {
  pf_status status = PF_OK;
  for (size_t i = 1; i < r->count && status == PF_OK; i++) {
    entry e = {.section = NULL};
    if (!elf_symbol_at(r->file, r->symbols, i, &e.symbol))
      break;
    /* Section numbers of 65,280 or more are in a table of their own. */
    const size_t stated = e.symbol.section;
    const size_t number =
        stated != SHN_XINDEX ? stated
        : i < r->sections.size / 4
            ? pf_load32(r->sections.at + 4 * i, r->file->is_big)
            : 0;
    if (number > 0 && number < r->file->nsections &&
        (stated < SHN_LORESERVE || stated == SHN_XINDEX))
      e.section = &r->file->sections[number];
    status = read_entry(r, &e);
  }
  return status;
}


/* Finds the bytes of a table; a table that cannot be read counts as empty. */
static void find_table (reading *r, const elf_section *section) {
  const elf_file *file = r->file;
  const size_t number = (size_t)(section - file->sections);
  r->symbols = section->contents;
  for (size_t i = file->nsections; i-- > 1;)
    if (file->sections[i].type == SHT_SYMTAB_SHNDX &&
        file->sections[i].link == number)
      r->sections = file->sections[i].contents;
  if (section->link >= file->nsections)
    return;
  r->names.strings = file->sections[section->link].contents;
  r->count = r->symbols.size / elf_symbol_size(file);
  if (r->count > INT32_MAX)
    r->count = INT32_MAX;
  r->budget = (64u << 20) + 16 * (uint64_t)r->names.strings.size;
}


pf_status pf_symbols_read_elf (pf_symbols *symbols, const elf_pair *pair,
                               pf_symbol_rule rule, pf_error *error) {
  symbols->facts.has_symbols = false;
  reading r = {.main = &pair->main,
               .rule = rule,
               .facts = &symbols->facts,
               .out = symbols};
  const struct {
    const elf_file *file;
    uint32_t type;
  } tables[] = {{&pair->main, SHT_SYMTAB},
                {&pair->debug, SHT_SYMTAB},
                {&pair->main, SHT_DYNSYM}};
  const elf_section *table = NULL;
  for (size_t i = 0; i < 3 && table == NULL; i++) {
    r.file = tables[i].file;
    table = elf_file_section(r.file, tables[i].type, NULL);
  }
  symbols->facts.only_dynamic = table != NULL && table->type == SHT_DYNSYM;
  if (table == NULL)
    return PF_OK;
  find_table(&r, table);
  pf_symbols_size_hint(symbols, r.count);
  if (r.main->machine == EM_PPC64)
    r.descriptors = elf_file_section(r.main, 0, ".opd");
  if (r.descriptors != NULL)
    r.descriptor_bytes = r.descriptors->contents;
  r.names.verdicts = calloc(r.names.strings.size + 1, 1);
  pf_status status = r.names.verdicts != NULL ? read_entries(&r) : PF_ENOMEM;
  const bool has_symbols = symbols->count > 0;
  if (status == PF_OK && rule == PF_SYMBOLS_EXACT)
    status = pf_symbols_add_plt(symbols, r.main);
  if (status == PF_OK)
    status = pf_symbols_build(symbols, rule);
  symbols->facts.has_symbols = has_symbols; /* stubs are no functions */
  free(r.names.verdicts);
  if (status == PF_ELIMIT)
    return pf_fail(error, status, PF_NO_OFFSET,
                   "too many symbols, or names that overlap too often");
  return status == PF_OK ? PF_OK : pf_no_memory(error);
}
