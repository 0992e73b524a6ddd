/*
** group_key.h - Lua functions as keys of a group.
*/

#ifndef group_key_h
#define group_key_h

#include "kernels/keys.h"
#include "lua/callback.h"

#define L_KEY_COLUMNS 200 /* a function gets at most */

/* A function of some columns whose value is a key. */
typedef struct l_key {
  l_callback callback; /* values: see group_key.c */
  pf_maker maker;      /* its context is this */
  const pf_reader *input;
  const char *name;
  bool typed;         /* the type was declared, else the values tell it */
  pf_type type;       /* PF_INT, PF_NUM, PF_BOOL or PF_NAME */
  unsigned seen;      /* a bit per type of value */
  lua_Integer values; /* how many distinct ones */
  int count;
  size_t columns[L_KEY_COLUMNS];
  struct l_key_call { /* while it runs */
    const pf_batch *batch;
    uint64_t *words;
    bool *missing;
    uint64_t word;
    pf_column *column;
    size_t row;
  } call;
} l_key;

/*
** Push a key made of { fn=, columns=, name=, type= } at `index`, then the
** thread it runs on; both must be pinned. `reader_arg` is the group's input.
*/
l_key *l_key_new (lua_State *L, int index, int reader_arg);

/* The help of a key whose values told its type, known by its address. */
extern const char l_open_type_help[];

/* Set the type of the key's column once all rows are seen: the declared one, else
   that of the values, PF_NAME when they are of several. A column without values
   fits any type (pf_has_any_type). */
void l_key_retype (const l_key *key, pf_field *field);

#endif
