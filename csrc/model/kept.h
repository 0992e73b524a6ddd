/*
** kept.h - what a writer is asked for, as bytes: kept in its ring, so that what
** a killed one leaves can be written as it would have been.
**
**   name of the format, NUL
**   for each file beside the main one: its role, NUL; then NUL
**   for each option: name, NUL; 'i' and 8 bytes, or 't', 2 bytes n and n bytes
*/

#ifndef kept_h
#define kept_h

#include "bytes/ring.h"
#include "bytes/sink.h"

#define PF_KEPT_OPTIONS 32 /* that are read back */
#define PF_KEPT_ROLES   (PF_RING_FILES - 1)

/* What was asked for. The texts of one that is read back lie in its bytes. */
typedef struct pf_request {
  const char *format;
  const char *roles[PF_KEPT_ROLES];
  size_t nroles;
  const pf_option *options;
  size_t noptions;
  pf_option read[PF_KEPT_OPTIONS]; /* where options that are read back lie */
} pf_request;

/* Write it into `room` bytes; how many are used, or 0 when it does not fit. */
size_t pf_keep (uint8_t *to, size_t room, const pf_request *request);

/* Read it back. False: it is broken. */
bool pf_kept (pf_bytes kept, pf_request *request);

#endif
