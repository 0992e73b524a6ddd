/*
** written.h - arguments of writers of whole files (file_writer.c) and writers
** through a ring (stream.c, emitter.c), implemented in written.c. Wrong
** arguments raise. Also used by lua/trace_part.c (options) and the recorder.
** Memory that is pushed belongs to the Lua stack.
*/

#ifndef written_h
#define written_h

#include "lua/binding.h"

/* Returns the format named at `arg`; raises if it cannot be written. */
const pf_format *l_written_format (lua_State *L, int arg);

/* Pushes memory with the options { name = value } at `arg`; sets *options,
   returns their number. The table keeps the strings. */
size_t l_options_at (lua_State *L, int arg, pf_option **options);

/* A side file of a writer. */
typedef struct l_side {
  const char *role, *path; /* without a path in memory */
  bool is_numbered;
} l_side;

/* Reads the side files { { role=, path=, numbered= }, ... } at `arg` into
   sides[], which has space for `max`, and returns their number. The table on
   top of the stack keeps the roles. */
size_t l_sides_at (lua_State *L, int arg, l_side *sides, size_t max);

/* Set *prefix to the path before the number, which the caller frees, for a path
   that ends in ".000001". It is absolute, because the program may leave its
   folder before it writes the next file. PF_EIO: there is no such folder, or no
   number; PF_ENOMEM. */
pf_status l_numbered_prefix (const char *path, char **prefix, pf_error *error);

/* Writes the path of file `number` of a sequence of numbered files. False with
   errno if it is too long. */
bool l_numbered_path (char *path, size_t capacity, const char *prefix,
                      uint64_t number);

/* Returns the table named at `arg` and its number; raises if there is none. */
const pf_table *l_written_table (lua_State *L, int arg, const pf_format *format,
                                 const pf_table *tables, size_t count,
                                 size_t *number);

/* Raises: a table has no column `name`; the message lists its columns. */
int l_no_column (lua_State *L, const pf_table *table, const char *name);

/* Sets `columns` to the indices of the columns that the list at `arg` names,
   and returns their number, at most that of the table's columns. Raises for a
   name that is none or is given twice, and for an empty list. */
size_t l_written_columns (lua_State *L, int arg, const pf_table *table,
                          size_t *columns);

/* Makes *row a batch of one row for a table, unless it is one already; *of is
   the number of its table. */
void l_row_of (lua_State *L, pf_batch *row, size_t *of, const pf_table *table,
               size_t number);

/* Fills the first row of a batch from the table at `arg`; raises for unknown
   names and wrong types. */
void l_fill_row (lua_State *L, int arg, pf_batch *row, const pf_table *table,
                 pf_dictionary *dictionary);

/* Pushes { { name=, fields= }, ... } for tables. */
void l_push_tables (lua_State *L, const pf_table *tables, size_t count);

#endif
