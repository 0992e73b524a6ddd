/*
** trace_part.h - the userdata of a part, shared by trace_part.c, which opens
** it, and checked_reader.c, which reads its tables. file_sum.c, symbol_table.c,
** lua/stages and lua/writer take parts as arguments. The userdata owns the
** trace of the core and pins its sources.
*/

#ifndef trace_part_h
#define trace_part_h

#include <pthread.h>

#include "lua/binding.h"
#include "lua/source.h"
#include "model/rows/trace.h"

/*
** A part may sleep while no reader uses it, so that traces of many files need
** neither the memory nor the mappings of all: its sources are unmapped then,
** and the format has closed the trace. Header fields and warnings stay;
** `tables` has names and numbers of rows, but no fields. Threads may share a
** part.
*/
typedef struct l_part {
  pf_trace trace;
  bool open;
  pf_source main;       /* the main source, if it is the only one */
  l_source *main_owner; /* its userdata, pinned */
  pf_source *sources;   /* trace.sources: `main`, or a pinned array */
  l_source **owners;    /* their userdata, pinned like the array */
  const char *label;    /* user value 2 */
  bool sleeps;          /* when no reader uses it */
  size_t uses;          /* by readers and l_part_use_check */
  pf_table *tables;     /* owned; trace.tables while it is asleep */
  pthread_mutex_t lock; /* of `uses` and of falling asleep and waking */
} l_part;

/* Returns the part at `arg`, which is borrowed: pin it. Raises if it is
   closed. */
l_part *l_part_check (lua_State *L, int arg);

/* End a use of a part, which may then fall asleep. */
void l_part_release (l_part *part);

/* Uses the part at `arg` until l_part_release; raises if it is closed or does
   not wake. */
l_part *l_part_use_check (lua_State *L, int arg);

/* part:sleep(): the part sleeps from now on whenever no reader uses it; returns
   whether it can: all sources must be plain files. */
int l_part_sleep (lua_State *L);

/* part:reader(table, from, count): a reader of a table, or of `count` rows from
   number `from` (from 0) on; or nil, message, code. */
int l_part_reader (lua_State *L);

/* Open a reader of a table of `part`; it borrows both. PF_EUNSUPPORTED if there
   is no such table, PF_EIO if the part is closed or a file has changed,
   PF_ENOMEM, and the failures of the format. */
pf_status l_part_open_table (l_part *part, const char *table,
                             pf_reader **reader, pf_error *error);

/* Open a reader of the table of `part` (a l_part) that `other` reads of another
   part, which was opened by part:reader. Both can do the same; the fields and
   the table's name are borrowed from `other`. The table is opened at the first
   batch. PF_ENOMEM. For pf_concat_input. */
pf_status l_part_reader_like (void *part, const pf_reader *other,
                              pf_reader **reader, pf_error *error);

/* Whether a reader was opened by part:reader. */
bool l_part_is_reader (const pf_reader *reader);

#endif
