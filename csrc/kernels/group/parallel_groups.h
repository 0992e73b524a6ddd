/*
** parallel_groups.h - reads the rows of a table into groups in chunks, each in
** a thread of its own. Used by group.c.
*/

#ifndef parallel_groups_h
#define parallel_groups_h

#include "kernels/group/row_scan.h"

typedef struct pf_group_chunks pf_group_chunks;

/*
** Open chunks with the keys and aggregates of `model`: `readers` (borrowed)
** have the rows of the table between them, in its order, and may run in
** threads. *strict is the flag of their trace. PF_OK or PF_ENOMEM.
*/
pf_status pf_group_chunks_open (pf_reader *const *readers, size_t count,
                                bool *strict, const pf_group_scan *model,
                                pf_group_chunks **chunks);

/*
** Read all rows into `scan`, which has none yet. PF_OK; *done is false if a
** warning or a failure occurred: then nothing has been added, and no warning
** recorded. PF_ENOMEM.
*/
pf_status pf_group_chunks_read (pf_group_chunks *chunks, pf_group_scan *scan,
                                bool *done, pf_error *error);

void pf_group_chunks_close (pf_group_chunks *chunks);

#endif
