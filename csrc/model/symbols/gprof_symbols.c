/*
** gprof_symbols.c - decides which local names GNU gprof 2.40 takes for
** functions.
**
** gprof drops local code symbols with an empty name, with a `$`, with a `.`
** (object files, compiler labels), and marks that begin with __gnu_compiled. It
** allows a `.` before digits (nested functions), and as .clone.N and
** .constprop.N. Its loop has a defect: if a name ends in such digits, it skips
** the terminating NUL and goes on with the next string of the table. Such a
** symbol is often lost, and its time goes to the function before it. To be
** comparable with gprof, this file reproduces the defect.
*/

#include <stdlib.h>
#include <string.h>

#include "model/symbols/builder.h"

/* The decision on the string that starts at an offset. */
enum {
  UNKNOWN,
  KEPT,
  DROPPED
};


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
static bool judge (const pf_gprof_names *names, size_t at, size_t *end) {
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


pf_status pf_gprof_names_open (pf_gprof_names *names, pf_bytes strings) {
  names->strings = strings;
  names->verdicts = calloc(strings.size + 1, 1);
  return names->verdicts != NULL ? PF_OK : PF_ENOMEM;
}


void pf_gprof_names_close (pf_gprof_names *names) {
  free(names->verdicts);
  *names = (pf_gprof_names){0};
}


bool pf_gprof_keeps_local (pf_gprof_names *names, size_t offset) {
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
