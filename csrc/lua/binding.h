/*
** binding.h - what the files of the binding share. Each of them has one
** subject and one function l_open_<subject> that adds its functions to the
** table of profio.core (on top of the stack); core.c lists them.
**
** Ownership. A userdata owns each thing of the core and is made complete, but
** empty, before the thing is acquired. What a thing borrows from is pinned in
** the user value of its owner. A finaliser frees its own memory and looks at
** nothing else, so the order in which objects die does not matter. Closing a
** trace unmaps its bytes and clears a flag; readers look at it before each
** batch.
*/

#ifndef binding_h
#define binding_h

#include <lauxlib.h>
#include <lua.h>

#include "model/batch.h"
#include "model/names.h"
#include "model/stacks.h"
#include "model/symbols.h"
#include "model/trace.h"
#include "profio.h"

#define L_DICTIONARY "profio.dictionary"
#define L_READER     "profio.reader"
#define L_SYMBOLS    "profio.symbols"
#define L_SOURCE     "profio.source"
#define L_PART       "profio.part"

/* A reader and what it must know to be used. User value 1: a table of the
   objects it borrows from. User value 2: its label for messages. */
typedef struct l_reader {
  pf_reader *reader; /* NULL when closed */
  const bool *open;  /* the flag of the trace it reads from */
  bool is_input;     /* another reader reads from it: only the collector, which
                        knows when that one is gone, may free it */
} l_reader;

extern const bool l_always_open; /* the flag of readers over their own memory */

/*
** Push a reader userdata that pins the values at the stack positions in
** pins[0..count-1]; its flag and label are those of the first pinned reader,
** when there is one. The caller then sets ->reader.
*/
l_reader *l_reader_new (lua_State *L, const int *pins, int count);

/* The reader at `arg`; raises when it is no reader, or it or its trace is
   closed. */
l_reader *l_reader_check (lua_State *L, int arg);

/* Whether a reader is a stage of the command that watches a pass (command.c),
   and whether that has seen a Ctrl-C; `rows` have been read, here and in other
   threads. Only in Lua's own thread. */
bool l_is_progress (const pf_reader *reader);
bool l_progress_is_cancelled (void *reader, uint64_t rows);

/* Raises "trace is closed" when the reader's trace has been closed. */
void l_reader_check_open (lua_State *L, const l_reader *reader);

/* The dictionary at `arg`; raises when it is none. */
pf_dictionary *l_dictionary_check (lua_State *L, int arg);

/* Push a new dictionary userdata. */
pf_dictionary *l_dictionary_new (lua_State *L);

/* Push the userdata of the dictionary of the reader at `arg`. */
void l_reader_push_dictionary (lua_State *L, int arg);

/* The path at `arg`; raises when it is no string or has a zero byte in it. */
const char *l_path_check (lua_State *L, int arg);

/* Push nil, message, code for a failure of the core, and answer 3. Raises
   for PF_ENOMEM and PF_ERAISED. `label` begins the message: a path, a path
   and a format, or NULL. */
int l_failure (lua_State *L, const pf_error *error, const char *label);

/* Push nil, "NAME: write failed: ...", "io", and "EPIPE" when the reader of a
   pipe left, and answer how many. NAME is that of the file of Lua at `arg`:
   known of files of core.output and of standard output, else left out. 0
   stands for an unknown errnum. */
int l_write_failure (lua_State *L, int arg, int errnum);

/* Raise a failure of the core, whatever it is; the label is the reader's. */
int l_throw (lua_State *L, const pf_error *error, int reader_arg);

/* The stable word for a failing status: "io", "format", ... */
const char *l_code (pf_status status);

/* Keep the error value on top of the stack (popped) as the raise that
   PF_ERAISED stands for: called by stages that ran Lua under lua_pcall. */
pf_status l_save_error (lua_State *L, pf_error *error);

/* The field called by the string at `arg`; raises with the list of names. */
size_t l_field_check (lua_State *L, int arg, const pf_reader *reader);

/*
** Push the value of a column. `cache` is the stack index of the dictionary's
** string cache (l_push_name_cache); it may be 0, then names are pushed
** afresh. A missing value is pushed as nil.
*/
void l_push_value (lua_State *L, const pf_column *column, size_t row,
                   pf_dictionary *dictionary, int cache);

/* Push the table that maps name numbers (+1) to Lua strings. */
void l_push_name_cache (lua_State *L, int dictionary_arg);

/* Push the Lua string of a name through the cache at stack index `cache`. */
void l_push_name (lua_State *L, pf_dictionary *dictionary, uint32_t name,
                  int cache);

/* Push an array { {name=, type=, help=}, ... } of fields. */
void l_push_fields (lua_State *L, const pf_field *fields, size_t nfields);

/* The bytes of the source at `arg`; raises when it is none or closed. */
pf_bytes l_source_bytes (lua_State *L, int arg);

/* The trace of the part at `arg`; raises when it is none or closed. Pin it. */
pf_trace *l_part_trace (lua_State *L, int arg);

/* Where it stands whether the part at `arg` is read strictly; raises when it is
   none or closed. Pin it. */
bool *l_part_strict (lua_State *L, int arg);

/* The symbols at `arg`; raises when they are none or closed. Pin them. */
pf_symbols *l_symbols_check (lua_State *L, int arg);

/* Answers the column numbers of the names in the array at `arg` (nil: all
   columns) in columns[], at most `capacity`; how many there are. Raises for a
   name that is no column. */
int l_columns_check (lua_State *L, int arg, const pf_reader *reader,
                     size_t *columns, int capacity);

/* A class: metatable `name` with the methods, `gc` as __gc and __close. */
void l_class (lua_State *L, const char *name, const luaL_Reg *methods,
              lua_CFunction gc);

/* Write the value at `arg` into row `row` of a column; false when it is of
   the wrong type. A text becomes a name or an area; nil is missing. PF_BYTES borrow the
   string: anchor it. */
bool l_to_value (lua_State *L, int arg, pf_column *column, size_t row,
                 pf_dictionary *dictionary);

/* One function per file of the binding. */
void l_open_binding (lua_State *L);
void l_open_source (lua_State *L);
void l_open_trace (lua_State *L);
void l_open_reader (lua_State *L);
void l_open_conditions (lua_State *L);
void l_open_contexts (lua_State *L);
void l_open_export (lua_State *L);
void l_open_export_contexts (lua_State *L);
void l_open_export_firefox (lua_State *L);
void l_open_export_samples (lua_State *L);
void l_open_export_flames (lua_State *L);
void l_open_exports (lua_State *L);
void l_open_filter (lua_State *L);
void l_open_derive (lua_State *L);
void l_open_group (lua_State *L);
void l_open_unfilter (lua_State *L);
void l_open_calls (lua_State *L);
void l_open_spans (lua_State *L);
void l_open_table (lua_State *L);
void l_open_symbols (lua_State *L);
void l_open_profile (lua_State *L);
void l_open_output (lua_State *L);
void l_open_writer (lua_State *L);
void l_open_written (lua_State *L);
void l_open_stream (lua_State *L);
void l_open_recover (lua_State *L);
void l_open_recorder (lua_State *L);
void l_open_rows (lua_State *L);
void l_open_command (lua_State *L);
void l_open_register (lua_State *L);
void l_open_timeline (lua_State *L);

#endif
