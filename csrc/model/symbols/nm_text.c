/*
** nm_text.c - parser of the output of `nm`.
**
**   BSD       0000000000001139 T main            also with a size: nm -S
**                              U printf          no address: skipped
**   POSIX     main T 1139 16                     nm -P; the size is optional
**   System V  main |0000000000001139| T | FUNC|0000000000000016| |.text
**   Tru64     main | 0000004831842992 | T | 0000000000000008      decimal
**
** Names may contain spaces and bars (demangled C++). A tab ends a name; after
** it `nm -l` prints the source line. The first lines decide which form the file
** has. Lines of another form, such as headings, are skipped.
*/

#include <string.h>

#include "bytes/text.h"
#include "model/dictionary/names.h"
#include "model/symbols/builder.h"

#define TRIAL_LINES 256 /* lines from which the form is detected */

/* The contents of a line. */
typedef struct nm_line {
  uint64_t address, size;
  uint8_t type; /* type letter */
  pf_bytes name;
} nm_line;

/* Parses a line that is not empty, without its end; false: it has no address.
   */
typedef bool (*nm_form)(pf_bytes line, nm_line *out);


static bool is_letter (uint8_t c) {
  return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}


/* Takes a hexadecimal number, with or without 0x, from the front of a slice.
   False, with the slice unchanged, if there is none or it exceeds 64 bits. */
static bool take_hex (pf_bytes *text, uint64_t *value) {
  static const uint8_t DIGITS[256] = {
      /* 1 more than the value; 0: none */
      ['0'] = 1, 2,  3,  4,  5,  6,          7,  8,  9,  10, ['A'] = 11,
      12,        13, 14, 15, 16, ['a'] = 11, 12, 13, 14, 15, 16};
  pf_bytes t = *text;
  if (t.size > 2 && t.at[0] == '0' && (t.at[1] | 0x20) == 'x')
    t = (pf_bytes){t.at + 2, t.size - 2};
  size_t n = 0;
  uint64_t v = 0;
  for (; n < t.size && DIGITS[t.at[n]] != 0; n++) {
    if (v >> 60 != 0)
      return false;
    v = v << 4 | (DIGITS[t.at[n]] - 1u);
  }
  if (n == 0)
    return false;
  *value = v;
  *text = (pf_bytes){t.at + n, t.size - n};
  return true;
}


static bool take_decimal (pf_bytes *text, uint64_t *value) {
  size_t n = 0;
  for (*value = 0; n < text->size; n++) {
    const unsigned digit = (unsigned)text->at[n] - '0';
    if (digit > 9)
      break;
    if (*value > (UINT64_MAX - digit) / 10)
      return false;
    *value = *value * 10 + digit;
  }
  *text = (pf_bytes){text->at + n, text->size - n};
  return n > 0;
}


/* Take "X " from the front, X being a letter. */
static bool take_type (pf_bytes *text, uint8_t *type) {
  if (text->size < 3 || text->at[1] != ' ' || !is_letter(text->at[0]))
    return false;
  *type = text->at[0];
  *text = (pf_bytes){text->at + 2, text->size - 2};
  return true;
}


/* Take one or more spaces from the front. */
static bool take_spaces (pf_bytes *text) {
  const size_t before = text->size;
  while (text->size > 0 && text->at[0] == ' ')
    *text = (pf_bytes){text->at + 1, text->size - 1};
  return text->size < before;
}


/* address [size] type name */
static bool read_bsd (pf_bytes line, nm_line *out) {
  out->size = 0;
  if (!take_hex(&line, &out->address) || !take_spaces(&line))
    return false;
  if (!take_type(&line, &out->type) &&
      !(take_hex(&line, &out->size) && take_spaces(&line) &&
        take_type(&line, &out->type)))
    return false;
  out->name = pf_trim(line);
  return out->name.size > 0;
}


/* Split the last word off a text; false when there is no space before it. */
static bool last_word (pf_bytes *text, pf_bytes *word) {
  *text = pf_trim(*text);
  size_t start = text->size;
  while (start > 0 && text->at[start - 1] != ' ')
    start--;
  if (start == 0)
    return false;
  *word = (pf_bytes){text->at + start, text->size - start};
  text->size = start;
  *text = pf_trim(*text);
  return true;
}


static bool is_hex_word (pf_bytes word, uint64_t *value) {
  return take_hex(&word, value) && word.size == 0;
}


