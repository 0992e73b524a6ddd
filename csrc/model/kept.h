/*
** kept.h - what a writer is asked for, as bytes: kept in its ring, so that what
** a killed one leaves can be written as it would have been.
**
**   name of the format, NUL
**   for each option: name, NUL; 'i' and 8 bytes, or 't', 2 bytes n and n bytes
*/

#ifndef kept_h
#define kept_h

#include "profio.h"

#define PF_KEPT_OPTIONS 32 /* that are read back */

/* Write it into `room` bytes; how many are used, or 0 when it does not fit. */
size_t pf_keep (uint8_t *to, size_t room, const char *format,
                const pf_option *options, size_t noptions);

/* Read it back: the names lie in `kept`, which ends in a NUL somewhere behind
   each of them. False: it is broken. */
bool pf_kept (pf_bytes kept, const char **format,
              pf_option options[PF_KEPT_OPTIONS], size_t *noptions);

#endif
