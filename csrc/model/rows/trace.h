/*
** trace.h - options, header facts and warnings of an opened file. Formats call
** it while they open and read; lua/trace.c reads the facts and warnings.
*/

#ifndef trace_h
#define trace_h

#include "profio.h"

/* One header fact of trace.info, in the order of the file. */
typedef struct pf_info {
  char name[40];
  pf_type type; /* PF_INT, PF_ADDR, PF_BOOL or PF_NAME (text) */
  int64_t integer;
  uint32_t name_number; /* of a text: in the trace's dictionary */
} pf_info;

typedef enum pf_note_kind {
  PF_NOTE,  /* nothing is lost: a guess, no executable, a wrap */
  PF_DAMAGE /* something is lost, or not as the format says */
} pf_note_kind;

/* One warning. `code` is a constant "<format>-<what>". */
typedef struct pf_warning {
  const char *code;
  pf_note_kind kind;
  uint64_t offset; /* PF_NO_OFFSET: at no byte */
  char message[232];
} pf_warning;

pf_notes *pf_notes_new (void);
void pf_notes_free (pf_notes *notes);

/* Set a header fact; setting it again replaces it. Out of memory it is dropped,
   and pf_info_failed tells: whoever opens the trace asks once at the end. */
void pf_info_int (pf_trace *trace, const char *name, int64_t value);
void pf_info_addr (pf_trace *trace, const char *name, uint64_t value);
void pf_info_bool (pf_trace *trace, const char *name, bool value);
void pf_info_text (pf_trace *trace, const char *name, pf_bytes value);

/* Add a text that a file may state several times: facts of one name follow each
   other in the order of the file. */
void pf_info_more (pf_trace *trace, const char *name, pf_bytes value);

bool pf_info_failed (const pf_notes *notes);
size_t pf_info_count (const pf_notes *notes);
const pf_info *pf_info_at (const pf_notes *notes, size_t index);

/*
** Add a warning. A warning with the code, offset and message of an earlier one
** is not counted again (told for the first million).
** Of each code the first is kept, and with the trace's option "all_warnings"
** the first million of all; the others are only counted.
** Returns PF_OK; PF_ENOMEM; or in a strict trace, for PF_DAMAGE, the failure
** `status` with the same words in `error`. Return a failure at once.
*/
pf_status pf_warn (pf_trace *trace, pf_note_kind kind, const char *code,
                   pf_status status, uint64_t offset, pf_error *error,
                   const char *format, ...) PF_PRINTF(7, 8);
size_t pf_warning_count (const pf_notes *notes);
const pf_warning *pf_warning_at (const pf_notes *notes, size_t index);

/* How many warnings of `code` there were, kept or only counted. */
uint64_t pf_warning_total (const pf_notes *notes, const char *code);

/* Options: the value given, else `fallback`. Types were checked in Lua. */
int64_t pf_option_int (const pf_trace *trace, const char *name,
                       int64_t fallback);
bool pf_option_text (const pf_trace *trace, const char *name, pf_bytes *text);
bool pf_option_is (const pf_trace *trace, const char *name, const char *text);

/* The source of a role, or NULL. */
const pf_source *pf_source_of (const pf_trace *trace, const char *role);

#endif
