/*
** run_rows.h - profiles as rows of ClickHouse, in the format RowBinary:
** put_rows.c encodes the rows of a run, sum_rows.c decodes the sums of many
** runs, group_rows.c those of functions. Used by run_row_methods.c. The caller
** owns the contexts.
**
** In RowBinary a row is the values of its columns: integers are little-endian,
** a String or Array begins with its size as a varint. A hash is two columns, hi
** and lo: its first and last 8 bytes, big-endian numbers. The columns are
**
**   cells    metric Int64, run FixedString(16), attempt, month Int64, and four
**            arrays of one size: hi UInt16, lo UInt64 (the stack), high Int32,
**            low UInt32 (its weight: high * 2^32 + low)
**   frames   hi, lo UInt64, name String, has_file UInt8, file String, line
**            Int64
**   stacks   hi, lo, parent_hi, parent_lo, frame_hi, frame_lo UInt64, and
**            callers Array(UInt64): lo of the PF_CALLERS_MAX callers next to
**            the parent, the nearest first
**
** The weight outside of all stacks is a cell whose hi and lo are 0. A metric is
** the last 8 bytes of the hash of its name and unit. Cells have only 80 bits of
** the hash of a stack, its key: the last 16 of hi, and lo. If two stacks have
** the same, both are in the table stacks, and the store is damaged.
*/

#ifndef run_rows_h
#define run_rows_h

#include "bytes/cursor.h"
#include "model/base/id_table.h"
#include "model/base/intern_table.h"
#include "model/base/wide.h"
#include "model/contexts/contexts.h"
#include "store/interning.h"

#define PF_CALLERS_MAX 16
#define PF_KEY_MASK    0xffff /* of hi: the part that cells have */

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

/* Rows for several shards that are to be inserted. Begins as zeros. */
typedef struct pf_run_rows {
  pf_row_bytes *tables; /* by shard and table; owned */
  size_t nshards;
  pf_interning sent; /* frames and stacks that have rows; their ids are 1.
                        Different contents with one hash have a row each, and
                        are found when they are read */
} pf_run_rows;

/* Prepare for `nshards` shards. False when out of memory. */
bool pf_run_rows_open (pf_run_rows *rows, size_t nshards);
void pf_run_rows_close (pf_run_rows *rows);

/*
** Collect the rows of a run: its cells for `shard`, and the frames and stacks
** that were not collected before, each for the shard of its hash. Sets *count
** to the number of rows of cells. The dictionary of the contexts is borrowed as
** by pf_intern_contexts. After PF_ENOMEM pf_run_rows_forget must be called.
*/
pf_status pf_run_rows_put (pf_run_rows *rows, size_t shard, const pf_hash *run,
                           int64_t attempt, int64_t month,
                           const pf_contexts *contexts, size_t *count,
                           pf_error *error);

/* Forget all rows, also those that were collected before. */
void pf_run_rows_forget (pf_run_rows *rows);


/* A stack, and a frame. */
typedef struct pf_summed_stack {
  pf_hash key;    /* the hash without the bits that cells do not have */
  pf_hash parent; /* its whole hash */
  uint32_t frame; /* index of a frame, or PF_NOT_INTERNED: not read yet */
  uint32_t node;  /* of the contexts, or PF_NO_CONTEXT */
} pf_summed_stack;

typedef struct pf_summed_frame {
  pf_hash hash;
  uint32_t area;     /* or PF_NO_AREA: not read yet */
  uint32_t function; /* see pf_run_sums_name */
} pf_summed_frame;

/* Sums that are read. `contexts` is borrowed, all arrays are owned. */
typedef struct pf_run_sums {
  pf_contexts *contexts;
  pf_intern_table stack_table, frame_table;
  pf_summed_stack *stacks; /* those with sums first, then further callers */
  size_t stack_capacity;
  pf_summed_frame *frames;
  size_t frame_capacity;
  pf_wide *weights; /* by stack with sums, and metric */
  size_t weight_capacity;
  uint32_t nsums;      /* stacks with sums */
  pf_id_table wanted;  /* lo of all stacks whose rows are needed */
  uint32_t nasked;     /* of them, from the first, that were asked for */
  pf_id_table names;   /* of the frames; the id of a name is a function */
  uint32_t *functions; /* by stack with sums: that of its innermost frame; of
                          none the number of names */
  pf_wide *self;       /* by group and function; the last one is none */
  size_t ngroups;
} pf_run_sums;

