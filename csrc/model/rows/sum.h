/*
** sum.h - the sum of many files, which are added without being opened as
** traces. Opened by pf_format.sum for lua/file_sum.c, which owns it and calls
** `close`. pf_format.sum sets the sum to NULL if files like `first` cannot be
** added. It can only fail with PF_ENOMEM.
*/

#ifndef sum_h
#define sum_h

#include "bytes/sink.h"
#include "profio.h"

struct pf_sum {
  /* Add the bytes of a file. PF_MORE: they are added; opened as a trace, the
     file would have the properties of the first one and no warnings. PF_END:
     they are not added, as the file is not like the first one. PF_ENOMEM: a
     part of them may have been added. */
  pf_status (*add)(pf_sum *self, pf_bytes bytes, pf_error *error);
  /* Open an empty sum for the same files; *other becomes NULL after
     PF_ENOMEM. */
  pf_status (*open_like)(const pf_sum *self, pf_sum **other, pf_error *error);
  /* Add another sum, of files after those of this one. PF_ENOMEM: a part of it
     may have been added. */
  pf_status (*merge)(pf_sum *self, const pf_sum *other, pf_error *error);
  /* Write the sum as a file. The sink keeps a failure. */
  void (*write)(pf_sum *self, pf_sink *sink);
  void (*close)(pf_sum *self); /* free itself */
  uint64_t arcs;               /* in all added files */
};

#endif
