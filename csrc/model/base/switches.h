/*
** switches.h - switches for the code that exists only for speed. Used by the
** files of that code in all layers; nothing is allocated. Each path has a line
** in CONTRIBUTING.md, with what it brings; the general code gives the same
** results. `make bench WITHOUT=name` compares a build in which PF_FAST(name) is
** false.
*/

#ifndef switches_h
#define switches_h

enum {
  PF_FAST_NONE,
  PF_FAST_EVENTS,  /* look up slots of events: kernels/calls/stack.h */
  PF_FAST_CALLS,   /* rows of calls at once: xpp/operations/unfilter_fast.c */
  PF_FAST_CHUNKS,  /* valid chunks of counts: formats/dcpi/read_dcpi.c */
  PF_FAST_DIGITS,  /* eight digits at once: formats/dbf/digits.c */
  PF_FAST_FILES,   /* files of one program: formats/gmon/sum_gmon.c */
  PF_FAST_FIXED,   /* digits without printf: text/number_text.c */
  PF_FAST_KNOWN,   /* names by their bytes: formats/xpp/name_cache.c */
  PF_FAST_RECORDS, /* records in one pass: formats/winidea/decode.c */
  PF_FAST_ROWS,    /* rows of numbers: formats/winidea/text_timeline.c */
  PF_FAST_SHAPES,  /* objects like the one before: model/rows/json_members.c */
  PF_FAST_STRINGS, /* strings that are pushed again: lua/reader.c */
  PF_FAST_MISSES   /* look-ups whose cache misses overlap, or are fewer */
};

#ifndef PF_WITHOUT
#define PF_WITHOUT PF_FAST_NONE
#endif

#define PF_FAST(path) (PF_WITHOUT != PF_FAST_##path)

/* Before a function without a loop that only prefetches. GCC takes it for one
   without effect, and drops its calls unless they are inlined at once. */
#define PF_PREFETCHER static inline __attribute__((always_inline)) void

#endif
