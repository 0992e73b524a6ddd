/*
** binding.h - functions shared by the files of the binding and by csrc/store. A
** file that adds functions to profio.core has one function l_open_<subject>,
** which adds them to the table on top of the stack; core.c calls them all.
**
** Naming: `arg` and other indices are stack indices; l_X_check returns the
** object at an index and raises if it is another type or closed; l_push_X
** pushes a value.
**
** Ownership: a userdata owns each object of the core. It is created complete
** but empty before the object is acquired. It pins the objects that its own
** borrows from in a user value. A finaliser frees only its own memory and uses
** nothing that another one frees, so objects may be collected in any order.
** Closing a trace unmaps its bytes and clears a flag; readers check the flag
** before each batch.
**
** Errors: wrong use raises. Failures of the core become nil, message, code
** (l_failure) or are raised by readers (l_throw).
*/

#ifndef binding_h
#define binding_h

#include <lauxlib.h>
#include <lua.h>

#include "kernels/base/pattern.h"
#include "model/rows/batch.h"
#include "model/dictionary/names.h"
#include "model/dictionary/stacks.h"
#include "model/symbols/symbols.h"
#include "model/rows/trace.h"
#include "profio.h"

#define L_DICTIONARY "profio.dictionary"
#define L_READER     "profio.reader"
#define L_SYMBOLS    "profio.symbols"
#define L_SOURCE     "profio.source"
#define L_PART       "profio.part"
#define L_OPENING    "profio.opening"

/* A reader userdata. User value 1: a table of the objects that the reader
   borrows from. User value 2: the label of its messages. */
typedef struct l_reader {
  pf_reader *reader; /* owned; NULL when closed */
  const bool *open;  /* flag of the trace that it reads; not owned */
  bool is_input; /* read by another reader: close leaves it to the collector */
  bool is_progress; /* a reader of interrupt:watch or interrupt:guard */
  pf_error error;   /* why it could not be opened */
} l_reader;

extern const bool l_always_open; /* flag for readers of their own memory */

/*
** Pushes a reader userdata that pins all values on the stack, and marks the
** readers among them as inputs. It gets the flag and the label of the first of
** these readers, if there is one. The caller then sets ->reader, which the
** userdata owns.
*/
l_reader *l_reader_new (lua_State *L);

/* Returns 1 after PF_OK, else raises the error of the new reader, which is on
   top of the stack, with its label. */
int l_reader_opened (lua_State *L, pf_status status);

/* Returns the reader at `arg`; raises when it or its trace is closed. */
l_reader *l_reader_check (lua_State *L, int arg);

/* Progress callback of a reader of the kind L_PROGRESS (command.c): shows that
   `rows` rows have been read in all threads, and returns whether Ctrl-C was
   pressed. Only to be called in Lua's thread. */
bool l_progress_is_cancelled (void *reader, uint64_t rows);

/* Raises "reader is closed" or "trace is closed". */
void l_reader_check_open (lua_State *L, const l_reader *reader);

/* Returns the dictionary at `arg`. */
pf_dictionary *l_dictionary_check (lua_State *L, int arg);

/* Pushes a new dictionary userdata and returns its dictionary. */
pf_dictionary *l_dictionary_new (lua_State *L);

/* Pushes the dictionary userdata of the reader at `arg`. */
void l_reader_push_dictionary (lua_State *L, int arg);

/* Pushes the string cache of the dictionary of the reader at `arg`. */
void l_reader_push_cache (lua_State *L, int arg);

/* Pushes nil, message, code for a failure of the core and returns 3. Raises for
   PF_ENOMEM and PF_ERAISED. `label` is a prefix of the message: a path, a path
   and a format, or NULL. */
int l_failure (lua_State *L, const pf_error *error, const char *label);

/* As l_failure; the label is user value 2 of the userdata at `index`, as
   readers, parts, sources and writers have it. */
int l_failure_of (lua_State *L, const pf_error *error, int index);

/* Pushes nil, "NAME: write failed: ...", "io", and "EPIPE" if a pipe has no
   reader any more; returns the number of values. NAME is the name of the Lua
   file at `arg` if it is a file of core.output or standard output, else it is
   omitted. `errnum` 0: unknown reason. */
int l_write_failure (lua_State *L, int arg, int errnum);

