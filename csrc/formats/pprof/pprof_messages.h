/*
** pprof_messages.h - the small messages of a profile as structs. Texts are numbers
** into the file's string table; what a message does not state is 0.
*/

#ifndef pprof_messages_h
#define pprof_messages_h

#include "formats/pprof/pprof_wire.h"

typedef struct pprof_value_type {
  uint64_t type, unit; /* strings */
} pprof_value_type;

typedef struct pprof_mapping {
  uint64_t id;
  uint64_t start, limit, offset; /* addresses in memory, offset in the file */
  uint64_t file, build_id;       /* strings */
  uint64_t has[4]; /* functions, file names, line numbers, inlined frames */
} pprof_mapping;

typedef struct pprof_function_message {
  uint64_t id;
  uint64_t name, system_name, file; /* strings */
  int64_t start_line;
} pprof_function_message;

typedef struct pprof_line {
  uint64_t function; /* its id */
  int64_t line, column;
} pprof_line;

typedef struct pprof_label {
  uint64_t key, text; /* strings; text 0: it is a number */
  int64_t number;
  uint64_t unit; /* a text */
} pprof_label;

void pprof_read_value_type (pf_bytes message, pprof_value_type *type);
void pprof_read_mapping (pf_bytes message, pprof_mapping *mapping);
void pprof_read_function (pf_bytes message, pprof_function_message *function);
void pprof_read_line (pf_bytes message, pprof_line *line);
void pprof_read_label (pf_bytes message, pprof_label *label);

#endif
