/*
** stream.h - what stream.c and emitter.c share.
*/

#ifndef lua_stream_h
#define lua_stream_h

#include "bytes/sink.h"
#include "lua/writer.h"
#include "model/writer.h"

#define L_STREAM         "profio.stream"
#define L_STREAM_OUTPUTS 4

/* A file that is written, or one after the other of a row. */
typedef struct l_outlet {
  pf_sink sink;    /* first: a sink that is cut is one of ours */
  char *row;       /* of a row: its files' path without their numbers */
  uint64_t number; /* of this one */
} l_outlet;

/* A writer through a ring. User value 1 pins the dictionary and the roles of
   outputs; 2 is the label of messages. */
typedef struct l_stream {
  pf_writer *writer; /* NULL: closed */
  const pf_format *format;
  pf_dictionary *dictionary;
  l_outlet outputs[L_STREAM_OUTPUTS]; /* the first is the main one */
  size_t noutputs;
  bool is_pipe;        /* the main descriptor is standard output */
  bool is_copy;        /* the files are another process's */
  pf_encoder *checker; /* gets each row that is to be checked, */
  pf_sink nowhere;     /* and writes it to nowhere */
  pf_batch row;        /* one row of a table */
  size_t row_table;
} l_stream;

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
