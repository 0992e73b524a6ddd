/*
** gzip.h - a sink that compresses what is written to it into a gzip member.
** Used by encode_pprof.c and write_pprof.c. Order of calls: open, write to the
** sink, finish, close, which frees the member, its sink and its blocks.
*/

#ifndef gzip_h
#define gzip_h

#include "bytes/sink.h"

typedef struct pf_gzip pf_gzip;

/*
** Open a member; NULL when out of memory. The caller closes it.
**
** The sink belongs to the member. A second thread compresses full blocks while
** the caller writes; without a thread, or if many blocks wait, the caller does.
** The header has no file name and no time, and block boundaries depend only on
** the size: equal input gives equal members, for any number of threads.
*/
pf_gzip *pf_gzip_open (void);
pf_sink *pf_gzip_sink (pf_gzip *gzip);

/* Compress the rest and write the whole member to `to`. PF_ENOMEM, or the error
   of `to`, with a message. */
pf_status pf_gzip_finish (pf_gzip *gzip, pf_sink *to, pf_error *error);

/* Free the member; NULL is allowed. */
void pf_gzip_close (pf_gzip *gzip);

#endif
