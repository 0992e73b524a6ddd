/*
** detect_gmon.h - functions of the detection, called by gmon_detect (first) and
** open_gmon.c (gmon_detect_counters).
*/

#ifndef detect_gmon_h
#define detect_gmon_h

#include "formats/gmon/gmon.h"

/* The caller's options. Unset ones are 0 or -1. */
typedef struct gmon_options {
  int dialect;        /* a gmon_dialect, or -1 */
  unsigned width;     /* 4, 8, or 0 */
  int order;          /* 0 little, 1 big, or -1 */
  unsigned elf_width; /* of the executable: used only if both widths fit */
  int elf_order;
} gmon_options;

/* width.c: detect version, byte order and width of a file that begins with
   "gmon" and has a complete header. Returns a failure or the result of
   pf_warn. */
pf_status gmon_detect_gnu (pf_trace *trace, const gmon_options *options,
                           gmon_layout *layout, pf_error *error);

/* counters.c: add counter types and the option rate to a layout. */
pf_status gmon_detect_counters (pf_trace *trace, gmon_layout *layout,
                                pf_error *error);

#endif
