/*
** connection.h - the userdata of a database, and the functions that the files
** of csrc/store add to the table of profio.store on top of the stack. Errors
** are those of lua/binding.h. Used by the files of csrc/store with methods. The
** userdata owns all members; closing frees them.
*/

#ifndef connection_h
#define connection_h

#include "lua/binding.h"
#include "store/profile_cells.h"

#define L_DATABASE "profio.database"

/* User values: the path, which labels messages; the dictionary of the profile
   that was written last, to which ids refer. */
typedef struct l_database {
  pf_database database;
  pf_stored_ids ids;
  pf_read_stacks read;
} l_database;

/* Returns the database at `arg`; raises when it is closed. */
l_database *l_database_check (lua_State *L, int arg);

/* Pushes nil, message, code for a failure of the database at `arg`. */
int l_database_failed (lua_State *L, int arg, const pf_error *error);

/* Returns the open profile at `arg`. */
pf_contexts *l_open_contexts (lua_State *L, int arg);

/* Pushes a sum, limited to 64 bits; sets *is_limited if that changes it. */
void l_push_sum (lua_State *L, pf_wide sum, bool *is_limited);

/* Gives the parameters of a statement the values from the stack index `first`
   to `last`, which stay on the stack while it is used. PF_EFORMAT if it has
   another number of parameters, and failures of the database. */
pf_status l_bind (lua_State *L, l_database *d, pf_statement *statement,
                  int first, int last, pf_error *error);

/* Raises if a value from index `first` to the top cannot be bound. */
void l_bindable_check (lua_State *L, int first);

/* l_open_connection comes first. */
void l_open_connection (lua_State *L);
void l_open_row_methods (lua_State *L);
void l_open_cell_methods (lua_State *L);
void l_open_hasher (lua_State *L);
void l_open_exchange (lua_State *L);
void l_open_run_row_methods (lua_State *L);

#endif
