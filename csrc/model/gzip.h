/*
** gzip.h - gzip on the way out.
*/

#ifndef gzip_h
#define gzip_h

#include "bytes/sink.h"

/*
** Put bytes into a sink as one gzip member. It names no file and no time, and
** is cut at places that depend on nothing but the size: equal bytes give equal
** members, however many threads were to be had. PF_ENOMEM, or the sink's
** failure.
*/
pf_status pf_put_gzip (pf_sink *sink, pf_bytes bytes, pf_error *error);

#endif
