/*
** header_pprof.h - the attributes of a profile besides its samples: start time,
** duration, sampling period, comments; and units. Used by the encoder, the
** merge and csrc/lua/profile/export_pprof.c; index.c uses the units. Texts are
** names in the dictionary.
**
** Call pprof_header_open first and pprof_header_close at the end, which frees
** the comments; the structure owns nothing else.
*/

#ifndef header_pprof_h
#define header_pprof_h

#include "formats/pprof/put.h"
#include "model/base/id_table.h"

typedef enum pprof_family {
  PPROF_NO_FAMILY, /* a unit that cannot be converted */
  PPROF_BYTES_FAMILY,
  PPROF_TIME_FAMILY
} pprof_family;

/* A unit, and its size in bytes or nanoseconds; 1 without a family. */
typedef struct pprof_unit {
  pprof_family family;
  int64_t size;
} pprof_unit;

/* Returns the unit of a name as Go's pprof does: "ms", "Milliseconds", "kb". */
pprof_unit pprof_unit_of (pf_bytes name);

typedef struct pprof_header {
  int64_t time_nanos, duration_nanos, period; /* in ns; the period in its
                                                 unit; 0: unknown */
  pprof_value_type period_type;               /* PF_NO_NAME: unknown */
  uint32_t default_type, doc_url, drop_frames,
      keep_frames;      /* PF_NO_NAME: none */
  pf_id_table comments; /* its words are the comments */
} pprof_header;

/* Initialise empty attributes. They may be closed in any state. */
void pprof_header_open (pprof_header *header);
void pprof_header_close (pprof_header *header);

/* Add a comment unless it is known. Returns false if out of memory. */
bool pprof_header_comment (pprof_header *header, uint32_t comment);

/*
** Merge the attributes of another file, by the rules of Go's pprof: the
** earliest time, the sum of the durations, the longest period in the finer of
** both units, each comment once, the first default type and documentation URL,
** drop and keep frames of the first file (`is_first`). False: out of memory.
*/
bool pprof_header_merge (pprof_header *header, const pprof_header *more,
                         bool is_first, const pf_dictionary *dictionary);

/* Write the attributes. These fields follow the sample types. */
void pprof_put_header (pf_sink *sink, pprof_strings *strings,
                       const pprof_header *header);

#endif
