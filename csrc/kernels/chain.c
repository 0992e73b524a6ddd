/*
** chain.c - reads one input after the other, writes the constants, and offsets
** ids that are local to an input.
*/

#include <stdlib.h>
#include <string.h>

#include "kernels/chain.h"
#include "kernels/chain_stacks.h"
#include "model/names.h"

const char pf_chain_file[] = "the file it is from";


typedef struct chain_reader {
  pf_reader reader;
  pf_chain_input *parts;
  uint32_t *constants; /* nconstants for each input */
  pf_field *fields;
  char *names; /* of the constants, concatenated */
  size_t nparts, nconstants, ninput;
  size_t at;     /* the current input */
  uint64_t base; /* ids used by the inputs before it */
} chain_reader;


static void renumber (pf_column *column, size_t rows, uint64_t base) {
  if (column->data == NULL || base == 0)
    return;
  if (column->type == PF_INT)
    for (size_t i = 0; i < rows; i++)
      column->ints[i] = (int64_t)((uint64_t)column->ints[i] + base);
  else if (column->type == PF_ADDR || column->type == PF_HANDLE)
    for (size_t i = 0; i < rows; i++)
      column->addrs[i] += base;
  else if (pf_type_size(column->type) == sizeof(uint32_t))
    for (size_t i = 0; i < rows; i++)
      column->ids[i] += (uint32_t)base;
}


static void fill_constant (pf_column *column, size_t rows, uint32_t name) {
  if (column->data == NULL)
    return;
  for (size_t i = 0; i < rows; i++)
    column->ids[i] = name;
  for (size_t i = 0; name == PF_NO_NAME && i < rows; i++) {
    column->ids[i] = 0;
    pf_set_missing(column, i);
  }
}


static void complete (const chain_reader *c, pf_batch *batch) {
  for (size_t i = 0; i < c->ninput; i++)
    if (c->fields[i].part_numbers)
      renumber(&batch->columns[i], batch->rows, c->base);
  for (size_t i = 0; i < c->nconstants; i++)
    fill_constant(&batch->columns[c->ninput + i], batch->rows,
                  c->constants[c->at * c->nconstants + i]);
}


/* Close an input, unless it is NULL. The first one stays open: its fields are
   those of the chain. */
static void close_part (pf_chain_input *part) {
  if (part == NULL || part->owner == NULL)
    return;
  *part->owner = NULL;
  part->reader->close(part->reader);
  part->reader = NULL;
}


static pf_status chain_next (pf_reader *self, pf_batch *batch,
                             pf_error *error) {
  chain_reader *const c = (chain_reader *)(void *)self;
  while (c->at < c->nparts) {
    pf_reader *const input = c->parts[c->at].reader;
    const pf_status status = input->next(input, batch, error);
    if (status == PF_MORE)
      complete(c, batch);
    if (status != PF_END)
      return status;
    c->base += c->parts[c->at].numbers_used;
    close_part(c->at == 0 ? NULL : &c->parts[c->at]);
    c->at++;
  }
  pf_batch_clear(batch);
  return PF_END;
}


/* Bulk read of the stacks of all inputs. */
static pf_status chain_read_stacks (pf_reader *self, const pf_gathering *to,
                                    pf_error *error) {
  const chain_reader *const c = (const chain_reader *)(const void *)self;
  return pf_chain_read_stacks(c->parts, c->nparts, to, error);
}


static bool can_read_stacks (const pf_chain_input *parts, size_t nparts) {
  for (size_t i = 0; i < nparts; i++)
    if (parts[i].reader->gather == NULL)
      return false;
  return nparts > 0;
}


static void chain_want (pf_reader *self, bool *wanted) {
  chain_reader *const c = (chain_reader *)(void *)self;
  for (size_t i = 0; i < c->nparts; i++)
    if (c->parts[i].reader != NULL && c->parts[i].reader->want != NULL)
      c->parts[i].reader->want(c->parts[i].reader, wanted);
}


static void chain_close (pf_reader *self) {
  chain_reader *const c = (chain_reader *)(void *)self;
  free(c->parts);
  free(c->constants);
  free(c->fields);
  free(c->names);
  free(c);
}


static bool set_parts (chain_reader *c, const pf_chain_input *parts) {
  c->parts = calloc(c->nparts + 1, sizeof *parts);
  c->constants = calloc(c->nparts * c->nconstants + 1, sizeof *c->constants);
  if (c->parts == NULL || c->constants == NULL)
    return false;
  for (size_t p = 0; p < c->nparts; p++) {
    c->parts[p] = parts[p];
    for (size_t i = 0; i < c->nconstants; i++)
      c->constants[p * c->nconstants + i] = parts[p].constants[i];
  }
  return true;
}


static bool set_fields (chain_reader *c, const pf_reader *first,
                        const char *const *constants) {
  size_t size = 1;
  for (size_t i = 0; i < c->nconstants; i++)
    size += strlen(constants[i]) + 1;
  c->names = malloc(size);
  c->fields = calloc(c->ninput + c->nconstants + 1, sizeof *c->fields);
  if (c->names == NULL || c->fields == NULL)
    return false;
  for (size_t i = 0; i < c->ninput; i++)
    c->fields[i] = first->fields[i];
  char *at = c->names;
  for (size_t i = 0; i < c->nconstants; i++) {
    const size_t length = strlen(constants[i]) + 1;
    memcpy(at, constants[i], length);
    c->fields[c->ninput + i] =
        (pf_field){at, PF_NAME, i == 0 ? pf_chain_file : NULL, false};
    at += length;
  }
  return true;
}


pf_status pf_chain_open (const pf_chain_input *parts, size_t nparts,
                         const char *const *constants, size_t nconstants,
                         pf_reader **reader, pf_error *error) {
  chain_reader *const c = calloc(1, sizeof *c);
  if (c == NULL)
    return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
  c->nparts = nparts;
  c->nconstants = nconstants;
  c->ninput = parts[0].reader->nfields;
  if (!set_parts(c, parts) || !set_fields(c, parts[0].reader, constants)) {
    chain_close(&c->reader);
    return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
  }
  c->reader = (pf_reader){.fields = c->fields,
                          .nfields = c->ninput + nconstants,
                          .dictionary = parts[0].reader->dictionary,
                          .next = chain_next,
                          .want = chain_want,
                          .close = chain_close};
  if (can_read_stacks(parts, nparts))
    c->reader.gather = chain_read_stacks;
  *reader = &c->reader;
  return PF_OK;
}
