/*
** run_rows.h - profiles as rows of ClickHouse, in the format RowBinary: put_rows.c
** encodes the rows of a run, sum_rows.c decodes the sums of many runs. Used by
** run_row_methods.c. The caller owns the contexts.
**
** In RowBinary a row is the values of its columns: integers are little-endian, a
** String or Array begins with its size as a varint. A hash is two columns, hi and
** lo: its first and last 8 bytes, big-endian numbers. The columns are
**
**   cells    metric Int64, run FixedString(16), attempt Int64, and four arrays of
**            one size: hi, lo UInt64 (the stack), high Int32, low UInt32 (its
**            weight: high * 2^32 + low)
**   frames   hi, lo UInt64, name String, has_file UInt8, file String, line Int64
**   stacks   hi, lo, parent_hi, parent_lo, frame_hi, frame_lo UInt64
**
** A metric is the last 8 bytes of the hash of its name and unit. In the cells of
** the first metric are also the callers that have no weight, with 0: so the
** stacks in the cells of a run are all that its profile has.
*/

#ifndef run_rows_h
#define run_rows_h

#include "model/base/intern_table.h"
#include "model/contexts/contexts.h"
#include "store/content_hash.h"

/* The tables that have rows of profiles. */
enum {
  PF_CELL_ROWS,
  PF_FRAME_ROWS,
  PF_STACK_ROWS,
  PF_ROW_TABLES
};

/* Bytes that are collected; owned. */
typedef struct pf_row_bytes {
  uint8_t *at;
  size_t size, capacity;
} pf_row_bytes;

/* A row of the dictionary that was collected before: of a frame its hash and a
   hash with the seed of the table; of a stack its hash, that of its parent, and
   that of its frame, in which the first half is that with the seed. So different
   contents with one hash are all sent, and found when they are read. */
typedef struct pf_sent_row {
  pf_hash hash, first, second;
} pf_sent_row;

/* Rows for several shards that are to be inserted. Begins as zeros. */
typedef struct pf_run_rows {
  pf_row_bytes *tables; /* by shard and table; owned */
  size_t nshards;
  pf_intern_table table; /* of the rows below */
  pf_sent_row *sent;     /* owned */
  size_t sent_capacity;
} pf_run_rows;

/* Prepare for `nshards` shards. False when out of memory. */
bool pf_run_rows_open (pf_run_rows *rows, size_t nshards);
void pf_run_rows_close (pf_run_rows *rows);

/*
** Collect the rows of a run: its cells for `shard`, and the frames and stacks
** that were not collected before, each for the shard of its hash. Sets *count to
** the number of rows of cells. After PF_ENOMEM pf_run_rows_forget must be called.
*/
pf_status pf_run_rows_put (pf_run_rows *rows, size_t shard, const pf_hash *run,
                           int64_t attempt, const pf_contexts *contexts,
                           size_t *count, pf_error *error);

/* Forget all rows, also those that were collected before. */
void pf_run_rows_forget (pf_run_rows *rows);


/* A stack with the sums of its weights, and a frame. */
typedef struct pf_summed_stack {
  pf_hash hash, parent;
  uint32_t frame; /* index of a frame, or PF_NOT_INTERNED: not read yet */
  uint32_t node;  /* of the contexts, or PF_NO_CONTEXT */
} pf_summed_stack;

typedef struct pf_summed_frame {
  pf_hash hash;
  uint32_t area; /* or PF_NO_AREA: not read yet */
} pf_summed_frame;

__extension__ typedef __int128 pf_row_sum;

/* Sums that are read. `contexts` is borrowed, all arrays are owned. */
typedef struct pf_run_sums {
  pf_contexts *contexts;
  pf_intern_table stack_table, frame_table;
  pf_summed_stack *stacks;
  size_t stack_capacity;
  pf_summed_frame *frames;
  size_t frame_capacity;
  pf_row_sum *weights; /* by stack and metric */
  size_t weight_capacity;
} pf_run_sums;

/* Prepare sums for contexts without nodes. */
void pf_run_sums_open (pf_run_sums *sums, pf_contexts *contexts);
void pf_run_sums_close (pf_run_sums *sums);

/* Whether each row of such a query has a hi other than 0. Queries write 0 when
   stacks have one lo, but different hi. */
bool pf_run_sums_are_clear (pf_bytes rows);

/* Add rows of a query: hi, lo UInt64, and the sums of low (UInt64) and high
   (Int64) of one metric. PF_EFORMAT if they are damaged, PF_ENOMEM. */
pf_status pf_run_sums_add (pf_run_sums *sums, size_t metric, pf_bytes rows,
                           pf_error *error);

/* Take rows of the table stacks, and of the table frames, in any order, also
   several times. PF_EFORMAT if a row is damaged, does not have the hash of its
   content, or if two contents have one hash; PF_ENOMEM. */
pf_status pf_run_sums_take_stacks (pf_run_sums *sums, pf_bytes rows,
                                   pf_error *error);
pf_status pf_run_sums_take_frames (pf_run_sums *sums, pf_bytes rows,
                                   pf_error *error);

/* Add nodes and weights to the contexts, when all rows were taken. A sum beyond
   the limits of int64_t saturates (has_overflowed). PF_EFORMAT if a stack or
   frame is missing, PF_ENOMEM. */
pf_status pf_run_sums_finish (pf_run_sums *sums, pf_error *error);

#endif
