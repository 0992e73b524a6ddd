/*
** namer.c - a table of the bytes of a field, a few places to look at for each.
** It forgets: where all of these are taken, a new name takes the first.
*/

#include <stdlib.h>
#include <string.h>

#include "bytes/cursor.h"
#include "formats/xpp/namer.h"
#include "model/names.h"

#define MOST_PLACES 4096
#define MOST_BYTES  ((size_t)1 << 20) /* of all places */
#define TRIES       4                 /* places for one name */

/* Of what the loops over records are made of. */
#define HOT static inline __attribute__((always_inline))

/* The name of nothing, in places: names there are numbers + 1. */
#define MISSING UINT32_MAX


/* {====== Opening ====== */

/* Whether equal bytes of the field always say the same. */
static bool tells_by_bytes (const dbf_field *field) {
  return field->kind == DBF_TEXT && field->size > 0 && field->null_bit < 0 &&
         field->length_bit < 0;
}


/* How a field of 2 to 7 bytes is loaded as a word; false: it cannot be. */
static bool find_load (xpp_namer *namer, uint32_t record) {
  const dbf_field *const field = namer->field;
  if (record - field->offset >= 8)
    namer->load = XPP_LOAD_AHEAD;
  else if (field->offset + field->size >= 8)
    namer->load = XPP_LOAD_BEHIND;
  else
    return false;
  return true;
}


pf_status xpp_namer_open (xpp_namer *namer, const xpp_file *file,
                          size_t field) {
  memset(namer, 0, sizeof *namer);
  if (file->is_text || field == XPP_NO_FIELD ||
      !tells_by_bytes(&file->dbf->fields[field]))
    return PF_OK;
  namer->field = &file->dbf->fields[field];
  const size_t size = namer->field->size;
  if (size == 1)
    return PF_OK;
  if (size < 8 && !find_load(namer, file->dbf->record)) {
    namer->field = NULL;
    return PF_OK;
  }
  namer->words = (size + 7) / 8;
  const size_t place = (namer->words + 1) * sizeof(uint64_t);
  size_t count = MOST_PLACES;
  while (count > TRIES && count * place > MOST_BYTES)
    count /= 2;
  namer->mask = count - 1;
  namer->known = calloc(count, place);
  return namer->known == NULL ? PF_ENOMEM : PF_OK;
}


void xpp_namer_close (xpp_namer *namer) {
  free(namer->known);
  namer->known = NULL;
}

/* }====== */


/* {====== Looking up ====== */

/* What the loops know of a field: the compiler shall see that it is constant. */
typedef struct shape {
  xpp_load load;
  size_t size, words;
} shape;


/* Word `i` of the bytes of a field; the last one may have some of the one
   before it again. */
HOT uint64_t word_at (shape of, const uint8_t *at, size_t i) {
  const size_t size = of.size;
  switch (of.load) {
    case XPP_LOAD_WORDS:
      return pf_load64le(8 * i + 8 <= size ? at + 8 * i : at + size - 8);
    case XPP_LOAD_AHEAD: return pf_load64le(at) << 8 * (8 - size);
    default: return pf_load64le(at + size - 8) >> 8 * (8 - size);
  }
}


static inline uint64_t mixed (uint64_t hash, uint64_t word) {
  return (hash ^ word) * 0x9e3779b97f4a7c15u;
}


/* Where the search for the bytes of a field begins. Steps instead of a loop:
   with a constant number of words only they are left of it. */
HOT size_t place_of (shape of, const uint8_t *at) {
  uint64_t hash = mixed(0, word_at(of, at, 0));
  if (of.words > 1)
    hash = mixed(hash, word_at(of, at, 1));
  if (of.words > 2)
    hash = mixed(hash, word_at(of, at, 2));
  for (size_t i = 3; i < of.words; i++)
    hash = mixed(hash, word_at(of, at, i));
  return (size_t)(hash >> 40);
}


HOT bool is_known (shape of, const uint64_t *known, const uint8_t *at) {
  uint64_t other = known[0] ^ word_at(of, at, 0);
  if (of.words > 1)
    other |= known[1] ^ word_at(of, at, 1);
  if (of.words > 2)
    other |= known[2] ^ word_at(of, at, 2);
  for (size_t i = 3; i < of.words; i++)
    other |= known[i] ^ word_at(of, at, i);
  return other == 0 && known[of.words] != 0;
}


/* The place of the bytes, or else the one that they take: a free one, or the
   first. */
HOT size_t find (const xpp_namer *namer, shape of, const uint8_t *at,
                 bool *found) {
  const size_t first = place_of(of, at) & namer->mask, size = of.words + 1;
  for (size_t i = 0; i < TRIES; i++) {
    const size_t place = (first + i) & namer->mask;
    const uint64_t *const known = namer->known + place * size;
    *found = is_known(of, known, at);
    if (*found || known[of.words] == 0)
      return place * size;
  }
  return first * size;
}


