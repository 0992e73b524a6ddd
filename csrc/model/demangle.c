/*
** demangle.c - the readable form of C++ names.
**
** The work is done by the demangler of libsupc++, in its form that hands out
** the text in pieces. A short mangled name can stand for gigabytes of text
** (each substitution may double it), so the text is counted, and the first
** piece too many leaves the demangler by longjmp: it is C code that holds
** nothing but its stack.
*/

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "model/names.h"
#include "model/symbols.h"

#define LONGEST_NAME 65536u

/* Part of every libsupc++ of GCC; answers 0, or -2 for what is not mangled. */
int __gcclibcxx_demangle_callback (const char *mangled,
                                   void (*put)(const char *text, size_t size,
                                               void *context),
                                   void *context);

/* The text so far. */
typedef struct readable {
  uint8_t *text; /* LONGEST_NAME bytes */
  size_t size;
  jmp_buf too_long;
} readable;


static void put (const char *text, size_t size, void *context) {
  readable *r = context;
  if (size > LONGEST_NAME - r->size)
    longjmp(r->too_long, 1);
  memcpy(r->text + r->size, text, size);
  r->size += size;
}


/* Append the readable form of a mangled name; false when it has none. */
static bool demangle (readable *r, const char *mangled) {
  if (setjmp(r->too_long) != 0)
    return false;
  return __gcclibcxx_demangle_callback(mangled, put, r) == 0;
}


/* How many dots stand before the name: gprof's names of functions with
   descriptors have one. */
static size_t leading_dots (pf_bytes name) {
  size_t n = 0;
  while (n < name.size && n < 8 && name.at[n] == '.')
    n++;
  return n;
}


/* Whether a name looks mangled behind its dots; one underscore more is how
   Mach-O and some COFF systems have it. Sets *skip to what comes before. */
static bool is_mangled (pf_bytes name, size_t *skip) {
  *skip = leading_dots(name);
  if (name.size - *skip > 3 && memcmp(name.at + *skip, "__Z", 3) == 0)
    ++*skip;
  return name.size - *skip > 2 && memcmp(name.at + *skip, "_Z", 2) == 0;
}


uint32_t pf_demangle (pf_dictionary *dictionary, uint32_t name) {
  const pf_bytes raw = pf_name(dictionary, name);
  size_t skip;
  if (!is_mangled(raw, &skip))
    return name;
  readable r = {.text = malloc(LONGEST_NAME)};
  if (r.text == NULL)
    return name;
  r.size = leading_dots(raw);
  memset(r.text, '.', r.size);
  uint32_t shown = name;
  if (demangle(&r, (const char *)raw.at + skip))
    shown = pf_intern(dictionary, (pf_bytes){r.text, r.size});
  free(r.text);
  return shown != PF_NO_NAME ? shown : name;
}
