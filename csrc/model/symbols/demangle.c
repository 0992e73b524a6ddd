/*
** demangle.c - demangles names of Rust and C++ by the demanglers of libiberty,
** in the order in which gprof tries them: old names of Rust are valid names of
** C++, too.
**
** A short mangled name can stand for gigabytes of text, because each
** substitution may double it. So the length is limited, and the callback leaves
** the demangler by longjmp when the limit is exceeded. The demanglers are C
** code that owns nothing except its stack while it calls back, but for an
** identifier of Rust that is not ASCII, which is lost then.
*/

#if __has_include(<libiberty/demangle.h>) /* Debian */
#include <libiberty/demangle.h>
#else
#include <demangle.h>
#endif
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "model/dictionary/names.h"
#include "model/symbols/symbols.h"

#define LONGEST_NAME 65536u

/* The demangled text so far. */
typedef struct readable {
  uint8_t *text; /* LONGEST_NAME bytes */
  size_t size;
  bool lacks_memory;
  jmp_buf too_long;
} readable;


static void put (const char *text, size_t size, void *context) {
  readable *r = context;
  if (size > LONGEST_NAME - r->size)
    longjmp(r->too_long, 1);
  memcpy(r->text + r->size, text, size);
  r->size += size;
}


/* Appends the demangled form of a name; false when it has none. */
static bool demangle (readable *r, const char *mangled) {
  const int options = DMGL_PARAMS | DMGL_ANSI; /* those of gprof */
  const size_t before = r->size;
  if (setjmp(r->too_long) != 0)
    return false;
  if (rust_demangle_callback(mangled, options, put, r) != 0)
    return true;
  r->size = before;
  return cplus_demangle_v3_callback(mangled, options, put, r) != 0;
}


/* Returns what follows a mangled name: a blank and the location of a piece of a
   function (line_table.c), or @plt of a stub (plt_symbols.c). NULL: nothing. */
static const uint8_t *rest_of (pf_bytes raw) {
  static const char stub[] = "@plt";
  const size_t size = sizeof stub - 1;
  const bool is_stub =
      raw.size > size && memcmp(raw.at + raw.size - size, stub, size) == 0;
  return is_stub ? raw.at + raw.size - size : memchr(raw.at, ' ', raw.size);
}


/* Appends the dots before `start`, if there are any, the demangled form of the
   name from `start` on, and what follows it. False when the name has none. */
static bool make_readable (readable *r, pf_bytes raw, size_t start) {
  const uint8_t *const after = rest_of(raw);
  while (r->size < start && raw.at[r->size] == '.')
    r->text[r->size++] = '.';
  if (after == NULL)
    return demangle(r, (const char *)raw.at + start);
  const size_t end = (size_t)(after - raw.at), rest = raw.size - end;
  char *const mangled = malloc(end - start + 1);
  r->lacks_memory |= mangled == NULL;
  if (mangled != NULL) {
    memcpy(mangled, raw.at + start, end - start);
    mangled[end - start] = '\0';
  }
  const bool is_done =
      mangled != NULL && demangle(r, mangled) && rest <= LONGEST_NAME - r->size;
  free(mangled);
  if (!is_done)
    return false;
  memcpy(r->text + r->size, after, rest);
  r->size += rest;
  return true;
}


/* The flag of the dictionary saves a cache miss per name in a large program. */
uint32_t pf_demangle (pf_dictionary *dictionary, uint32_t name) {
  if (!dictionary->has_mangled)
    return name;
  const pf_bytes raw = pf_name(dictionary, name);
  const size_t start = pf_mangled_start(raw);
  if (start == SIZE_MAX)
    return name;
  readable r = {.text = malloc(LONGEST_NAME)};
  r.lacks_memory = r.text == NULL;
  uint32_t shown = name;
  if (r.text != NULL && make_readable(&r, raw, start))
    shown = pf_intern(dictionary, (pf_bytes){r.text, r.size});
  free(r.text);
  dictionary->lacks_memory |= r.lacks_memory || shown == PF_NO_NAME;
  return shown != PF_NO_NAME ? shown : name;
}
