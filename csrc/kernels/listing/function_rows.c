/*
** function_rows.c - the reader of the functions of a profile, by number. Opened
** by lua/profile/profile.c (profile:functions); owns nothing but itself.
*/

#include "kernels/listing/row_fill.h"

/* clang-format off */
enum {
  NUMBER, FUNCTION, SYMBOL, ADDRESS, FILE_NAME, LINE, CALLS, RECURSIVE, CYCLE,
  IS_PSEUDO, IS_LOCAL, IS_USED, NFIELDS
};

static const pf_field fields[NFIELDS] = {
  {"number", PF_INT, "its number in filters"},
  {"function", PF_NAME, "its name"},
  {"symbol", PF_NAME, "its symbol"},
  {"address", PF_ADDR, "where it begins"},
  {"file", PF_NAME, "the file in which it begins"},
  {"line", PF_INT, "the line on which it begins"},
  {"calls", PF_INT, "calls by others"},
  {"recursive_calls", PF_INT, "calls by itself"},
  {"cycle", PF_INT, "the cycle it is in"},
  {"is_pseudo", PF_BOOL, "no function, but addresses that no symbol covers"},
  {"is_local", PF_BOOL, "static"},
  {"is_used", PF_BOOL, "has a sample, or a call of it or by it was counted"},
};
/* clang-format on */

typedef struct functions_reader {
  listing_reader listing;
  size_t at;
} functions_reader;


static bool make_function (listing_reader *reader, pf_batch *batch) {
  functions_reader *const self = (functions_reader *)reader;
  const pf_flow *const flow = reader->listing.flow;
  const pf_graph *const graph = flow->graph;
  pf_column *const columns = batch->columns;
  const size_t row = batch->rows;
  while (self->at < graph->nfunctions && !reader->listing.zeros &&
         (graph->flags[self->at] & PF_FUNCTION_USED) == 0)
    self->at++;
  if (self->at == graph->nfunctions)
    return false;
  const size_t f = self->at++;
  const uint32_t file = pf_graph_file(graph, f);
  const uint32_t cycle = pf_flow_cycle(flow, f);
  put_int(batch, NUMBER, (int64_t)f);
  put_name(batch, FUNCTION, listing_name(&reader->listing, f));
  put_name(batch, SYMBOL, graph->names[f]);
  pf_put_addr(&columns[ADDRESS], row, graph->addresses[f], true);
  put_name(batch, FILE_NAME, file);
  pf_put_int(&columns[LINE], row, pf_graph_first_line(graph, f),
             file != PF_NO_NAME);
  put_int(batch, CALLS, graph->calls[f]);
  put_int(batch, RECURSIVE, graph->self_calls[f]);
  pf_put_int(&columns[CYCLE], row, cycle, cycle != 0);
  pf_put_bool(&columns[IS_PSEUDO], row,
              (graph->flags[f] & PF_FUNCTION_PSEUDO) != 0, true);
  pf_put_bool(&columns[IS_LOCAL], row,
              (graph->flags[f] & PF_FUNCTION_LOCAL) != 0, true);
  pf_put_bool(&columns[IS_USED], row, (graph->flags[f] & PF_FUNCTION_USED) != 0,
              true);
  return true;
}


pf_status pf_listing_functions (const pf_listing *listing, pf_reader **reader,
                                pf_error *error) {
  *reader = listing_new(sizeof(functions_reader), listing, fields, NFIELDS,
                        make_function, error);
  return *reader == NULL ? PF_ENOMEM : PF_OK;
}
