/*
** switches.h - the code that exists only for speed. Each path has a line in
** CONTRIBUTING.md, with what it brings; the general code gives the same results.
** `make bench WITHOUT=name` compares a build in which PF_FAST(name) is false.
*/

#ifndef switches_h
#define switches_h

enum {
  PF_FAST_NONE,
  PF_FAST_ARCS,    /* prefetch callees and arcs: model/graph/caller_index.c */
  PF_FAST_CHUNKS,  /* valid chunks of counts: formats/dcpi/read_dcpi.c */
  PF_FAST_DIGITS,  /* eight digits at once: formats/dbf/fast_int.c */
  PF_FAST_ENTRIES, /* prefetch the call graph: kernels/listing/text_rows.c */
  PF_FAST_FIXED,   /* digits without printf: text/number_text.c */
  PF_FAST_NAMES,   /* prefetch names of rows: text/listing_text.c */
  PF_FAST_RANKS,   /* prefetch names to sort: kernels/listing/ranking.c */
  PF_FAST_RECORDS, /* columns in one pass: formats/winidea/decode_fast.c */
  PF_FAST_ROWS,    /* rows of numbers: formats/winidea/text_timeline.c */
  PF_FAST_SLOTS    /* prefetch slots of names: model/dictionary/names.c */
};

#ifndef PF_WITHOUT
#define PF_WITHOUT PF_FAST_NONE
#endif

#define PF_FAST(path) (PF_WITHOUT != PF_FAST_##path)

#endif