static bool is_type_word (pf_bytes word) {
  return word.size == 1 && is_letter(word.at[0]);
}


/* name type address [size], read from the right because of the name */
static bool read_posix (pf_bytes line, nm_line *out) {
  pf_bytes last, middle, first, rest = line;
  if (!last_word(&rest, &last) || !last_word(&rest, &middle))
    return false;
  pf_bytes name = rest;
  if (last_word(&name, &first) && is_type_word(first) &&
      is_hex_word(middle, &out->address) && is_hex_word(last, &out->size)) {
    out->type = first.at[0];
    out->name = name;
    return true;
  }
  if (!is_type_word(middle) || !is_hex_word(last, &out->address))
    return false;
  out->type = middle.at[0];
  out->size = 0;
  out->name = rest;
  return rest.size > 0;
}


/* Splits a line at its last bars: cells[0] is the cell after the first of them,
   `rest` the text before it. Returns the number of cells. */
static size_t split_bars (pf_bytes line, pf_bytes *rest, pf_bytes *cells,
                          size_t capacity) {
  size_t n = 0, end = line.size;
  pf_bytes found[6];
  for (size_t i = line.size; i > 0 && n < capacity; i--)
    if (line.at[i - 1] == '|') {
      found[n++] = pf_trim((pf_bytes){line.at + i, end - i});
      end = i - 1;
    }
  for (size_t i = 0; i < n; i++)
    cells[i] = found[n - 1 - i];
  *rest = pf_trim((pf_bytes){line.at, end});
  return n;
}


/* name | address | type | ... */
static bool read_table_line (pf_bytes name, const pf_bytes *cells,
                             size_t size_cell, bool is_decimal, nm_line *out) {
  pf_bytes address = cells[0], size = cells[size_cell];
  const bool has_prefix = address.size > 2 && (address.at[1] | 0x20) == 'x';
  const bool decimal = is_decimal && !has_prefix;
  out->name = name;
  if (name.size == 0 || !is_type_word(cells[1]) ||
      !(decimal ? take_decimal(&address, &out->address)
                : take_hex(&address, &out->address)))
    return false;
  out->type = cells[1].at[0];
  if (!(decimal ? take_decimal(&size, &out->size)
                : take_hex(&size, &out->size)))
    out->size = 0;
  return true;
}


static bool read_system_v (pf_bytes line, nm_line *out) {
  pf_bytes cells[6], name;
  return split_bars(line, &name, cells, 6) == 6 &&
         read_table_line(name, cells, 3, false, out);
}


static bool read_tru64 (pf_bytes line, nm_line *out) {
  pf_bytes cells[3], name;
  return split_bars(line, &name, cells, 3) == 3 &&
         read_table_line(name, cells, 2, true, out);
}


/* Takes the next line of a text, without its end and anything after a tab.
   False at the end of the text. */
static bool next_line (pf_bytes *text, pf_bytes *line) {
  if (text->size == 0)
    return false;
  const uint8_t *end = memchr(text->at, '\n', text->size);
  const size_t size = end != NULL ? (size_t)(end - text->at) : text->size;
  const size_t used = end != NULL ? size + 1 : size;
  *line = (pf_bytes){text->at, size};
  *text = (pf_bytes){text->at + used, text->size - used};
  const uint8_t *tab = memchr(line->at, '\t', line->size);
  if (tab != NULL)
    line->size = (size_t)(tab - line->at);
  if (line->size > 0 && line->at[line->size - 1] == '\r')
    line->size--;
  return true;
}


/* Returns the form that most of the first lines have, the first of equals; NULL
   if no line has any form. */
static nm_form choose_form (pf_bytes text) {
  static const nm_form FORMS[] = {read_bsd, read_system_v, read_tru64,
                                  read_posix};
  enum {
    COUNT = sizeof FORMS / sizeof FORMS[0]
  };
  size_t hits[COUNT] = {0}, best = 0;
  pf_bytes line;
  nm_line ignored;
  for (size_t n = 0; n < TRIAL_LINES && next_line(&text, &line); n++)
    for (size_t form = 0; form < COUNT; form++)
      hits[form] += FORMS[form](line, &ignored);
  for (size_t form = 1; form < COUNT; form++)
    if (hits[form] > hits[best])
      best = form;
  return hits[best] > 0 ? FORMS[best] : NULL;
}


