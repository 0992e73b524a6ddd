/*
** pack.h - gzip on the way out.
*/

#ifndef pack_h
#define pack_h

#include "bytes/sink.h"

/* Put bytes into a sink as one gzip member. It names no file and no time, so
   equal bytes give equal members. PF_ENOMEM, or the sink's failure. */
pf_status pf_put_gzip (pf_sink *sink, pf_bytes bytes, pf_error *error);

#endif
