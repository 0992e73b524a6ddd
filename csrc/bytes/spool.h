/*
** spool.h - bytes that cannot be mapped where they are: pipes and gzip data
** go to an unlinked file first.
*/

#ifndef spool_h
#define spool_h

#include "profio.h"

/* A new file without a name, in TMPDIR or /tmp. */
pf_status pf_spool_file (int *fd, pf_error *error);

/* Copy what descriptor `from` still gives into a new unlinked file `*to`:
   at most max_size bytes, else PF_ELIMIT. */
pf_status pf_spool_pipe (int from, uint64_t max_size, int *to, pf_error *error);

/* Unpack gzip data (one member or several) into a new unlinked file. Data
   that ends early or is damaged gives PF_ETRUNCATED or PF_EFORMAT with the
   offset in the packed bytes; `*to` has then what came before that, or is -1,
   as after any other failure. */
pf_status pf_spool_gzip (pf_bytes packed, uint64_t max_size, int *to,
                         pf_error *error);

#endif
