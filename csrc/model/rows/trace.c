/*
** trace.c - opening of a trace; its header facts, warnings and options.
*/

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes/text.h"
#include "model/base/id_table.h"
#include "model/base/intern_table.h"
#include "model/base/memory.h"
#include "model/dictionary/names.h"
#include "model/rows/trace.h"

#define MAX_KEPT   1000000 /* stored warnings, with the option "all_warnings" */
#define MAX_KNOWN  ((size_t)1 << 20) /* warnings with a stored hash */
#define MAX_OTHERS 100 /* stored warnings of a code without a position */

/* The warnings of a code. */
typedef struct code_count {
  const char *code;
  uint64_t count;  /* warnings with a position */
  uint64_t others; /* warnings without a position */
  size_t last;     /* index of the last stored one without a position */
  size_t first;    /* index of the first warning with a position, if any */
} code_count;

struct pf_notes {
  pf_info *infos;
  size_t ninfos, info_capacity;
  pf_warning *warnings;
  size_t nwarnings, capacity;
  code_count *codes; /* few: codes are constants of the formats */
  size_t ncodes, code_capacity;
  pf_id_table known; /* hashes of the first MAX_KNOWN warnings */
  bool has_failed;   /* out of memory: a fact or a warning was dropped */
};


pf_status pf_trace_open (pf_trace *trace, pf_error *error) {
  const size_t size = trace->format->state_size;
  trace->state = size > 0 ? calloc(1, size) : NULL;
  return size > 0 && trace->state == NULL ? pf_no_memory(error)
                                          : trace->format->open(trace, error);
}


void pf_trace_close (pf_trace *trace) {
  if (trace->state != NULL && trace->format->close != NULL)
    trace->format->close(trace);
  free(trace->state);
  trace->state = NULL;
}


pf_notes *pf_notes_new (void) {
  pf_notes *const notes = calloc(1, sizeof *notes);
  if (notes != NULL)
    pf_id_table_init(&notes->known);
  return notes;
}


void pf_notes_free (pf_notes *notes) {
  if (notes == NULL)
    return;
  free(notes->infos);
  free(notes->warnings);
  free(notes->codes);
  pf_id_table_free(&notes->known);
  free(notes);
}


/* Returns the fact with a name, or appends one; always with `is_new`. NULL when
   out of memory. */
static pf_info *info_entry (pf_notes *notes, const char *name, bool is_new) {
  for (size_t i = 0; !is_new && i < notes->ninfos; i++)
    if (strcmp(notes->infos[i].name, name) == 0)
      return &notes->infos[i];
  if (!pf_grow(&notes->infos, &notes->info_capacity, notes->ninfos + 1)) {
    notes->has_failed = true;
    return NULL;
  }
  pf_info *const info = &notes->infos[notes->ninfos++];
  *info = (pf_info){.name = name};
  return info;
}


static void set_integer (pf_trace *trace, const char *name, pf_type type,
                         int64_t value) {
  pf_info *const info = info_entry(trace->notes, name, false);
  if (info == NULL)
    return;
  info->type = type;
  info->integer = value;
}


void pf_info_int (pf_trace *trace, const char *name, int64_t value) {
  set_integer(trace, name, PF_INT, value);
}


void pf_info_addr (pf_trace *trace, const char *name, uint64_t value) {
  set_integer(trace, name, PF_ADDR, (int64_t)value);
}


void pf_info_bool (pf_trace *trace, const char *name, bool value) {
  set_integer(trace, name, PF_BOOL, value);
}


static void set_text (pf_trace *trace, pf_info *info, pf_bytes value) {
  const uint32_t number = pf_intern(trace->dictionary, value);
  if (number == PF_NO_NAME)
    trace->notes->has_failed = true;
  if (info == NULL || number == PF_NO_NAME)
    return;
  info->type = PF_NAME;
  info->text = number;
}


void pf_info_text (pf_trace *trace, const char *name, pf_bytes value) {
  set_text(trace, info_entry(trace->notes, name, false), value);
}


void pf_info_more (pf_trace *trace, const char *name, pf_bytes value) {
  set_text(trace, info_entry(trace->notes, name, true), value);
}


void pf_info_known (pf_trace *trace, const pf_known_fact *known, size_t count,
                    pf_bytes key, pf_bytes value) {
  for (size_t i = 0; i < count; i++)
    if (pf_bytes_alike(key, pf_bytes_of(known[i].key)) && value.size > 0)
      pf_info_more(trace, known[i].name, value);
}


bool pf_info_failed (const pf_notes *notes) {
  return notes->has_failed;
}


size_t pf_info_count (const pf_notes *notes) {
  return notes->ninfos;
}


const pf_info *pf_info_at (const pf_notes *notes, size_t index) {
  return &notes->infos[index];
}


/* Returns whether a warning is a repetition: readers of several tables and a
   second scan pass the same positions. A new one is remembered, up to
   MAX_KNOWN. */
static bool is_known (pf_notes *notes, uint64_t hash) {
  const uint32_t count = notes->known.count;
  uint32_t id;
  if (count >= MAX_KNOWN)
    return pf_id_table_find(&notes->known, hash) != PF_NO_ID;
  if (pf_id_table_words(&notes->known, &hash, 1, &id) != PF_OK) {
    notes->has_failed = true;
    return false;
  }
  return id < count;
}


