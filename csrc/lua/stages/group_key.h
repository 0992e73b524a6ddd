/*
** group_key.h - Lua functions as keys of a group. Used by grouping.c: l_key_new
** for each function, then the kernel calls l_key.maker, and l_key_retype when
** all rows have been read.
*/

#ifndef group_key_h
#define group_key_h

#include "kernels/group/keys.h"
#include "lua/callback.h"

#define L_KEY_COLUMNS 200 /* maximum number of arguments of a key */

/* A function of some columns that returns a key. */
typedef struct l_key {
  l_callback callback; /* values: see group_key.c */
  pf_computed_key
      computed; /* callbacks for the kernel; their context is this key */
  const pf_reader *input;
  const char *name;
  bool typed;         /* the type was declared, else the values determine it */
  pf_type type;       /* PF_INT, PF_NUM, PF_BOOL or PF_NAME */
  unsigned seen;      /* bit set of the types of values */
  lua_Integer values; /* number of distinct values */
  int count;
  size_t columns[L_KEY_COLUMNS];
  struct l_key_call { /* arguments of the current call */
    const pf_batch *batch;
    uint64_t *words;
    bool *missing;
    uint64_t word;
    pf_column *column;
    size_t row;
  } call;
} l_key;

/*
** Pushes a key for the table { fn=, columns=, name=, type= } at `index`, then
** its thread; the caller must pin both, and the name. `reader_arg` is the group's input.
*/
l_key *l_key_new (lua_State *L, int index, int reader_arg);

/* Help text of a key column whose type the values determined; compared by
   address. */
extern const char l_open_type_help[];

/* Sets the type of the key's column after all rows were read: the declared
   type, else the type of the values; PF_NAME if they have several types. A
   column without values fits any type (pf_has_any_type). */
void l_key_retype (const l_key *key, pf_field *field);

#endif
