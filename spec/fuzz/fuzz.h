/*
** fuzz.h - used by all fuzz targets: a trace over bytes in memory, and a main
** function that replays files without libFuzzer (-DSTANDALONE).
*/

#ifndef fuzz_h
#define fuzz_h

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/formats.h"
#include "model/rows/batch.h"
#include "model/dictionary/names.h"
#include "model/rows/trace.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

/* Print the condition and abort if it does not hold. */
#define MUST(condition)                                               \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      abort();                                                        \
    }                                                                 \
  } while (0)


/* A trace over bytes, and everything that the trace borrows. */
typedef struct fuzz_trace {
  pf_source sources[4];
  pf_trace trace;
} fuzz_trace;

/* Open bytes as a format, with the bytes of a memo file. Close it also after a
   failure. */
static inline pf_status fuzz_open_beside (fuzz_trace *fuzz,
                                          const pf_format *format,
                                          pf_bytes bytes, pf_bytes memo,
                                          const pf_option *options,
                                          size_t noptions, bool strict) {
  pf_error error = {.status = PF_OK};
  fuzz->sources[0] = (pf_source){"main", "", bytes};
  fuzz->sources[1] = (pf_source){"memo", "", memo};
  fuzz->sources[2] = (pf_source){"pri", "", bytes};
  fuzz->sources[3] = (pf_source){"packet", "fuzz.000002", bytes};
  fuzz->trace = (pf_trace){.format = format,
                           .sources = fuzz->sources,
                           .nsources = 4,
                           .options = options,
                           .noptions = noptions,
                           .strict = strict,
                           .dictionary = pf_dictionary_new(),
                           .notes = pf_notes_new()};
  MUST(fuzz->trace.dictionary != NULL && fuzz->trace.notes != NULL);
  const pf_status status = pf_trace_open(&fuzz->trace, &error);
  MUST(status == PF_OK ||
       (status < 0 && error.status == status && error.what[0] != '\0'));
  return status;
}


/* The same; the bytes serve as all side files too. */
static inline pf_status fuzz_open (fuzz_trace *fuzz, const pf_format *format,
                                   pf_bytes bytes, const pf_option *options,
                                   size_t noptions, bool strict) {
  return fuzz_open_beside(fuzz, format, bytes, bytes, options, noptions,
                          strict);
}


static inline void fuzz_close (fuzz_trace *fuzz) {
  pf_trace_close(&fuzz->trace);
  pf_notes_free(fuzz->trace.notes);
  pf_dictionary_free(fuzz->trace.dictionary);
}


#ifdef STANDALONE

static int replay (const char *path) {
  FILE *const file = fopen(path, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
    perror(path);
    return 1;
  }
  const long size = ftell(file);
  uint8_t *const data = malloc(size > 0 ? (size_t)size : 1);
  rewind(file);
  MUST(size >= 0 && data != NULL);
  MUST(fread(data, 1, (size_t)size, file) == (size_t)size);
  fclose(file);
  LLVMFuzzerTestOneInput(data, (size_t)size);
  free(data);
  return 0;
}


int main (int argc, char **argv) {
  int failed = 0;
  for (int i = 1; i < argc; i++)
    failed |= replay(argv[i]);
  printf("%d files replayed\n", argc - 1);
  return failed;
}

#endif

#endif
