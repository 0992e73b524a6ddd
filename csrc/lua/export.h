/*
** export.h - what exports of profiles share: a text that goes to a file in
** large pieces, and the contexts it is made of.
*/

#ifndef lua_export_h
#define lua_export_h

#include "kernels/contexts/traversal.h"
#include "lua/contexts.h"
#include "lua/rows.h"

/* Functions that write answer nothing: a failure is kept in job.failed, and
   what comes after it is not written. */
typedef struct l_export {
  row_job job;
  int file_arg; /* where the file is on the stack */
  const pf_contexts *contexts;
  size_t metric;
  pf_traversal walk;
  uint32_t *ranks;  /* by area: the place of a frame in sorted */
  uint32_t *sorted; /* frames by name, file and line */
  uint32_t nframes;
} l_export;

/*
** Push an export of the contexts at `arg` into the file at `file_arg` by the
** option `metric` of the table at `options_arg`. It frees itself.
*/
l_export *l_export_new (lua_State *L, int arg, int options_arg, int file_arg);

/* End it: true, or nil, message, code and "EPIPE" when the reader of a pipe
   left. */
int l_export_finish (lua_State *L, l_export *e);

void l_export_bytes (l_export *e, const void *bytes, size_t size);
void l_export_text (l_export *e, const char *text);
void l_export_int (l_export *e, int64_t value);
void l_export_json (l_export *e, pf_bytes text);

/* Nanoseconds as milliseconds, to the last digit. */
void l_export_ms (l_export *e, int64_t ns);

/* A text in which a byte that the format has a use for is another one:
   pairs[0] stands for pairs[1], pairs[2] for pairs[3], ...; what is no UTF-8
   becomes U+FFFD, control characters blanks. */
void l_export_replaced (l_export *e, pf_bytes text, const char *pairs);

/* The text of an option at `options_arg`, or `fallback`; it stays there. */
const char *l_export_option (lua_State *L, int options_arg, const char *name,
                             const char *fallback);

#endif
