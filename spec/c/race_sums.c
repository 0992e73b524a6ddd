/*
** race_sums.c - add files in several threads, under ThreadSanitizer, as
** core.file_sum does.
*/

#include <stdio.h>

#include "formats/formats.h"
#include "model/system/parallel.h"
#include "model/dictionary/names.h"
#include "model/rows/sum.h"
#include "model/rows/trace.h"
#include "recording.h"

#define ADDED 500 /* files of each thread */

/* A gmon.out: a histogram of 8 bins, and an arc. */
static const char gmon_file[] =
    "gmon\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
    "\0\0\x10\0\0\0\0\0\0\x40\x10\0\0\0\0\0\0\b\0\0\0\x64\0\0\0"
    "seconds\0\0\0\0\0\0\0\0s\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
    "\1\x10\x10\0\0\0\0\0\0\x20\x10\0\0\0\0\0\0\7\0\0";
#define GMON_BYTES ((pf_bytes){(const uint8_t *)gmon_file, sizeof gmon_file})


static void add_files (void *context) {
  pf_sum *const sum = *(pf_sum **)context;
  pf_error error;
  for (size_t i = 0; i < ADDED; i++)
    MUST(sum->add(sum, GMON_BYTES, &error) == PF_MORE);
}


/* Add files in four threads, and merge their sums. */
static void sum_files (void) {
  const pf_source source = {"main", "", GMON_BYTES};
  pf_trace first = {.format = &pf_format_gmon,
                    .sources = &source,
                    .nsources = 1,
                    .dictionary = pf_dictionary_new(),
                    .notes = pf_notes_new()};
  pf_sum *sums[4];
  pf_error error;
  MUST(pf_trace_open(&first, &error) == PF_OK);
  MUST(first.format->sum(&first, &sums[0], &error) == PF_OK);
  for (size_t i = 1; i < 4; i++)
    MUST(sums[0]->open_like(sums[0], &sums[i], &error) == PF_OK);
  pf_run_all(add_files, sums, sizeof *sums, 4);
  for (size_t i = 1; i < 4; i++) {
    MUST(sums[0]->merge(sums[0], sums[i], &error) == PF_OK);
    sums[i]->close(sums[i]);
  }
  MUST(sums[0]->arcs == 4 * ADDED);
  sums[0]->close(sums[0]);
  pf_trace_close(&first);
  pf_notes_free(first.notes);
  pf_dictionary_free(first.dictionary);
  printf("files added: %d\n", 4 * ADDED);
}


int main (void) {
  sum_files();
  return 0;
}
