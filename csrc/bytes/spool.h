/*
** spool.h - copies pipes and unpacked gzip data into memory or, if they are
** larger than 1 MiB, to an unlinked temporary file, which can be mapped. Used
** by bytes/map.c, which closes the descriptor or frees the memory of the copy.
*/

#ifndef spool_h
#define spool_h

#include "profio.h"

/* The default of `max_size`: no limit for pipes; for gzip data 64 GiB or 1,000
   times their size, whichever is more. */
#define PF_DEFAULT_MAX_SIZE UINT64_MAX

/* A copy: an unlinked file or memory. The caller closes or frees it. */
typedef struct pf_spooled {
  int fd;          /* -1: none */
  uint8_t *memory; /* NULL: none */
  uint64_t size;   /* bytes of either */
} pf_spooled;

/* Copy what descriptor `from` still gives into `*to`: at most max_size bytes,
   and into a file only as many as its file system has free, less a reserve of
   1 GiB or a sixteenth of it, whichever is less; else PF_ELIMIT. PF_EIO,
   PF_ENOMEM. After a failure there is neither file nor memory. */
pf_status pf_spool_pipe (int from, uint64_t max_size, pf_spooled *to,
                         pf_error *error);

/* Unpack gzip data (one member or several) into `*to`, with the same limits.
   Zeros after the last member are ignored; other bytes there are damage. Data
   that ends early or is damaged gives PF_ETRUNCATED or PF_EFORMAT with the
   offset in the packed bytes; `*to` has then what came before that. If there is
   none, and after any other failure, there is neither file nor memory. */
pf_status pf_spool_gzip (pf_bytes packed, uint64_t max_size, pf_spooled *to,
                         pf_error *error);

#endif
