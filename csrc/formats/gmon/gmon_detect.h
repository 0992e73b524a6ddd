/*
** gmon_detect.h - what detect.c and measure.c share: the caller's wishes.
*/

#ifndef gmon_detect_h
#define gmon_detect_h

#include "formats/gmon/gmon.h"

/* What the caller's options leave open is 0 or -1. */
typedef struct gmon_options {
  int dialect;        /* a gmon_dialect, or -1 */
  unsigned width;     /* 4, 8, or 0 */
  int order;          /* 0 little, 1 big, or -1 */
  unsigned elf_width; /* the executable's: decides only between equals */
  int elf_order;
} gmon_options;

/* measure.c: find version, order and width of a file that begins with "gmon"
   and has a whole header. */
pf_status gmon_detect_gnu (pf_trace *trace, const gmon_options *options,
                           gmon_layout *layout, pf_error *error);

/* settle.c: add to a layout what headers leave unsaid, and the caller's
   rate. */
pf_status gmon_detect_counters (pf_trace *trace, gmon_layout *layout,
                                pf_error *error);

#endif
