/*
** group_chunks.c - parts of a table in threads.
**
** Warnings must stand in the order of the rows, and of many only the first are
** kept. So parts are read strictly: the first oddity, in whichever of them,
** ends all, and nothing has been noted. Then somebody reads the rows one by
** one, and notes what there is.
*/

#include "kernels/group_chunks.h"

#include <stdlib.h>

#include "model/parallel.h"

typedef struct part {
  pf_group_chunks *all;
  pf_reader *input;
  pf_group_scan pass;
  pf_status status;
} part;

struct pf_group_chunks {
  bool *strict;
  atomic_bool stop; /* a part has not come to its end */
  size_t count;
  part parts[];
};


pf_status pf_group_chunks_open (pf_reader *const *readers, size_t count,
                                bool *strict, const pf_group_scan *model,
                                pf_group_chunks **parts) {
  pf_group_chunks *const p = calloc(1, sizeof *p + count * sizeof *p->parts);
  if (p == NULL)
    return PF_ENOMEM;
  p->strict = strict;
  pf_status status = PF_OK;
  for (; p->count < count && status == PF_OK; p->count++) {
    part *const one = &p->parts[p->count];
    one->all = p;
    one->input = readers[p->count];
    status = pf_group_scan_clone(&one->pass, model, one->input->nfields);
  }
  *parts = p;
  if (status == PF_OK)
    return PF_OK;
  pf_group_chunks_close(p);
  *parts = NULL;
  return status;
}


void pf_group_chunks_close (pf_group_chunks *p) {
  for (size_t i = 0; p != NULL && i < p->count; i++)
    pf_group_scan_close(&p->parts[i].pass);
  free(p);
}


static void read_part (void *context) {
  part *const one = context;
  pf_error error;
  one->status =
      pf_group_scan_read(&one->pass, one->input, &one->all->stop, &error);
  if (one->status != PF_END)
    atomic_store(&one->all->stop, true);
  pf_group_scan_stop(&one->pass);
}


static void read_all (pf_group_chunks *p) {
  const bool strict = *p->strict;
  *p->strict = true;
  pf_all(read_part, p->parts, sizeof *p->parts, p->count);
  *p->strict = strict;
}


/* The first part becomes the whole, and the others are added to it. */
static pf_status put_together (pf_group_chunks *p, pf_group_scan *pass) {
  pf_group_scan_close(pass);
  *pass = p->parts[0].pass;
  p->parts[0].pass = (pf_group_scan){.is_open = false};
  for (size_t i = 1; i < p->count; i++) {
    pf_group_scan *const more = &p->parts[i].pass;
    if (pf_group_scan_merge(pass, more) != PF_OK)
      return PF_ENOMEM;
    pf_group_scan_close(more);
  }
  return PF_OK;
}


pf_status pf_group_chunks_read (pf_group_chunks *p, pf_group_scan *pass,
                                bool *done, pf_error *error) {
  read_all(p);
  *done = true;
  for (size_t i = 0; i < p->count; i++)
    *done &= p->parts[i].status == PF_END;
  if (!*done || put_together(p, pass) == PF_OK)
    return PF_OK;
  return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
}
