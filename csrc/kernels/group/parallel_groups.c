/*
** parallel_groups.c - reads chunks of a table in threads.
**
** Warnings must be recorded in the order of the rows, and only the first ones
** are stored. So chunks are read strictly: the first warning in any of them
** ends all, and none is recorded. Then the caller reads the rows with one
** reader, which records them.
*/

#include "kernels/group/parallel_groups.h"

#include <stdlib.h>

#include "model/base/parallel.h"

typedef struct chunk {
  pf_group_chunks *all;
  pf_reader *input;
  pf_group_scan scan;
  pf_status status;
} chunk;

struct pf_group_chunks {
  bool *strict;
  atomic_bool stop; /* a chunk did not reach its end */
  size_t count;
  chunk chunks[];
};


pf_status pf_group_chunks_open (pf_reader *const *readers, size_t count,
                                bool *strict, const pf_group_scan *model,
                                pf_group_chunks **chunks) {
  pf_group_chunks *const p = calloc(1, sizeof *p + count * sizeof *p->chunks);
  if (p == NULL)
    return PF_ENOMEM;
  p->strict = strict;
  pf_status status = PF_OK;
  for (; p->count < count && status == PF_OK; p->count++) {
    chunk *const c = &p->chunks[p->count];
    c->all = p;
    c->input = readers[p->count];
    status = pf_group_scan_clone(&c->scan, model, c->input->nfields);
  }
  *chunks = p;
  if (status == PF_OK)
    return PF_OK;
  pf_group_chunks_close(p);
  *chunks = NULL;
  return status;
}


void pf_group_chunks_close (pf_group_chunks *p) {
  for (size_t i = 0; p != NULL && i < p->count; i++)
    pf_group_scan_close(&p->chunks[i].scan);
  free(p);
}


static void read_chunk (void *context) {
  chunk *const c = context;
  pf_error error;
  c->status = pf_group_scan_read(&c->scan, c->input, &c->all->stop, &error);
  if (c->status != PF_END)
    atomic_store(&c->all->stop, true);
  pf_group_scan_stop(&c->scan);
}


static void read_all (pf_group_chunks *p) {
  const bool strict = *p->strict;
  *p->strict = true;
  pf_run_all(read_chunk, p->chunks, sizeof *p->chunks, p->count);
  *p->strict = strict;
}


/* The first chunk becomes the scan, and the others are merged into it. */
static pf_status merge_chunks (pf_group_chunks *p, pf_group_scan *scan) {
  pf_group_scan_close(scan);
  *scan = p->chunks[0].scan;
  p->chunks[0].scan = (pf_group_scan){.is_open = false};
  for (size_t i = 1; i < p->count; i++) {
    pf_group_scan *const more = &p->chunks[i].scan;
    if (pf_group_scan_merge(scan, more) != PF_OK)
      return PF_ENOMEM;
    pf_group_scan_close(more);
  }
  return PF_OK;
}


pf_status pf_group_chunks_read (pf_group_chunks *p, pf_group_scan *scan,
                                bool *done, pf_error *error) {
  read_all(p);
  *done = true;
  for (size_t i = 0; i < p->count; i++)
    *done &= p->chunks[i].status == PF_END;
  if (!*done || merge_chunks(p, scan) == PF_OK)
    return PF_OK;
  return pf_no_memory(error);
}
