/*
** btf.h - a stage that converts a table of events to rows of the Best Trace
** Format. Used by csrc/lua/stages/event_stages.c for `--export btf`. The caller
** closes the reader, which until then borrows the events and the interrupts.
*/

#ifndef btf_h
#define btf_h

#include "model/rows/batch.h"

typedef struct pf_btf_options {
  int64_t base; /* ns, subtracted from all times, so that none is negative */
  bool has_from;
  int64_t from;     /* only from this time (ns) on; calls and tasks that began
                       earlier start at `base` */
  bool close;       /* end open calls and tasks at the end */
  bool lines;       /* include lines of functions, as runnables */
  bool stimuli;     /* stimuli activate tasks before they start */
  bool activations; /* a task ends when its outermost function returns; then its
                       next instance begins */
  const pf_bytes *interrupts; /* names or numbers, as texts, of the lanes that
                                 are interrupts and not tasks; borrowed */
  size_t ninterrupts;
} pf_btf_options;

/*
** Open a reader over a table of events (borrowed; columns time, event, area,
** and optionally lane, value, number, core, flags). It returns a row for each
** line of a BTF file after the header:
**
**   kind              "event", "write" (with an integer as note), "number"
**                     (with another number), "comment" (`source` is its text)
**   time              ns since `base`, never less than in the previous row
**   source, source_instance, type, target, target_instance, event
**   note, number      of the kinds that have one
**
** Lanes become tasks (T) or interrupts (I) with one instance, which begins with
** the first event, or with `activations` one instance for each outermost call;
** functions become runnables (R), variables and states signals (SIG), each core
** `Core_<n>`. When an area of class "task" or "isr" is left as the outermost
** one, its lane ends; states of class "task state" are left out.
**
** A caller keeps running while the function that it called runs: runnables are
** suspended only when their lane loses the core, and resumed when it gets it
** back, or by a later event of their own. The flag `gap` ends all calls at the
** event before; other flags are ignored. At a depth of
** 4,096 a new call ends the one around it. In names %XX stands for the byte XX,
** and %:N at the end distinguishes equal names of different things.
** PF_EUNSUPPORTED without the required columns; PF_ENOMEM.
*/
pf_status pf_btf_open (pf_reader *events, const pf_btf_options *options,
                       pf_reader **reader, pf_error *error);

#endif
