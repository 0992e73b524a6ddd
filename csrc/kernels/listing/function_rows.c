/*
** function_rows.c - the reader of the functions of a profile, by number.
*/

#include "kernels/listing/row_fill.h"

/* clang-format off */
enum {
  NUMBER, FUNCTION, SYMBOL, ADDRESS, FILE_NAME, LINE, CALLS, RECURSIVE, CYCLE,
  IS_PSEUDO, IS_LOCAL, NFIELDS
};

static const pf_field fields[NFIELDS] = {
  {"number", PF_INT, "the function's number in filters"},
  {"function", PF_NAME, "its name"},
  {"symbol", PF_NAME, "its symbol"},
  {"address", PF_ADDR, "where it begins"},
  {"file", PF_NAME, "the file in which it begins"},
  {"line", PF_INT, "the line on which it begins"},
  {"calls", PF_INT, "calls by others"},
  {"recursive_calls", PF_INT, "calls by itself"},
  {"cycle", PF_INT, "the cycle it is in"},
  {"is_pseudo", PF_BOOL, "an address range in no symbol"},
  {"is_local", PF_BOOL, "static"},
};
/* clang-format on */

typedef struct functions_reader {
  listing_reader listing;
  size_t at;
} functions_reader;


static void put_function (const pf_listing *listing, pf_batch *batch,
                          size_t f) {
  const pf_graph *graph = listing->flow->graph;
  const uint32_t cycle = pf_flow_cycle(listing->flow, f);
  put_int(batch, NUMBER, (int64_t)f);
  put_name(batch, FUNCTION, listing_name(listing, f));
  put_name(batch, SYMBOL, graph->names[f]);
  pf_put_addr(&batch->columns[ADDRESS], batch->rows, graph->addresses[f], true);
  put_name(batch, FILE_NAME, pf_graph_file(graph, f));
  put_int(batch, LINE, pf_graph_first_line(graph, f));
  if (pf_graph_file(graph, f) == PF_NO_NAME)
    put_missing(batch, LINE);
  put_int(batch, CALLS, graph->calls[f]);
  put_int(batch, RECURSIVE, graph->self_calls[f]);
  put_int(batch, CYCLE, cycle);
  if (cycle == 0)
    put_missing(batch, CYCLE);
  pf_put_bool(&batch->columns[IS_PSEUDO], batch->rows,
              (graph->flags[f] & PF_FUNCTION_PSEUDO) != 0, true);
  pf_put_bool(&batch->columns[IS_LOCAL], batch->rows,
              (graph->flags[f] & PF_FUNCTION_LOCAL) != 0, true);
}


static bool make_function (listing_reader *reader, pf_batch *batch) {
  functions_reader *self = (functions_reader *)reader;
  const pf_graph *graph = reader->listing.flow->graph;
  while (self->at < graph->nfunctions && !reader->listing.zeros &&
         (graph->flags[self->at] & PF_FUNCTION_USED) == 0)
    self->at++;
  if (self->at == graph->nfunctions)
    return false;
  put_function(&reader->listing, batch, self->at++);
  return true;
}


pf_status pf_listing_functions (const pf_listing *listing, pf_reader **reader,
                                pf_error *error) {
  *reader = listing_new(sizeof(functions_reader), listing, fields, NFIELDS,
                        make_function, error);
  return *reader == NULL ? PF_ENOMEM : PF_OK;
}
