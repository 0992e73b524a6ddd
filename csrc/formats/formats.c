/*
** formats.c - the list of all formats and the search by name.
*/

#include <string.h>

#include "formats/formats.h"

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