/* Raises a failure of the core with the label of a reader (0: no label). */
int l_throw (lua_State *L, const pf_error *error, int reader_arg);

/* Saves the error value on top of the stack (popped) in the registry and
   returns PF_ERAISED. To be called by stages after a failed lua_pcall;
   l_failure and l_throw raise the saved value again. */
pf_status l_save_error (lua_State *L, pf_error *error);

/*
** Pushes a value of a column; nil for a missing one. `cache` is the stack index
** of the dictionary's string cache (l_push_name_cache), or 0: a new string.
*/
void l_push_value (lua_State *L, const pf_column *column, size_t row,
                   pf_dictionary *dictionary, int cache);

/* Pushes the string cache of a dictionary: Lua strings by name id + 1. */
void l_push_name_cache (lua_State *L, int dictionary_arg);

/* Pushes the Lua string of a name, using the cache at index `cache` (0:
   none). */
void l_push_name (lua_State *L, pf_dictionary *dictionary, uint32_t name,
                  int cache);

/* Returns the symbols at `arg`; borrowed: pin them. */
pf_symbols *l_symbols_check (lua_State *L, int arg);

/* Returns the pattern at `arg`; borrowed: pin it. */
const pf_pattern *l_pattern_check (lua_State *L, int arg);

/* Creates the class `name`: a metatable with the methods (may be NULL), and
   with `gc` as __gc and `close` as __close (may be NULL). */
void l_class (lua_State *L, const char *name, const luaL_Reg *methods,
              lua_CFunction gc, lua_CFunction close);

/* An array of methods, for l_class: L_METHODS({"close", x_close}, ...). */
#define L_METHODS(...) ((const luaL_Reg[]){__VA_ARGS__, {NULL, NULL}})

/* Adds functions to the table on top: L_ADD(L, {"name", core_name}, ...). */
#define L_ADD(L, ...) luaL_setfuncs(L, L_METHODS(__VA_ARGS__), 0)

/* Pushes a zeroed object of a class with `values` user values. */
void *l_new (lua_State *L, const char *class, size_t size, int values);

/* Makes the value at index `value` a user value of the object at `object`, so
   that it lives as long as the object. */
void l_pin (lua_State *L, int object, int number, int value);

/* Writes the value at `arg` into a row of a column; false if the type is wrong.
   A string becomes a name or an area; nil is missing. Values of PF_BYTES borrow
   the string, which the caller must anchor. */
bool l_to_value (lua_State *L, int arg, pf_column *column, size_t row,
                 pf_dictionary *dictionary);

/* The files of the binding, in the order in which core.c opens them. */
#define L_FILES(OPEN)      \
  OPEN(binding);           \
  OPEN(arguments);         \
  OPEN(source);            \
  OPEN(trace_part);        \
  OPEN(file_sum);          \
  OPEN(reader);            \
  OPEN(lua_decoder);       \
  OPEN(compiled_pattern);  \
  OPEN(special_functions); \
  OPEN(text_encoding);     \
  OPEN(conditions);        \
  OPEN(stages);            \
  OPEN(joins);             \
  OPEN(formulas);          \
  OPEN(grouping);          \
  OPEN(event_stages);      \
  OPEN(timing_stages);     \
  OPEN(packed_counts);     \
  OPEN(timeline_spans);    \
  OPEN(xpp_lines);         \
  OPEN(lane_overview);     \
  OPEN(array_reader);      \
  OPEN(symbol_table);      \
  OPEN(profile);           \
  OPEN(profile_contexts);  \
  OPEN(pack_contexts);     \
  OPEN(export);            \
  OPEN(export_contexts);   \
  OPEN(export_samples);    \
  OPEN(export_flames);     \
  OPEN(export_outline);    \
  OPEN(export_pprof);      \
  OPEN(file_handle);       \
  OPEN(output_handle);     \
  OPEN(file_writer);       \
  OPEN(row_store);         \
  OPEN(written);           \
  OPEN(stream);            \
  OPEN(recover);           \
  OPEN(recorder);          \
  OPEN(rows);              \
  OPEN(worker);            \
  OPEN(folders);           \
  OPEN(command)

#define L_DECLARE(name) void l_open_##name(lua_State *L)
L_FILES(L_DECLARE);

#endif
