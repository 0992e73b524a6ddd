/*
** histograms.c - reads the table `sets`, and finds a set by its number. Called
** by assemble.c, attribute.c and gprof.c (declared in attribute.h). The
** pf_histograms owns its array, which pf_histograms_close frees.
*/

#include "kernels/graph/attribute.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/base/pull.h"
#include "model/base/memory.h"
#include "model/dictionary/names.h"

enum {
  SET,
  LOW,
  HIGH,
  BINS,
  RATE,
  DIMENSION,
  ABBREVIATION,
  NWANTS
};

static const pf_want wants[NWANTS] = {
    {"set", PF_INT, true},
    {"low", PF_ADDR, true},
    {"high", PF_ADDR, true},
    {"bins", PF_INT, true},
    {"rate", PF_INT, true},
    {"dimension", PF_NAME, false},
    {"abbreviation", PF_NAME, false},
};


pf_status pf_histograms_read (pf_histograms *sets, pf_reader *reader,
                              pf_error *error) {
  pf_pull pull;
  memset(sets, 0, sizeof *sets);
  pf_status status = pf_pull_open(&pull, reader, wants, NWANTS, error);
  if (status != PF_OK)
    return status;
  while (status >= PF_OK && (status = pf_pull_next(&pull, error)) == PF_MORE)
    for (size_t row = 0; row < pull.batch.rows && status == PF_MORE; row++) {
      if (!pf_grow(&sets->sets, &sets->capacity, sets->count + 1)) {
        status = pf_no_memory(error);
        break;
      }
      sets->sets[sets->count] = (pf_histogram){
          .number = pf_pull_int(pull.columns[SET], row, 0),
          .low = pull.columns[LOW]->addrs[row],
          .high = pull.columns[HIGH]->addrs[row],
          .bins = pf_pull_int(pull.columns[BINS], row, 0),
          .rate = pf_pull_int(pull.columns[RATE], row, 0),
          .dimension = pf_pull_id(pull.columns[DIMENSION], row),
          .abbreviation = pf_pull_id(pull.columns[ABBREVIATION], row),
          .first = sets->count,
      };
      sets->count++;
    }
  pf_pull_close(&pull);
  return status == PF_END ? PF_OK : status;
}


void pf_histograms_close (pf_histograms *sets) {
  free(sets->sets);
  memset(sets, 0, sizeof *sets);
}


bool pf_histogram_is_seconds (const pf_histogram *set,
                              const pf_dictionary *dictionary) {
  static const char seconds[] = "seconds";
  if (set->dimension == PF_NO_NAME)
    return true;
  const pf_bytes text = pf_name(dictionary, set->dimension);
  return text.size == sizeof seconds - 1 &&
         memcmp(text.at, seconds, text.size) == 0;
}


void pf_histograms_facts (const pf_histograms *sets,
                          const pf_dictionary *dictionary,
                          pf_graph_facts *facts) {
  const pf_histogram *first = sets->sets;
  facts->sets = sets->count;
  for (size_t i = sets->count; i-- > 0;)
    if (pf_histogram_is_seconds(&sets->sets[i], dictionary))
      first = &sets->sets[i];
  if (first == NULL)
    return;
  facts->is_seconds = pf_histogram_is_seconds(first, dictionary);
  facts->rate = (double)first->rate;
  facts->dimension = first->dimension;
  facts->abbreviation = first->abbreviation;
  facts->scale = pf_histogram_scale(first);
  for (size_t i = 0; i < sets->count; i++)
    if (sets->sets[i].dimension == first->dimension &&
        sets->sets[i].rate != first->rate)
      facts->same_rates = false;
}


const pf_histogram *pf_histograms_find (const pf_histograms *sets,
                                        int64_t number, size_t *at) {
  for (size_t i = 0; i < sets->count; i++) {
    const size_t next = (*at + i) % sets->count;
    if (sets->sets[next].number == number) {
      *at = next;
      return &sets->sets[next];
    }
  }
  return NULL;
}
