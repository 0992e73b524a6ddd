/*
** messages.h - the small messages of a profile as structs. Used by the
** readers, the merge and the writer. Strings are indexes into the string table
** of the file, or names in the dictionary where the merge and the writer say
** so. The functions cannot fail: missing fields are 0.
*/

#ifndef messages_h
#define messages_h

#include "formats/pprof/wire.h"

typedef struct pprof_value_type {
  uint64_t type, unit; /* strings */
} pprof_value_type;

typedef struct pprof_mapping {
  uint64_t id;
  uint64_t start, limit, offset; /* virtual addresses, offset in the mapped
                                    file */
  uint64_t file, build_id;       /* strings */
  uint64_t has[4]; /* functions, file names, line numbers, inlined frames */
} pprof_mapping;

typedef struct pprof_function_message {
  uint64_t id;
  uint64_t name, system_name, file; /* strings */
  int64_t start_line;
} pprof_function_message;

typedef struct pprof_line {
  uint64_t function; /* id */
  int64_t line, column;
} pprof_line;

typedef struct pprof_label {
  uint64_t key, text; /* strings; text 0: `number` is the value */
  int64_t number;
  uint64_t unit; /* string */
} pprof_label;

void pprof_read_value_type (pf_bytes message, pprof_value_type *type);
void pprof_read_mapping (pf_bytes message, pprof_mapping *mapping);
void pprof_read_function (pf_bytes message, pprof_function_message *function);
void pprof_read_line (pf_bytes message, pprof_line *line);
void pprof_read_label (pf_bytes message, pprof_label *label);

#endif
