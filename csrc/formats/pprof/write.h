/*
** write.h - contexts as a profile of Go's tools.
*/

#ifndef pprof_write_h
#define pprof_write_h

#include "bytes/sink.h"
#include "model/contexts.h"

/* What stands in a profile beside its contexts. */
typedef struct pprof_facts {
  int64_t time_nanos, duration_nanos, period; /* 0: not known */
  const char *const *comments;                /* NULL at the end; or NULL */
} pprof_facts;

/*
** Write a profile, not packed. The samples are the contexts that weigh
** something, in the order of model/contexts_order.h, so that equal profiles
** give equal bytes. A metric in ns is in nanoseconds; "time" stands last,
** where pprof looks for what it shows first. PF_ENOMEM, or the sink's failure.
*/
pf_status pf_pprof_write (const pf_contexts *contexts, const pprof_facts *facts,
                          pf_sink *sink, pf_error *error);

/* The same, packed. */
pf_status pf_pprof_write_packed (const pf_contexts *contexts,
                                 const pprof_facts *facts, pf_sink *sink,
                                 pf_error *error);

#endif
