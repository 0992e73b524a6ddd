/*
** btf.h - events as rows of the Best Trace Format: who did what to whom.
*/

#ifndef btf_h
#define btf_h

#include "model/batch.h"

typedef struct pf_btf_options {
  int64_t base; /* taken off all times, so that none is negative */
  bool has_from;
  int64_t from;     /* only from this time on: what had begun before is started
                   there, and not below `base` */
  bool close;       /* what is open at the end is ended there */
  bool lines;       /* lines of functions are runnables too */
  bool stimuli;     /* tasks are activated by stimuli before they start */
  bool activations; /* a task ends when its outermost function returns; what
                       follows is its next instance */
  const pf_bytes *interrupts; /* lanes that are interrupts and no tasks: their
                                 names or numbers as texts; borrowed */
  size_t ninterrupts;
} pf_btf_options;

/*
** A reader over a table of events (borrowed: time, event, area, and perhaps
** lane, value, number, core). It yields a row for each line of a file:
**
**   kind              "event", "write" (with an integer as note), "number"
**                     (with another number), "comment" (`source` is its text)
**   time              ns since `base`; never less than in the row before
**   source, source_instance, type, target, target_instance, event
**   note, number      of the kinds that have one
**
** Lanes become tasks (T) or interrupts (I), of one instance each, which begins
** with the first event, or of one for each activation; functions become runnables (R), variables and states
** signals (SIG), each core `Core_<n>`. A caller stays running while the function
** that it calls runs: only what takes the core from a lane suspends its
** runnables. Of calls more than 4,096 deep only the innermost is open. Names are
** made safe: in them %XX stands for the byte XX, and %:N at the end tells equal
** names of different things apart.
*/
pf_status pf_btf_open (pf_reader *events, const pf_btf_options *options,
                       pf_reader **reader, pf_error *error);

#endif