/* Estimates the number of lines by the length of the first ones. */
static size_t guess_lines (pf_bytes text) {
  pf_bytes rest = text, line;
  size_t n = 0;
  while (n < TRIAL_LINES && next_line(&rest, &line))
    n++;
  return n < TRIAL_LINES ? n : text.size / ((text.size - rest.size) / n) + 1;
}


/* Kinds of symbols in the lines of a text. */
typedef struct contents {
  bool has_functions, has_local, has_undefined; /* of symbols */
} contents;


/* Whether a line without an address has an undefined symbol. */
static bool is_undefined (pf_bytes line) {
  pf_bytes name, cells[6];
  const pf_bytes t = pf_trim(line);
  if (split_bars(line, &name, cells, 6) == 6)
    return cells[1].size == 1 && cells[1].at[0] == 'U';
  return t.size > 2 && ((t.at[0] == 'U' && t.at[1] == ' ') ||
                        (t.at[t.size - 1] == 'U' && t.at[t.size - 2] == ' '));
}


/* Whether a name is that of a section, which PE files have as symbols: .text,
   .text.unlikely, .text$mn, ... */
static bool is_section (pf_bytes name) {
  static const char *const sections[] = {".text", ".init", ".fini", ".plt"};
  for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
    const size_t size = strlen(sections[i]);
    if (name.size >= size && memcmp(name.at, sections[i], size) == 0)
      return name.size == size || name.at[size] == '.' || name.at[size] == '$';
  }
  return false;
}


/* Adds the functions of a text. Returns the first failure of
   pf_symbols_add. */
static pf_status parse (pf_bytes text, nm_form form, pf_symbol_rule rule,
                        pf_symbols *symbols, contents *has) {
  const uint64_t text_end = symbols->facts.text_end; /* 0: not known */
  pf_status status = PF_OK;
  pf_bytes line;
  nm_line parts;
  while (status == PF_OK && next_line(&text, &line)) {
    if (!form(line, &parts)) {
      has->has_undefined |= is_undefined(line);
      continue;
    }
    has->has_local |= memchr("abdnrt", parts.type, 6) != NULL;
    /* gprof accepts only t and T from such a text; the exact rule also W (weak)
       and i (indirect function) */
    if (!(parts.type == 'T' || parts.type == 't' ||
          (rule == PF_SYMBOLS_EXACT &&
           (parts.type == 'W' || parts.type == 'i'))))
      continue;
    has->has_functions = true;
    const pf_found found = {
        .address = parts.address,
        .size = parts.size,
        .limit = parts.address < text_end ? text_end : UINT64_MAX,
        .name = rule == PF_SYMBOLS_EXACT ? pf_without_version(parts.name)
                                         : parts.name,
        .is_function = rule != PF_SYMBOLS_EXACT || !is_section(parts.name),
        .is_global = parts.type != 't',
    };
    status = pf_symbols_add(symbols, &found);
  }
  return status;
}


/* Refuse texts in which functions are missing, whose time would be that of
   their neighbours. Each linked program has local symbols, of what begins it.
 */
static pf_status check_complete (const contents *has, pf_error *error) {
  if (!has->has_functions)
    return pf_fail(error, PF_EFORMAT, PF_NO_OFFSET,
                   "no line has a function, of type T or t: give the output "
                   "of nm, not that of objdump");
  if (has->has_undefined && !has->has_local)
    return pf_fail(error, PF_EFORMAT, PF_NO_OFFSET,
                   "it has no local symbols, as that of nm -D or nm -g, so "
                   "functions are missing: give the output of nm");
  return PF_OK;
}


pf_status pf_symbols_read_nm (pf_symbols *symbols, pf_bytes text,
                              pf_symbol_rule rule, pf_error *error) {
  const nm_form form = choose_form(text);
  contents has = {false, false, false};
  if (form == NULL)
    return pf_fail(error, PF_EFORMAT, 0,
                   "not the text of nm: no line has an address, a type and "
                   "a name");
  pf_symbols_size_hint(symbols, guess_lines(text));
  pf_status status = parse(text, form, rule, symbols, &has);
  const pf_status complete =
      status == PF_OK ? check_complete(&has, error) : PF_OK;
  if (complete != PF_OK)
    return complete;
  if (status == PF_OK)
    status = pf_symbols_build(symbols, rule);
  return status == PF_OK ? PF_OK
                         : pf_fail(error, status, PF_NO_OFFSET,
                                   status == PF_ELIMIT ? "too many symbols"
                                                       : "out of memory");
}
