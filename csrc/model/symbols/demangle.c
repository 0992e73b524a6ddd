/*
** demangle.c - demangles C++ names by the callback form of the demangler of
** libsupc++.
**
** A short mangled name can stand for gigabytes of text, because each
** substitution may double it. So the length is limited, and the callback leaves
** the demangler by longjmp when the limit is exceeded. The demangler is C code
** that owns nothing except its stack, so nothing leaks.
*/

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "model/dictionary/names.h"
#include "model/symbols/symbols.h"

#define LONGEST_NAME 65536u

/* Part of libsupc++ of GCC. Returns 0, NO_MEMORY, or -2 for a name that is not
   mangled. */
#define NO_MEMORY (-1)
int __gcclibcxx_demangle_callback (const char *mangled,
                                   void (*put)(const char *text, size_t size,
                                               void *context),
                                   void *context);

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
  if (setjmp(r->too_long) != 0)
    return false;
  const int answer = __gcclibcxx_demangle_callback(mangled, put, r);
  r->lacks_memory |= answer == NO_MEMORY;
  return answer == 0;
}


/* Appends the dots before `start`, if there are any, and the demangled form of
   the name from `start` up to a blank; then the rest, which is the location of
   a piece of a function (line_table.c). False when the name has none. */
static bool make_readable (readable *r, pf_bytes raw, size_t start) {
  const uint8_t *const blank = memchr(raw.at, ' ', raw.size);
  while (r->size < start && raw.at[r->size] == '.')
    r->text[r->size++] = '.';
  if (blank == NULL)
    return demangle(r, (const char *)raw.at + start);
  const size_t end = (size_t)(blank - raw.at), rest = raw.size - end;
  char *const mangled = strndup((const char *)raw.at + start, end - start);
  r->lacks_memory |= mangled == NULL;
  const bool is_done =
      mangled != NULL && demangle(r, mangled) && rest <= LONGEST_NAME - r->size;
  free(mangled);
  if (!is_done)
    return false;
  memcpy(r->text + r->size, blank, rest);
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
