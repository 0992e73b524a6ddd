/*
** export.h - the text of an export of a profile, written to a file in large
** blocks. Used by export_flames.c and export_samples.c: l_export_new, then any
** of the writing functions, then l_export_finish. The userdata owns its memory;
** it borrows the contexts and the file, which must stay on the stack. And lists
** of frames, for export_contexts.c and export_outline.c.
*/

#ifndef lua_export_h
#define lua_export_h

#include "kernels/contexts/views.h"
#include "lua/profile/context_profile.h"
#include "text/rows.h"

/* The writing functions return nothing: the first failure is kept in
   job.failed, and later text is dropped. */
typedef struct l_export {
  row_job job;
  int file_arg; /* stack index of the file */
  const pf_contexts *contexts;
  size_t metric;
  pf_traversal walk;
} l_export;

/*
** Pushes an export of the contexts at `arg` into the file at `file_arg`, for
** the metric of option `metric` of the table at `options_arg`. The collector
** frees it.
*/
l_export *l_export_new (lua_State *L, int arg, int options_arg, int file_arg);

/* Writes the rest of the text. Returns true, or nil, message, code and "EPIPE"
   if a pipe has no reader any more. */
int l_export_finish (lua_State *L, l_export *e);

void l_export_bytes (l_export *e, const void *bytes, size_t size);
void l_export_text (l_export *e, const char *text);
void l_export_int (l_export *e, int64_t value);

/* Writes a format with the conversions %s and %lld only. */
void l_export_put (l_export *e, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Writes ns as milliseconds with six decimals. */
void l_export_ms (l_export *e, int64_t ns);

/* Sets the lists names (`unnamed`: none), files (false: none) and lines of the
   table on top, of frames with these areas. */
void l_set_frames (lua_State *L, pf_dictionary *dictionary,
                   const uint32_t *areas, uint32_t count, const char *unnamed);

#endif
