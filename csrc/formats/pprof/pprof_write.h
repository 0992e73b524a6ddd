/*
** pprof_write.h - contexts as a profile of Go's tools.
*/

#ifndef pprof_write_h
#define pprof_write_h

#include "bytes/sink.h"
#include "formats/pprof/pprof_header.h"
#include "model/contexts.h"

/* What stands in a profile beside its contexts. */
typedef struct pprof_attributes {
  const pprof_header *header;
  const pprof_mapping *mapping; /* of all frames, with names of the dictionary;
                                   NULL: none is known */
} pprof_attributes;

/*
** Write a profile, not packed. The samples are the contexts that weigh
** something, in the order of model/contexts_order.h, so that equal profiles
** give equal bytes. Frames without a name, "0x4010", become addresses. A metric
** in ns is in nanoseconds. The metrics keep their order where a file states which
** of them is shown first; else "time" stands last, where pprof looks for that.
** PF_ENOMEM, or the sink's failure.
*/
pf_status pf_pprof_write (const pf_contexts *contexts,
                          const pprof_attributes *attributes, pf_sink *sink,
                          pf_error *error);

/* The same, packed. */
pf_status pf_pprof_write_gzip (const pf_contexts *contexts,
                               const pprof_attributes *attributes,
                               pf_sink *sink, pf_error *error);

#endif
