/*
** cpuprofile.h - profiles of V8 in JSON: .cpuprofile of Node.js, Chrome and VS
** Code, and .heapprofile. Source: the Chrome DevTools Protocol, "Profiler" and
** "HeapProfiler", and files of Node.js.
**
**   {"nodes": [                            a tree of functions
**     {"id": 1, "callFrame": {"functionName": "f", "url": "a.js",
**        "lineNumber": 9, "columnNumber": 1},   from 0; -1: unknown
**      "hitCount": 3,                      samples
**      "positionTicks": [{"line": 12, "ticks": 2}],  of these, from 1
**      "children": [2, 3]}],
**    "startTime": 5, "endTime": 99,        microseconds
**    "samples": [1, 2],                    ids of nodes
**    "timeDeltas": [0, 7]}                 from one sample to the next
**
**   {"head": {"id": 1, "callFrame": ..., "selfSize": 64, "children": [
**      {...}]},                            the nodes themselves
**    "samples": [{"size": 64, "nodeId": 1, "ordinal": 7}]}
**
** A sample lasts until the next one, and the last until the end.
**
**   open_cpuprofile.c   score, members, tables
**   nodes_cpuprofile.c  the tree, and its functions
**   rows_cpuprofile.c   the tables samples, stacks and raw, and events, if the
**                       option timeline is true
*/

#ifndef cpuprofile_h
#define cpuprofile_h

#include "bytes/text.h"
#include "model/base/id_table.h"
#include "model/dictionary/json_names.h"
#include "model/dictionary/stacks.h"
#include "model/rows/put_values.h"
#include "model/rows/raw_text.h"
#include "model/timeline/sampled_calls.h"
#include "model/rows/table_reader.h"

#define V8_SAMPLES_LIST(X, T)                         \
  X(T, time, INT, "time, ns")                         \
  X(T, duration, INT, "until the next sample, in ns") \
  X(T, stack, STACK, "the functions")                 \
  X(T, node, INT, "id of the node, as the file has it")
PF_COLUMN_INDEXES(V8_SAMPLES);

#define V8_ALLOCATIONS_LIST(X, T)                             \
  X(T, ordinal, INT, "the order in which samples were taken") \
  X(T, size, INT, "in bytes")                                 \
  X(T, stack, STACK, "the functions")                         \
  X(T, node, INT, "id of the node, as the file has it")
PF_COLUMN_INDEXES(V8_ALLOCATIONS);

#define V8_STACKS_LIST(X, T)                                                 \
  X(T, stack, STACK, "the functions; the innermost with the line, if known") \
  X(T, samples, INT, "how many have it")                                     \
  X(T, amount, INT, "")
PF_COLUMN_INDEXES(V8_STACKS);

#define V8_NONE UINT32_MAX

/* A node of the tree. */
typedef struct v8_node {
  uint64_t id;
  uint32_t name, file;  /* names */
  int64_t line, column; /* of its function, from 1; 0: unknown */
  uint32_t parent;      /* a node, or V8_NONE */
  int64_t parent_id;    /* as some writers state it; else -1 */
  uint32_t area, stack; /* when the tree is complete; of the root no stack */
  int64_t hits, size;   /* as the file states */
  int64_t samples;      /* that are in the file, */
  int64_t amount;       /* and their time or size */
  pf_bytes children;    /* of .cpuprofile: the array of ids */
  pf_bytes ticks;       /* the array of lines */
} v8_node;

/* The state of a trace. */
typedef struct v8_file {
  pf_bytes bytes;
  bool is_heap;
  bool is_cut;                            /* the text ends inside */
  size_t nodes_at, samples_at, deltas_at; /* brackets; 0: not there */
  int64_t start, end;                     /* ns; */
  bool has_end;                           /* the end is known */
  v8_node *nodes;
  size_t nnodes, capacity;
  pf_id_table ids;    /* of nodes */
  bool is_summed;     /* samples and amounts of nodes are known */
  pf_field stacks[3]; /* with the unit of the amount */
  pf_table tables[4];
} v8_file;

/* A sample. */
typedef struct v8_sample {
  int64_t time, duration; /* of the heap: its order, its size */
  uint32_t node;          /* an index, or V8_NONE */
  uint64_t id;
} v8_sample;

/* A position in the samples. */
typedef struct v8_cursor {
  pf_trace *trace;
  const uint8_t *sample, *delta; /* the next ones; NULL: there are none */
  int64_t time, latest;          /* of the next sample; of those before */
  bool has_time;
} v8_cursor;

/* nodes_cpuprofile.c: reads the nodes, and makes their functions and stacks. */
pf_status v8_read_nodes (pf_trace *trace, pf_error *error);

/* open_cpuprofile.c: warns of what is at a position, or at PF_NO_OFFSET. */
pf_status v8_warn (pf_trace *trace, pf_note_kind kind, const char *code,
                   const uint8_t *at, const char *what, pf_error *error);

/* Reads the member of the outer object whose key is at `p`; its value begins at
   *begin. Returns the position after it; NULL: it is not complete, and *begin
   may be NULL. */
const uint8_t *v8_next_member (const uint8_t *p, const uint8_t *end,
                               pf_json *key, const uint8_t **begin,
                               pf_json *value);

/* rows_cpuprofile.c: opens a table. */
pf_status v8_open_table (pf_trace *trace, const pf_table *table,
                         pf_reader **reader, pf_error *error);

#endif
