/*
** formats.c - finding a format: by name, or by the first bytes of a file.
*/

#include <string.h>

#include "formats/formats.h"

#define HEAD_SIZE 65536 /* a format looks at this much to score */

#define PF_ENTRY(name) &pf_format_##name,
static const pf_format *const formats[] = {PF_FORMATS(PF_ENTRY)};
#undef PF_ENTRY

#define COUNT (sizeof formats / sizeof formats[0])


const pf_format *const *pf_formats (size_t *count) {
  *count = COUNT;
  return formats;
}


const pf_format *pf_format_named (const char *name) {
  for (size_t i = 0; i < COUNT; i++)
    if (strcmp(formats[i]->name, name) == 0)
      return formats[i];
  return NULL;
}


const pf_format *pf_format_detect (pf_bytes bytes) {
  const pf_bytes head = {bytes.at,
                         bytes.size < HEAD_SIZE ? bytes.size : HEAD_SIZE};
  const pf_format *best = NULL;
  int surest = 0;
  for (size_t i = 0; i < COUNT; i++) {
    const int score = formats[i]->score(head, bytes.size);
    if (score <= surest)
      continue;
    surest = score;
    best = formats[i];
  }
  return best;
}
