/*
** spool.h - bytes that cannot be mapped where they are: pipes and gzip data
** go to an unlinked file first.
*/

#ifndef spool_h
#define spool_h

#include "profio.h"

/* No `max_size` is given. Gzip data may then unpack to 64 GiB or to 1,000 times
   their size, whichever is more. */
#define PF_DEFAULT_MAX_SIZE UINT64_MAX

/* A new file without a name, in TMPDIR or /tmp. */
pf_status pf_spool_file (int *fd, pf_error *error);

/* Copy what descriptor `from` still gives into a new unlinked file `*to`: at
   most max_size bytes, and always fewer than its file system has free, less a
   reserve of 1 GiB or a sixteenth of it; else PF_ELIMIT. */
pf_status pf_spool_pipe (int from, uint64_t max_size, int *to, pf_error *error);

/* Unpack gzip data (one member or several) into a new unlinked file, with the
   same limits. Data
   that ends early or is damaged gives PF_ETRUNCATED or PF_EFORMAT with the
   offset in the packed bytes; `*to` has then what came before that, or is -1,
   as after any other failure. */
pf_status pf_spool_gzip (pf_bytes packed, uint64_t max_size, int *to,
                         pf_error *error);

#endif
