/*
** formats.h - the list of formats. A new format is one file here beside
** this one and one word in this list.
*/

#ifndef formats_h
#define formats_h

#include "profio.h"

#define PF_FORMATS(X) X(gmon) X(br) X(winidea) X(dcpi) X(dbf) X(xpp) X(pprof)

#define PF_DECLARE(name) extern const pf_format pf_format_##name;
PF_FORMATS(PF_DECLARE)
#undef PF_DECLARE

/* All formats, in the order of the list; `count` of them. */
const pf_format *const *pf_formats (size_t *count);

/* The format called `name`, or NULL. */
const pf_format *pf_format_named (const char *name);

#endif
