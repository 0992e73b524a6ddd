/*
** pprof_header.h - what a profile states beside its samples: when it was recorded, for
** how long, the period of sampling, comments. Texts are names of the dictionary.
*/

#ifndef pprof_head_h
#define pprof_head_h

#include "formats/pprof/pprof_put.h"
#include "model/interned.h"

typedef enum pprof_family {
  PPROF_NO_FAMILY, /* a unit that converts into no other one */
  PPROF_BYTES_FAMILY,
  PPROF_TIME_FAMILY
} pprof_family;

/* A unit, and how many bytes or nanoseconds it is; 1 without a family. */
typedef struct pprof_unit {
  pprof_family family;
  int64_t size;
} pprof_unit;

/* "ms", "Milliseconds", "kb": as Go's pprof reads them. */
pprof_unit pprof_unit_of (pf_bytes name);

typedef struct pprof_header {
  int64_t time_nanos, duration_nanos, period; /* 0: not known */
  pprof_value_type period_type;               /* PF_NO_NAME: not known */
  uint32_t default_type, doc_url, drop_frames,
      keep_frames; /* PF_NO_NAME: none */
  uint32_t *comments;
  size_t comment_capacity;
  pf_interned comment_set; /* its count is that of the comments */
} pprof_header;

/* An empty header; it may be closed in any state. */
void pprof_header_open (pprof_header *header);
void pprof_header_close (pprof_header *header);

/* Add a comment that is not there yet. False when out of memory. */
bool pprof_header_comment (pprof_header *header, uint32_t comment);

/*
** Add a header to that of the files before it, as Go's pprof does: the earliest
** time, the sum of durations, the longest period in the finer of the two units,
** all comments, each once; the first stated default type and address of
** documents; frames to be dropped and kept as the first file (`is_first`) has
** them. False when out of memory.
*/
bool pprof_header_merge (pprof_header *header, const pprof_header *more,
                         bool is_first, const pf_dictionary *dictionary);

/* Write it. The fields stand behind the sample types. */
void pprof_put_header (pf_sink *sink, pprof_strings *strings,
                       const pprof_header *header);

#endif
