/*
** messages.c - reads small messages. If a field repeats, the last one
** counts; unknown fields are skipped.
*/

#include "formats/pprof/wire.h"

#define MAX_FIELDS 11 /* largest field number in use, + 1 */

/* Set values[MAX_FIELDS] to the numbers of a message, 0 if missing. */
static void read_numbers (pf_bytes message, uint64_t *values) {
  pf_cursor c = pf_cursor_over(message, false);
  pprof_field field;
  for (size_t i = 0; i < MAX_FIELDS; i++)
    values[i] = 0;
  while (pprof_next_field(&c, &field))
    if (field.number < MAX_FIELDS && field.wire != PPROF_BYTES)
      values[field.number] = field.value;
}


void pprof_read_value_type (pf_bytes message, pprof_value_type *type) {
  uint64_t v[MAX_FIELDS];
  read_numbers(message, v);
  *type = (pprof_value_type){v[1], v[2]};
}


void pprof_read_mapping (pf_bytes message, pprof_mapping *mapping) {
  uint64_t v[MAX_FIELDS];
  read_numbers(message, v);
  *mapping = (pprof_mapping){
      v[1], v[2], v[3], v[4], v[5], v[6], {v[7], v[8], v[9], v[10]}};
}


void pprof_read_function (pf_bytes message, pprof_function_message *function) {
  uint64_t v[MAX_FIELDS];
  read_numbers(message, v);
  *function = (pprof_function_message){v[1], v[2], v[3], v[4], (int64_t)v[5]};
}


void pprof_read_line (pf_bytes message, pprof_line *line) {
  uint64_t v[MAX_FIELDS];
  read_numbers(message, v);
  *line = (pprof_line){v[1], (int64_t)v[2], (int64_t)v[3]};
}


void pprof_read_label (pf_bytes message, pprof_label *label) {
  uint64_t v[MAX_FIELDS];
  read_numbers(message, v);
  *label = (pprof_label){v[1], v[2], (int64_t)v[3], v[4]};
}