/* Prepare sums for contexts without nodes. */
void pf_run_sums_open (pf_run_sums *sums, pf_contexts *contexts);
void pf_run_sums_close (pf_run_sums *sums);

/* Whether each row of such a query has a hi other than PF_AMBIGUOUS. Queries
   write that where stacks have one lo, but different hi. */
#define PF_AMBIGUOUS UINT64_MAX
bool pf_run_sums_are_clear (pf_bytes rows);

/* Add rows of a query: hi UInt64 (below 2^16), lo UInt64, and the sums of low
   (UInt64) and high (Int64) of one metric. Must come before the rows of stacks.
   PF_EFORMAT if they are damaged, PF_ENOMEM. */
pf_status pf_run_sums_add (pf_run_sums *sums, size_t metric, pf_bytes rows,
                           pf_error *error);

/* Set *words to the lo of the stacks whose rows are needed and were not asked
   for before, borrowed until the next call; returns how many there are. */
size_t pf_run_sums_ask (pf_run_sums *sums, const uint64_t **words);

/* Take rows of the table stacks, and of the table frames, in any order, also
   several times. Stacks are needed until pf_run_sums_ask returns none; without
   `callers` it does not ask for those of stacks with sums. PF_EFORMAT if a row
   is damaged, does not have the hash of its content, or if two contents have
   one hash or key; PF_ENOMEM. */
pf_status pf_run_sums_take_stacks (pf_run_sums *sums, pf_bytes rows,
                                   bool callers, pf_error *error);
pf_status pf_run_sums_take_frames (pf_run_sums *sums, pf_bytes rows,
                                   pf_error *error);

/* The index of the stack of a hash or key, or PF_NOT_INTERNED. */
uint32_t pf_run_sums_find (const pf_run_sums *sums, const pf_hash *hash);

/* Set the error for rows that are damaged; `what` says how. */
pf_status pf_run_sums_damaged (pf_error *error, const char *what);

#define PF_SUM_SIZE 32 /* bytes of a row of sums */

/* The sum in columns low and high of such a row. */
static inline pf_wide pf_sum_at (const uint8_t *p) {
  return (pf_wide)(int64_t)pf_load64le(p + 8) * ((int64_t)1 << 32) +
         (pf_wide)pf_load64le(p);
}

/* Whether a hash or key is that of no stack at all. */
static inline bool pf_is_none (const pf_hash *hash) {
  static const pf_hash none = {{0}};
  return memcmp(hash->bytes, none.bytes, PF_HASH_SIZE) == 0;
}

/* The hash in columns hi and lo. */
static inline pf_hash pf_hash_of_words (uint64_t hi, uint64_t lo) {
  pf_hash hash = {{0}};
  pf_save(hash.bytes, 8, true, hi);
  pf_save(hash.bytes + 8, 8, true, lo);
  return hash;
}

/* Add nodes and weights to the contexts, when all rows were taken. A sum beyond
   the limits of int64_t saturates (has_overflowed). PF_EFORMAT if a stack or
   frame is missing, PF_ENOMEM. */
pf_status pf_run_sums_finish (pf_run_sums *sums, pf_error *error);


/*
** Functions of groups of runs (group_rows.c). First the stacks of all these
** runs are added and taken, with their frames.
*/

/* Give the names of the frames numbers from 0 (sums->names). PF_EFORMAT if a
   frame of a stack with sums is missing, PF_ENOMEM. */
pf_status pf_run_sums_name (pf_run_sums *sums, pf_error *error);

/* Set has[] of each stack with sums to whether its innermost frame is in a
   wanted function, or, with `callers`, any of its frames, which were then all
   taken; wanted[] has an element for none, which is false. PF_EFORMAT if a
   caller is missing, PF_ENOMEM. */
pf_status pf_run_sums_having (const pf_run_sums *sums, const bool *wanted,
                              bool callers, bool *has, pf_error *error);

/* Begin with so many groups, whose sums[] of all functions are 0. PF_ENOMEM. */
pf_status pf_run_sums_begin (pf_run_sums *sums, size_t groups, pf_error *error);

/* Add rows as of pf_run_sums_add to a group. PF_EFORMAT if a row is damaged or
   has a stack that has no sums. */
pf_status pf_run_sums_add_group (pf_run_sums *sums, size_t group, pf_bytes rows,
                                 pf_error *error);

/* Add the arrays hi, lo, high and low of a row of cells at the cursor. Failures
   as of pf_run_sums_add_group. */
pf_status pf_run_sums_add_cells (pf_run_sums *sums, size_t group,
                                 pf_cursor *cursor, pf_error *error);

#endif
