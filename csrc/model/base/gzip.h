/*
** gzip.h - gzip on the way out, packed while it is written.
*/

#ifndef gzip_h
#define gzip_h

#include "bytes/sink.h"

typedef struct pf_gzip pf_gzip;

/*
** One gzip member. What is put into pf_gzip_sink is packed in a second thread
** meanwhile; pf_gzip_finish packs what is left and puts the member into `to`.
** It names no file and no time, and is cut at places that depend on nothing but
** the size: equal bytes give equal members, however many threads were to be
** had. NULL when out of memory.
*/
pf_gzip *pf_gzip_open (void);
pf_sink *pf_gzip_sink (pf_gzip *gzip);

/* PF_ENOMEM, or the failure of `to`. */
pf_status pf_gzip_finish (pf_gzip *gzip, pf_sink *to, pf_error *error);

/* NULL is fine. */
void pf_gzip_close (pf_gzip *gzip);

#endif
