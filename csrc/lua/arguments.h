/*
** arguments.h - arguments, options and results. Used by all of csrc/lua and
** csrc/store.
**
** Options are fields of a table; if the value at `arg` is no table, all options
** are absent. Texts are borrowed: the argument or the table keeps the string.
** Memory that is pushed lives on the Lua stack; the collector frees it.
*/

#ifndef lua_arguments_h
#define lua_arguments_h

#include <string.h>

#include "lua/binding.h"
#include "model/base/pack.h"

/* Raises "not enough memory". */
void l_no_memory (lua_State *L) __attribute__((noreturn));

/* Pushes zeroed memory for `count` elements, which lives on the stack. */
void *l_scratch (lua_State *L, size_t count, size_t size);

/* Returns the string at `index`, the value of `name` in messages. Raises for a
   number too: Lua would convert it on the stack only, and its text would not
   live as long as the table that contains it. */
const char *l_string_check (lua_State *L, int index, const char *name);

/* Returns the path at `arg`; raises when it contains a zero byte. */
const char *l_path_check (lua_State *L, int arg);

/* Returns the bytes of the string at `arg`. */
pf_bytes l_text_check (lua_State *L, int arg);

/* Returns the name id of the string at `arg`, which may be a new name. */
uint32_t l_name_check (lua_State *L, int arg, pf_dictionary *dictionary);

/* Pushes and returns the strings in the list at `arg` (nil: none); sets
   *count. */
pf_bytes *l_texts_check (lua_State *L, int arg, size_t *count);

/* Help text of a key column of a group whose type the values determined;
   compared by address. */
extern const char l_open_type_help[];

/* Returns the field named by the string at `arg`; raises with the list of
   names. */
size_t l_field_check (lua_State *L, int arg, const pf_reader *reader);

/* Reads `count` fields, { name=, type=, help= } or { name, type } each, from
   the list at `arg`. The table at `pins` keeps their strings. */
void l_fields_check (lua_State *L, int arg, pf_field *fields, size_t count,
                     int pins);

/* Pushes the fields, { {name=, type=, help=}, ... }, without hidden ones. */
void l_push_fields (lua_State *L, const pf_field *fields, size_t nfields);

/* Writes the field indices of the column names in the array at `arg` into
   columns[], which has `capacity` elements, and returns their number. Raises
   for an unknown name, and for more names than `capacity`. */
int l_columns_check (lua_State *L, int arg, const pf_reader *reader,
                     size_t *columns, int capacity);

/* Pushes and returns the field indices of the column names in the array at
   `arg` (nil: all visible columns); sets *count. Raises for an unknown name. */
size_t *l_columns_at (lua_State *L, int arg, const pf_reader *reader,
                      int *count);

/* Whether the option `name` is true. */
bool l_option_flag (lua_State *L, int arg, const char *name);

/* Sets *value to an option, if it is given; returns whether it is. */
bool l_option_int (lua_State *L, int arg, const char *name, int64_t *value);

/* Return an option, or `fallback` if it is absent. */
lua_Number l_option_number (lua_State *L, int arg, const char *name,
                            lua_Number fallback);
const char *l_option_text (lua_State *L, int arg, const char *name,
                           const char *fallback);

/* Returns the index of an option in `words`, which ends with NULL. */
int l_option_word (lua_State *L, int arg, const char *name,
                   const char *fallback, const char *const *words);

/* Returns the field of a reader that an option names; raises without it. */
size_t l_option_field (lua_State *L, int arg, const char *name,
                       const pf_reader *reader);

/* Returns the name id of an option, or PF_NO_NAME if it is absent. */
uint32_t l_option_name (lua_State *L, int arg, const char *name,
                        pf_dictionary *dictionary);

/* The size of a table or string, as lua_rawlen, which fits into memory. */
static inline size_t l_length (lua_State *L, int index) {
  return (size_t)lua_rawlen(L, index);
}

/* Set a field of the table on top of the stack. */
void l_set_int (lua_State *L, const char *name, int64_t value);
void l_set_number (lua_State *L, const char *name, double value);
void l_set_bool (lua_State *L, const char *name, bool value);
void l_set_text (lua_State *L, const char *name, const char *text);
void l_set_bytes (lua_State *L, const char *name, pf_bytes bytes);

/* Pushes empty packed data, whose memory the userdata frees. */
pf_packed *l_packed_new (lua_State *L);

/* Pushes packed data as a string and frees its memory; raises if it ran out. */
int l_push_packed (lua_State *L, pf_packed *packed);

/* Pushes a string with these bytes. */
void l_push_bytes (lua_State *L, pf_bytes bytes);

/* Appends the value on top of the stack to the array at `index`; pops it. */
void l_append (lua_State *L, int index);

/* Pushes "a, b, c" from `count` structures of `size` bytes. `names` is the
   address of the name in the first one. */
void l_push_list (lua_State *L, const void *names, size_t size, size_t count);

#endif