/* Returns the entry of a code, or NULL. */
static code_count *find_code (const pf_notes *notes, const char *code) {
  for (size_t i = 0; i < notes->ncodes; i++)
    if (strcmp(notes->codes[i].code, code) == 0)
      return &notes->codes[i];
  return NULL;
}


/* Returns the entry of a code, which may be a new one; NULL when out of
   memory. */
static code_count *count_of (pf_notes *notes, const char *code) {
  code_count *const known = find_code(notes, code);
  if (known != NULL)
    return known;
  if (!pf_grow(&notes->codes, &notes->code_capacity, notes->ncodes + 1)) {
    notes->has_failed = true;
    return NULL;
  }
  notes->codes[notes->ncodes] = (code_count){.code = code};
  return &notes->codes[notes->ncodes++];
}


/* Counts a warning, and stores it as pf_warn says. If readers run in threads
   (`parallel`), the warning with the lowest offset replaces the first of its
   code. */
static void note (pf_notes *notes, bool all, bool parallel, uint64_t seed,
                  const pf_warning *warning) {
  code_count *const code = count_of(notes, warning->code);
  if (code == NULL)
    return;
  uint64_t hash =
      pf_mix(pf_mix(seed, (size_t)(code - notes->codes)), warning->offset);
  hash = pf_mix_bytes(hash, warning->message, strlen(warning->message));
  if (is_known(notes, hash))
    return;
  bool is_stored;
  if (warning->offset == PF_NO_OFFSET) {
    is_stored = code->others++ < MAX_OTHERS || all;
  }
  else {
    is_stored = code->count++ == 0 || (all && notes->nwarnings < MAX_KEPT);
    if (!is_stored && !all && parallel && notes->nwarnings > 0 &&
        warning->offset < notes->warnings[code->first].offset)
      notes->warnings[code->first] = *warning;
  }
  if (!is_stored)
    return;
  if (!pf_grow(&notes->warnings, &notes->capacity, notes->nwarnings + 1)) {
    notes->has_failed = true;
    return;
  }
  if (warning->offset == PF_NO_OFFSET)
    code->last = notes->nwarnings;
  else if (code->count == 1)
    code->first = notes->nwarnings;
  notes->warnings[notes->nwarnings++] = *warning;
}


pf_status pf_warn (pf_trace *trace, pf_note_kind kind, const char *code,
                   pf_status status, uint64_t offset, pf_error *error,
                   const char *format, ...) {
  pf_warning warning = {code, kind, offset, ""};
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(warning.message, sizeof warning.message, format, arguments);
  va_end(arguments);
  if (trace->strict && kind == PF_DAMAGE)
    return pf_fail(error, status, offset, "%s", warning.message);
  note(trace->notes, pf_option_int(trace, "all_warnings", 0) != 0,
       trace->format != NULL && trace->format->parallel,
       trace->dictionary->seed, &warning);
  if (trace->notes->has_failed)
    return pf_no_memory(error);
  return PF_OK;
}


size_t pf_warning_count (const pf_notes *notes) {
  return notes->nwarnings;
}


const pf_warning *pf_warning_at (const pf_notes *notes, size_t index) {
  return &notes->warnings[index];
}


uint64_t pf_warning_times (const pf_notes *notes, size_t index) {
  const pf_warning *const warning = &notes->warnings[index];
  const code_count *const code = find_code(notes, warning->code);
  if (warning->offset != PF_NO_OFFSET)
    return code->count;
  return index == code->last && code->others > MAX_OTHERS
             ? code->others - MAX_OTHERS + 1
             : 1;
}


uint64_t pf_warning_total (const pf_notes *notes, const char *code) {
  const code_count *const known = find_code(notes, code);
  return known == NULL ? 0 : known->count + known->others;
}


static const pf_option *option_named (const pf_trace *trace, const char *name) {
  for (size_t i = 0; i < trace->noptions; i++)
    if (strcmp(trace->options[i].name, name) == 0)
      return &trace->options[i];
  return NULL;
}


int64_t pf_option_int (const pf_trace *trace, const char *name,
                       int64_t fallback) {
  const pf_option *const option = option_named(trace, name);
  return option == NULL || option->is_text ? fallback : option->integer;
}


bool pf_option_text (const pf_trace *trace, const char *name, pf_bytes *text) {
  const pf_option *const option = option_named(trace, name);
  if (option == NULL || !option->is_text)
    return false;
  *text = option->text;
  return true;
}


bool pf_option_is (const pf_trace *trace, const char *name, const char *text) {
  pf_bytes given;
  return pf_option_text(trace, name, &given) && given.size == strlen(text) &&
         memcmp(given.at, text, given.size) == 0;
}


const pf_source *pf_source_of (const pf_trace *trace, const char *role) {
  for (size_t i = 0; i < trace->nsources; i++)
    if (strcmp(trace->sources[i].role, role) == 0)
      return &trace->sources[i];
  return NULL;
}
