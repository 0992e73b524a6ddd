/*
** stream.h - writers through a ring, and their output files. Shared by
** stream.c, stream_file.c, emitter.c, recover.c (claims) and the recorder.
**
** Order: l_stream_file_open, l_stream_file_number for numbered files,
** l_stream_file_resume (for a new recording after the writer was opened),
** writing by the sink, l_stream_file_close. The stream owns the writer and the
** files.
*/

#ifndef lua_stream_h
#define lua_stream_h

#include "bytes/sink.h"
#include "lua/writer/written.h"
#include "model/writer/writer.h"

#define L_STREAM         "profio.stream"
#define L_CLAIM          "profio.claim" /* a pf_ring_claim */
#define L_STREAM_OUTPUTS PF_RING_FILES

/* An output file, or the current one of a sequence of numbered files. */
typedef struct l_stream_file {
  pf_sink sink;     /* first member: cut and end callbacks get its address */
  char *prefix;     /* numbered files: the path before the number, else NULL */
  uint64_t number;  /* of the current numbered file */
  char *created;    /* path if the file is new, until the stream is open */
  bool is_in_place; /* standard output, or not a regular file: never
                       truncated */
  bool sync;        /* fsync files and directory entries */
} l_stream_file;

/* User value 1 pins the dictionary and roles; 2 is the label of messages. */
typedef struct l_stream {
  pf_writer *writer; /* owned; NULL: closed */
  const pf_format *format;
  pf_dictionary *dictionary;               /* pinned */
  l_stream_file outputs[L_STREAM_OUTPUTS]; /* main file and side files */
  size_t noutputs;
  bool is_pipe;        /* the main output is standard output */
  bool sync;           /* fsync */
  pf_encoder *checker; /* owned; checks rows before they are recorded */
  pf_sink null_sinks[L_STREAM_OUTPUTS]; /* of the checker, into /dev/null */
  pf_batch row;                         /* a row of table row_table */
  size_t row_table;
} l_stream;

/* Opens the file at `path` for writing without truncating it and locks it.
   Files that are not regular are written in place. PF_EIO, PF_ENOMEM; close it
   also after a failure. */
pf_status l_stream_file_open (l_stream_file *output, const char *path,
                              pf_error *error);

/* Makes a file whose path ends in .000001 the first of a sequence of numbered
   files. An empty last one is removed at the end. */
pf_status l_stream_file_number (l_stream_file *output, const char *path,
                                pf_error *error);

/* Truncates an opened file to `length` bytes; writing continues there. */
pf_status l_stream_file_resume (l_stream_file *output, uint64_t length,
                                pf_error *error);

/* Closes the file unless it is standard output (`is_pipe`). */
void l_stream_file_close (l_stream_file *output, bool is_pipe);

/* Returns the stream at `arg`; raises when closed or of a parent process. */
l_stream *l_stream_check (lua_State *L, int arg);

/* Writes the first row of the batch into the ring; pushes true, false when it
   was dropped, or nil, message, code; returns the number of values. */
int l_stream_put (lua_State *L, int index, l_stream *stream, size_t number,
                  const pf_batch *row);

/* emitter.c: stream:emitter(table, columns). */
int l_stream_emitter (lua_State *L);

#endif
