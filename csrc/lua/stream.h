/*
** stream.h - what stream.c and emitter.c share.
*/

#ifndef lua_stream_h
#define lua_stream_h

#include "bytes/sink.h"
#include "lua/writer.h"
#include "model/writer.h"

#define L_STREAM         "profio.stream"
#define L_CLAIM          "profio.claim" /* a pf_ring_claim */
#define L_STREAM_OUTPUTS PF_RING_FILES

/* A file that is written, or one after the other of a row. */
typedef struct l_stream_file {
  pf_sink sink;     /* first: a sink that is cut is one of ours */
  char *prefix;     /* of a row: its files' path without their numbers */
  uint64_t number;  /* of this one */
  char *created;    /* while the stream is opened: the path of a new file */
  bool is_in_place; /* no regular file: it is not cut */
  bool sync;        /* files and their names go onto the disk */
} l_stream_file;

/* A writer through a ring. User value 1 pins the dictionary and the roles of
   outputs; 2 is the label of messages. */
typedef struct l_stream {
  pf_writer *writer; /* NULL: closed */
  const pf_format *format;
  pf_dictionary *dictionary;
  l_stream_file outputs[L_STREAM_OUTPUTS]; /* the first is the main one */
  size_t noutputs;
  bool is_pipe;        /* the main descriptor is standard output */
  bool sync;           /* they go onto the disk */
  pf_encoder *checker; /* gets each row that is to be checked, */
  pf_sink null_sinks[L_STREAM_OUTPUTS]; /* and writes it to null_sinks */
  pf_batch row;                         /* one row of a table */
  size_t row_table;
} l_stream;

/* Open the file at `path` for writing without cutting it: that is done when
   everything else has succeeded. What is no regular file is written as it is. */
pf_status l_stream_file_open (l_stream_file *output, const char *path,
                              pf_error *error);

/* Make an output whose path ends in .000001 the first of numbered files. The last
   one is removed at the end of the writing when it got nothing. */
pf_status l_stream_file_number (l_stream_file *output, const char *path,
                                pf_error *error);

/* Cut a file that has been opened to a length, behind which it is written. */
pf_status l_stream_file_resume (l_stream_file *output, uint64_t length,
                                pf_error *error);

/* Close the file, but standard output. */
void l_stream_file_close (l_stream_file *output, bool is_pipe);

/* The open stream at `arg`. */
l_stream *l_stream_check (lua_State *L, int arg);

/* nil, message, code for a failure of the stream at `index`. */
int l_stream_failure (lua_State *L, int index, const pf_error *error);

/* The one-row batch for a table. */
pf_batch *l_stream_row (lua_State *L, l_stream *stream, const pf_table *table,
                        size_t number);

/* Put the first row of the batch into the ring; true, false when it was
   dropped, or nil, message, code. */
int l_stream_put (lua_State *L, int index, l_stream *stream, size_t number,
                  const pf_batch *row);

/* stream:emitter(table, columns), emitter.c. */
int l_stream_emitter (lua_State *L);

#endif