HOT size_t find_words (const xpp_namer *namer, shape of, const uint8_t *at,
                       size_t stride, size_t count, uint32_t *names) {
  size_t i = 0;
  for (; i < count; i++, at += stride) {
    bool found;
    const size_t place = find(namer, of, at, &found);
    const uint32_t name = (uint32_t)namer->known[place + of.words];
    if (!found || name == MISSING)
      break;
    names[i] = name - 1;
  }
  return i;
}


static size_t find_bytes (const xpp_namer *namer, const uint8_t *at,
                          size_t stride, size_t count, uint32_t *names) {
  size_t i = 0;
  for (; i < count; i++, at += stride) {
    names[i] = namer->of_byte[*at] - 1;
    if (names[i] >= MISSING - 1)
      break;
  }
  return i;
}


/* The usual sizes have loops of their own. */
size_t xpp_namer_find (const xpp_namer *namer, const uint8_t *at, size_t stride,
                       size_t count, uint32_t *names) {
  const size_t size = namer->field->size;
  const shape two = {XPP_LOAD_WORDS, size, 2};
  const shape three = {XPP_LOAD_WORDS, size, 3};
  const shape any = {namer->load, size, namer->words};
  switch (namer->words) {
    case 0: return find_bytes(namer, at, stride, count, names);
    case 2: return find_words(namer, two, at, stride, count, names);
    case 3: return find_words(namer, three, at, stride, count, names);
    default: return find_words(namer, any, at, stride, count, names);
  }
}

/* }====== */


/* {====== Columns ====== */

/* The name in one record, decoded: its number + 1, or MISSING. */
static pf_status decode (xpp_namer *namer, xpp_rows *rows, dbf_run run,
                         uint32_t *name, pf_error *error) {
  uint64_t missing[PF_BATCH_ROWS / 64];
  pf_bytes text = {NULL, 0};
  pf_column one = {.type = PF_BYTES, .missing = missing};
  one.bytes = &text;
  const pf_status status =
      dbf_fill(&rows->decoder, namer->field, &run, &one, 0, error);
  if (status != PF_OK)
    return status;
  *name = MISSING;
  if (pf_is_missing(&one, 0))
    return PF_OK;
  text = xpp_trim(text);
  namer->has_full |= text.size >= namer->field->size;
  const uint32_t number = pf_intern(rows->walk.trace->dictionary, text);
  *name = number + 1;
  return number >= PF_NO_NAME - 1 ? xpp_no_memory(error) : PF_OK;
}

/* Know the name of a record from now on. */
static void keep (xpp_namer *namer, const uint8_t *at, uint32_t name) {
  const shape of = {namer->load, namer->field->size, namer->words};
  bool found;
  if (of.words == 0) {
    namer->of_byte[*at] = name;
    return;
  }
  uint64_t *const known = namer->known + find(namer, of, at, &found);
  for (size_t i = 0; i < of.words; i++)
    known[i] = word_at(of, at, i);
  known[of.words] = name;
}


/* The name of a record, which may be none, into a row. */
static pf_status fill_one (xpp_namer *namer, xpp_rows *rows, const dbf_run *run,
                           pf_column *column, size_t row, pf_error *error) {
  uint32_t name;
  const pf_status status = decode(namer, rows, *run, &name, error);
  if (status != PF_OK)
    return status;
  keep(namer, run->at + namer->field->offset, name);
  column->ids[row] = name == MISSING ? 0 : name - 1;
  if (name == MISSING)
    pf_set_missing(column, row);
  return PF_OK;
}


static pf_status fill_run (xpp_namer *namer, xpp_rows *rows, const xpp_run *run,
                           pf_column *column, pf_error *error) {
  const xpp_piece *const piece = &run->piece;
  const size_t record = (size_t)piece->size;
  const uint8_t *const first =
      xpp_source(&rows->walk, piece->source).at + piece->offset;
  for (size_t i = 0; i < piece->count; i++) {
    i += xpp_namer_find(namer, first + i * record + namer->field->offset,
                        record, piece->count - i, &column->ids[run->row + i]);
    if (i == piece->count)
      break;
    const dbf_run one = {first + i * record, 1, piece->offset + i * record};
    const pf_status status =
        fill_one(namer, rows, &one, column, run->row + i, error);
    if (status != PF_OK)
      return status;
  }
  return PF_OK;
}


pf_status xpp_namer_fill (xpp_namer *namer, xpp_rows *rows, pf_column *column,
                          pf_error *error) {
  pf_status status = PF_OK;
  for (size_t i = 0; i < rows->nruns && status == PF_OK; i++)
    status = fill_run(namer, rows, &rows->runs[i], column, error);
  return status;
}

/* }====== */
