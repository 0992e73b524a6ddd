/*
** function_sums.c - the weights of functions in many runs (see
** profile_cells.h). Called by cell_methods.c, whose userdata owns the sums and
** closes them, also after a failed open.
*/

#include <stdlib.h>
#include <string.h>

#include "model/system/parallel.h"
#include "model/base/memory.h"
#include "os/os.h"
#include "store/profile_cells.h"


void pf_function_sums_close (pf_function_sums *sums) {
  free(sums->leaf_functions);
  free(sums->has_function);
  free(sums->self);
  *sums = (pf_function_sums){0};
}


/* Note which functions each stack has. Its parent has a lower id, so it was
   read before. */
static pf_status read_stacks (pf_function_sums *sums, pf_database *database,
                              const uint32_t *functions, uint32_t nframes,
                              pf_error *error) {
  pf_statement *s = NULL;
  pf_status status = pf_query_first(
      database, "SELECT id, parent, frame FROM stacks ORDER BY id", 0, &s,
      error);
  while (status == PF_MORE) {
    pf_stack_row row;
    status =
        pf_stack_of_row(s->handle, sums->stack_limit, nframes, &row, error);
    if (status != PF_OK)
      break;
    sums->leaf_functions[row.id] = functions[row.frame] + 1;
    sums->has_function[row.id] =
        functions[row.frame] != 0 || sums->has_function[row.parent];
    status = pf_statement_step(database, s, error);
  }
  pf_statement_end(s);
  return status == PF_END ? PF_OK : status;
}


pf_status pf_function_sums_open (pf_function_sums *sums, pf_database *database,
                                 const uint32_t *functions, uint32_t nframes,
                                 uint32_t count, pf_error *error) {
  *sums = (pf_function_sums){.count = count};
  pf_status status = pf_id_limit(database, "SELECT max(id) FROM stacks",
                                 &sums->stack_limit, error);
  if (status != PF_OK)
    return status;
  sums->leaf_functions =
      pf_array_of_zeros(sums->stack_limit, sizeof *sums->leaf_functions);
  sums->has_function =
      pf_array_of_zeros(sums->stack_limit, sizeof *sums->has_function);
  sums->self = pf_array((size_t)count + 1, sizeof *sums->self);
  if (sums->leaf_functions == NULL || sums->has_function == NULL ||
      sums->self == NULL)
    return pf_no_memory(error);
  sums->leaf_functions[0] =
      1; /* weight outside of all stacks: of no function */
  return read_stacks(sums, database, functions, nframes, error);
}


/* Add the cells of the current row. */
static pf_status add_cells (pf_function_sums *sums, sqlite3_stmt *s,
                            pf_function_totals *totals, pf_error *error) {
  pf_cells_reader reader;
  uint32_t id;
  int64_t weight;
  pf_status status = pf_cells_of_row(s, &reader);
  while (status == PF_MORE) {
    status = pf_cells_next(&reader, sums->stack_limit, &id, &weight);
    if (status == PF_MORE && sums->leaf_functions[id] == 0)
      status = PF_EFORMAT;
    if (status != PF_MORE)
      break;
    sums->self[sums->leaf_functions[id] - 1] += weight;
    totals->in_functions += sums->has_function[id] ? weight : 0;
    totals->all += weight;
  }
  return status == PF_END ? PF_OK : pf_cells_failed(status, s, error);
}


pf_status pf_function_sums_read (pf_function_sums *sums, pf_database *database,
                                 pf_statement *query,
                                 pf_function_totals *totals, pf_error *error) {
  pf_status status;
  if (sqlite3_column_count(query->handle) != 3)
    return pf_fail(error, PF_EFORMAT, PF_NO_OFFSET,
                   "the query must have three columns: run, metric, data");
  memset(sums->self, 0, ((size_t)sums->count + 1) * sizeof *sums->self);
  *totals = (pf_function_totals){0, 0};
  while ((status = pf_statement_step(database, query, error)) == PF_MORE) {
    status = add_cells(sums, query->handle, totals, error);
    if (status == PF_OK && os_is_interrupted())
      status = pf_interrupted(error);
    if (status != PF_OK)
      return status;
  }
  return status == PF_END ? PF_OK : status;
}
