/*
** formats.h - the list of formats. A new format is a folder beside this file,
** which defines pf_format_NAME, and its name in PF_FORMATS. Used by csrc/lua
** and the C programs of spec. Nothing is allocated.
*/

#ifndef formats_h
#define formats_h

#include "profio.h"

/* clang-format off */
#define PF_FORMATS(X) \
  X(gmon) \
  X(br) \
  X(winidea) \
  X(dcpi) \
  X(dbf) \
  X(xpp) \
  X(pprof) \
  X(callgrind) \
  X(chrome) \
  X(perfscript) \
  X(btf) \
  X(cpuprofile)
/* clang-format on */

#define PF_DECLARE(name) extern const pf_format pf_format_##name;
PF_FORMATS(PF_DECLARE)
#undef PF_DECLARE

/* Returns all formats in the order of PF_FORMATS, and their number in
   *count. */
const pf_format *const *pf_formats (size_t *count);

/* Returns the format with this name, or NULL. */
const pf_format *pf_format_named (const char *name);

#endif
