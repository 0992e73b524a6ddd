/*
** group_chunks.h - the rows of a table in parts, each read in a thread of its
** own.
*/

#ifndef group_chunks_h
#define group_chunks_h

#include "kernels/group_scan.h"

typedef struct pf_group_chunks pf_group_chunks;

/*
** Parts like `model`: `readers` (borrowed) have all rows between them, in
** their order, and may run in threads. *strict is that of their trace. PF_OK
** or PF_ENOMEM.
*/
pf_status pf_group_chunks_open (pf_reader *const *readers, size_t count,
                                bool *strict, const pf_group_scan *model,
                                pf_group_chunks **parts);

/*
** Read all rows into `pass`, which has none yet. PF_OK, and *done tells
** whether there was nothing odd: else nothing has been added, nor noted.
** PF_ENOMEM.
*/
pf_status pf_group_chunks_read (pf_group_chunks *parts, pf_group_scan *pass,
                                bool *done, pf_error *error);

void pf_group_chunks_close (pf_group_chunks *parts);

#endif
