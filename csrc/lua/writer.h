/*
** writer.h - what writers of whole files and those through a ring share.
*/

#ifndef lua_writer_h
#define lua_writer_h

#include "lua/binding.h"

/* The format called by the string at `arg`; raises when it is not written. */
const pf_format *l_written_format (lua_State *L, int arg);

/* The options { name = value } at `arg` as an array, in a userdata that is
   pushed; how many there are. */
size_t l_options_at (lua_State *L, int arg, pf_option **options);

/* The table called by the string at `arg`; raises when there is none. */
const pf_table *l_written_table (lua_State *L, int arg, const pf_format *format,
                                 const pf_table *tables, size_t count,
                                 size_t *number);

/* Raise: a table to be written has no such column; names those there are. */
int l_no_column (lua_State *L, const pf_table *table, const char *name);

/* Fill the first row of a batch of all columns from the table at `arg`;
   unknown names and wrong types raise. */
void l_fill_row (lua_State *L, int arg, pf_batch *row, const pf_table *table,
                 pf_dictionary *dictionary);

/* Push { { name=, fields= }, ... } of tables. */
void l_push_tables (lua_State *L, const pf_table *tables, size_t count);

#endif
