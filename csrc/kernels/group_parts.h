/*
** group_parts.h - the rows of a table in parts, each read in a thread of its
** own.
*/

#ifndef group_parts_h
#define group_parts_h

#include "kernels/group_pass.h"

typedef struct pf_group_parts pf_group_parts;

/*
** Parts like `model`: `readers` (borrowed) have all rows between them, in
** their order, and may run in threads. *strict is that of their trace. PF_OK
** or PF_ENOMEM.
*/
pf_status pf_group_parts_open (pf_reader *const *readers, size_t count,
                               bool *strict, const pf_group_pass *model,
                               pf_group_parts **parts);

/*
** Read all rows into `pass`, which has none yet. PF_OK, and *done tells
** whether there was nothing odd: else nothing has been added, nor noted.
** PF_ENOMEM.
*/
pf_status pf_group_parts_read (pf_group_parts *parts, pf_group_pass *pass,
                               bool *done, pf_error *error);

void pf_group_parts_close (pf_group_parts *parts);

#endif
