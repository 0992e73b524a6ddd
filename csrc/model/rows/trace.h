/*
** trace.h - an opened file: its sources and options, and the header facts and
** warnings that its format adds while it opens and reads. lua/trace_part.c
** opens it and shows facts and warnings. lua/checked_reader.c closes it, also
** after a failed open, and may open it again.
**
** The part userdata owns the notes and pins sources, options and dictionary.
** The format borrows them until `close`; it owns `state` and the tables.
** Readers of tables borrow the trace until their own `close`.
*/

#ifndef trace_h
#define trace_h

#include "profio.h"

/* The bytes of a file of a trace. The binding owns them. */
typedef struct pf_source {
  const char *role; /* "main", "memo", "mapping", ... */
  const char *path; /* for messages; "" when the bytes have no path */
  pf_bytes bytes;
} pf_source;

/* An option that the format's Lua file declares, with the user's value. */
struct pf_option {
  const char *name;
  bool is_text; /* else a whole number or a truth value */
  int64_t integer;
  pf_bytes text;
};

typedef struct pf_notes pf_notes;

/* An opened file: sources and a format. */
struct pf_trace {
  const struct pf_format *format;
  const pf_source *sources; /* the first is the main one */
  size_t nsources;
  const pf_option *options; /* read with pf_option_... below */
  size_t noptions;
  bool strict;                /* the first damage is a failure */
  pf_dictionary *dictionary;  /* may be shared by traces */
  struct pf_symbols *symbols; /* while it is opened: of the executable that is
                                 given for a format whose files name functions
                                 by addresses; or NULL */
  pf_bytes program;           /* path of this executable; "": not known */
  pf_notes *notes;            /* info and warnings */
  const pf_table *tables;     /* set by format->open; the first is the main */
  size_t ntables;
  void *state; /* the format's own; NULL: none, or the trace is closed */
};

/* A header fact, shown in trace.info. Facts have the order of the file. */
typedef struct pf_info {
  const char *name; /* a constant */
  pf_type type;     /* PF_INT, PF_ADDR, PF_BOOL or PF_NAME (text) */
  uint32_t text;    /* PF_NAME: id in the trace's dictionary */
  int64_t integer;  /* the value of the other types */
} pf_info;

typedef enum pf_note_kind {
  PF_NOTE,  /* no data is lost: a guess, no executable, a wrap */
  PF_DAMAGE /* data is lost, or violates the format */
} pf_note_kind;

/* A warning. `code` is a constant "<format>-<what>". */
typedef struct pf_warning {
  const char *code;
  pf_note_kind kind;
  uint64_t offset; /* in the file; PF_NO_OFFSET: no position */
  char message[232];
} pf_warning;

/* Open a trace as its format does, with a new state. The caller closes it, also
   after a failure. */
pf_status pf_trace_open (pf_trace *trace, pf_error *error);

/* Free the state of a trace, if it has one. */
void pf_trace_close (pf_trace *trace);

/* The facts and warnings of a trace, empty. NULL when out of memory; the caller
   frees them with pf_notes_free. */
pf_notes *pf_notes_new (void);
void pf_notes_free (pf_notes *notes);

/* Set a header fact, or replace its value. `name` is a constant. When out of
   memory the fact is dropped; the caller of format->open then asks
   pf_info_failed. */
void pf_info_int (pf_trace *trace, const char *name, int64_t value);
void pf_info_addr (pf_trace *trace, const char *name, uint64_t value);
void pf_info_bool (pf_trace *trace, const char *name, bool value);
void pf_info_text (pf_trace *trace, const char *name, pf_bytes value);

/* Add a further fact of the same name, for a text that a file may state several
   times. */
void pf_info_more (pf_trace *trace, const char *name, pf_bytes value);

/* A fact by the key that a file has for it, in any case. */
typedef struct pf_known_fact {
  const char *key, *name;
} pf_known_fact;

/* Add the fact of a key, if it is one of `count` and the value is not empty. */
void pf_info_known (pf_trace *trace, const pf_known_fact *known, size_t count,
                    pf_bytes key, pf_bytes value);

/* Whether a fact or a warning was dropped when out of memory. */
bool pf_info_failed (const pf_notes *notes);
size_t pf_info_count (const pf_notes *notes);
const pf_info *pf_info_at (const pf_notes *notes, size_t index);

/*
** Add a warning. A repetition, with the code, offset and message of an earlier
** warning, is ignored (for the first 2^20 warnings).
**
** Of the warnings of a code that have a position the first one is stored (the
** one with the lowest offset if the readers of the format may run in threads);
** the others are counted. Of those without a position up to 100 are stored.
** With the option "all_warnings" of the trace up to a million are stored, and
** all without a position.
**
** Returns PF_OK or PF_ENOMEM; in a strict trace, for PF_DAMAGE, returns
** `status` and puts the message into `error`. The caller returns a failure at
** once. If readers run in threads, the caller holds a lock of the format.
*/
pf_status pf_warn (pf_trace *trace, pf_note_kind kind, const char *code,
                   pf_status status, uint64_t offset, pf_error *error,
                   const char *format, ...) PF_PRINTF(7, 8);
size_t pf_warning_count (const pf_notes *notes);
const pf_warning *pf_warning_at (const pf_notes *notes, size_t index);

/* The number of warnings that a stored one stands for, without the option
   "all_warnings": the first one with a position stands for all of its code, the
   hundredth without a position also for those after it. */
uint64_t pf_warning_times (const pf_notes *notes, size_t index);

/* The number of warnings of a code, stored or not. */
uint64_t pf_warning_total (const pf_notes *notes, const char *code);

/* Return the value of an option, or `fallback`; pf_option_text sets *text and
   returns whether the option is set; pf_option_is returns whether its text is
   `text`. Lua has checked the types. */
int64_t pf_option_int (const pf_trace *trace, const char *name,
                       int64_t fallback);
bool pf_option_text (const pf_trace *trace, const char *name, pf_bytes *text);
bool pf_option_is (const pf_trace *trace, const char *name, const char *text);

/* Return the source with a role, or NULL. */
const pf_source *pf_source_of (const pf_trace *trace, const char *role);

#endif
