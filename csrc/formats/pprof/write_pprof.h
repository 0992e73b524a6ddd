/*
** write_pprof.h - writes contexts as a profile of Go's tools. Used by
** encode_pprof.c and csrc/lua/profile/export_pprof.c. The caller owns all
** arguments. Arrays that the functions need are freed before they return.
*/

#ifndef write_pprof_h
#define write_pprof_h

#include "bytes/sink.h"
#include "formats/pprof/header_pprof.h"
#include "model/contexts/contexts.h"

/* The attributes that contexts do not have. */
typedef struct pprof_attributes {
  const pprof_header *header;
  const pprof_mapping *mapping; /* of all frames, strings are names in the
                                   dictionary; NULL: unknown */
} pprof_attributes;

/*
** Write a profile without compression. Samples are the contexts with weights,
** in the order of model/contexts/tree_order.h, so that equal profiles give
** equal bytes. Frames named like "0x4010" become addresses. The unit ns is
** written as nanoseconds. Metrics keep their order if a file states the default
** one; else "time" comes last, because pprof shows the last one. Returns
** PF_ENOMEM or the failure of the sink.
*/
pf_status pf_pprof_write (const pf_contexts *contexts,
                          const pprof_attributes *attributes, pf_sink *sink,
                          pf_error *error);

/* The same with gzip compression. */
pf_status pf_pprof_write_gzip (const pf_contexts *contexts,
                               const pprof_attributes *attributes,
                               pf_sink *sink, pf_error *error);

#endif
