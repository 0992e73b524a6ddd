/*
** recording.h - used by the C programs of the checks: a writer of br rows with
** ascending line numbers, and a check of the lines that are found again.
*/

#ifndef recording_h
#define recording_h

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes/ring/ring.h"
#include "formats/formats.h"
#include "model/writer/ring_encoder.h"
#include "model/writer/writer.h"

/* Print the condition and abort if it does not hold. */
#define MUST(condition)                                               \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      abort();                                                        \
    }                                                                 \
  } while (0)

/* Columns of br's samples; see formats/br/br.h. */
enum {
  MODULE = 0,
  LINE = 1
};

/* A writer of rows with module and line. */
typedef struct recording {
  pf_dictionary *dictionary;
  pf_writer *writer;
  pf_sink sink;
  uint64_t module; /* id of its name */
} recording;

static inline pf_status recording_open (recording *r, int fd,
                                        const char *ring_path,
                                        pf_ring_mode mode, uint64_t size,
                                        pf_error *error) {
  r->dictionary = pf_dictionary_new();
  r->writer = NULL;
  MUST(r->dictionary != NULL && pf_sink_open(&r->sink, fd) == PF_OK);
  r->module = pf_intern_text(r->dictionary, "A.BR");
  pf_ring_claim claim;
  pf_status status = PF_OK;
  if (ring_path != NULL)
    status = pf_ring_claim_open(&claim, ring_path, error);
  if (status != PF_OK)
    return status;
  const pf_writer_plan plan = {.format = pf_format_named("br"),
                               .dictionary = r->dictionary,
                               .sink = &r->sink,
                               .claim = ring_path == NULL ? NULL : &claim,
                               .ring_size = size,
                               .mode = mode};
  status = pf_writer_open(&r->writer, &plan, error);
  if (status != PF_OK && ring_path != NULL)
    pf_ring_claim_close(&claim);
  if (status == PF_OK)
    status = pf_writer_start(r->writer, error);
  if (status == PF_OK)
    status = pf_writer_journal(r->writer, error);
  return status;
}

/* Record a line; returns false if it was dropped or the writer has failed. */
static inline bool recording_put (recording *r, uint64_t line) {
  uint64_t *const at = pf_writer_begin(r->writer, 2);
  if (at == NULL)
    return false;
  at[0] = r->module;
  at[1] = line;
  pf_writer_commit(r->writer, at, 2, pf_tag(0, 1u << MODULE | 1u << LINE));
  return true;
}

static inline pf_status recording_close (recording *r, pf_error *error) {
  pf_status status = PF_OK;
  if (r->writer != NULL)
    status = pf_writer_close(r->writer, error);
  pf_sink_close(&r->sink);
  pf_dictionary_free(r->dictionary);
  return status;
}


/* Summary of the lines found, which are in ascending order. */
typedef struct found {
  uint64_t count, first, last;
  uint64_t gaps; /* missing lines between the first and the last */
} found;

/* Add the lines of a br file, parsed here and not by the decoder. All records
   must be complete. */
static inline void found_add (found *f, pf_bytes bytes) {
  size_t at = 0;
  while (at < bytes.size) {
    const uint8_t *const p = bytes.at + at;
    if (p[0] == 1) {
      MUST(bytes.size - at >= 5);
      at += 5 + ((size_t)p[3] << 8 | p[4]);
      continue;
    }
    MUST(bytes.size - at >= 9 && p[0] == 3 && p[8] == 6);
    const uint64_t line = (uint64_t)p[3] << 24 | (uint64_t)p[4] << 16 |
                          (uint64_t)p[5] << 8 | p[6];
    MUST(f->count == 0 || line > f->last);
    if (f->count == 0)
      f->first = line;
    else
      f->gaps += line - f->last - 1;
    f->last = line;
    f->count++;
    at += 9;
  }
  MUST(at == bytes.size);
}

/* Returns up to `length` bytes of a file; the caller frees them. */
static inline pf_bytes bytes_of (const char *path, uint64_t length) {
  FILE *const file = fopen(path, "rb");
  MUST(file != NULL);
  uint8_t *const bytes = malloc((size_t)length + 1);
  MUST(bytes != NULL);
  const size_t size = fread(bytes, 1, (size_t)length, file);
  fclose(file);
  return (pf_bytes){bytes, size};
}

#endif
