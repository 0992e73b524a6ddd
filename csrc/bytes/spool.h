/*
** spool.h - copies pipes and unpacked gzip data to an unlinked temporary file,
** which can be mapped. Used by bytes/map.c. The caller closes the descriptors
** that are returned.
*/

#ifndef spool_h
#define spool_h

#include "profio.h"

/* The default of `max_size`: no limit for pipes; for gzip data 64 GiB or 1,000
   times their size, whichever is more. */
#define PF_DEFAULT_MAX_SIZE UINT64_MAX

/* Open a new unlinked file in TMPDIR or /tmp. PF_EIO, PF_ENOMEM. */
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
