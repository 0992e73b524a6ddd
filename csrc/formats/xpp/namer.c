/*
** namer.c - a small table of the bytes of a field. It forgets: two names of
** one place take turns.
*/

#include <string.h>

#include "bytes/cursor.h"
#include "formats/xpp/namer.h"
#include "model/names.h"


void xpp_namer_open (xpp_namer *namer, const xpp_file *file, size_t field) {
  memset(namer, 0, sizeof *namer);
  if (!file->is_text && field != XPP_NO_FIELD &&
      file->dbf->fields[field].kind == DBF_TEXT &&
      file->dbf->fields[field].size > 0)
    namer->field = &file->dbf->fields[field];
}


/* The bytes of a field, 8 at a time; the last ones may be counted twice. */
static size_t place_of (const uint8_t *at, size_t size) {
  uint64_t hash = size < 8 ? at[0] : pf_load64le(at + size - 8);
  for (size_t i = 1; size < 8 && i < size; i++)
    hash = hash << 8 | at[i];
  for (size_t i = 0; i + 8 < size; i += 8)
    hash = (hash ^ pf_load64le(at + i)) * 0x9e3779b97f4a7c15u;
  return (size_t)(hash * 0x9e3779b97f4a7c15u >> 54) & (XPP_NAMER_ROOM - 1);
}


static bool are_same (const uint8_t *left, const uint8_t *right, size_t size) {
  if (size < 8)
    return memcmp(left, right, size) == 0;
  if (pf_load64le(left + size - 8) != pf_load64le(right + size - 8))
    return false;
  for (size_t i = 0; i + 8 < size; i += 8)
    if (pf_load64le(left + i) != pf_load64le(right + i))
      return false;
  return true;
}


/* The name in one record, decoded. */
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
  *name = PF_NO_NAME;
  if (pf_is_missing(&one, 0))
    return PF_OK;
  text = xpp_trim(text);
  namer->has_full |= text.size >= namer->field->size;
  *name = pf_intern(rows->walk.trace->dictionary, text);
  return *name == PF_NO_NAME ? xpp_no_memory(error) : PF_OK;
}


/* The names of records that follow each other. */
static pf_status fill_run (xpp_namer *namer, xpp_rows *rows, const xpp_run *run,
                           pf_column *column, pf_error *error) {
  const size_t size = namer->field->size, record = (size_t)run->piece.size;
  const uint8_t *at = xpp_source(&rows->walk, run->piece.source).at +
                      run->piece.offset + namer->field->offset;
  for (size_t i = 0; i < run->piece.count; i++, at += record) {
    const size_t place = place_of(at, size);
    if (namer->known[place].at == NULL ||
        !are_same(namer->known[place].at, at, size)) {
      const dbf_run one = {at - namer->field->offset, 1,
                           run->piece.offset + i * record};
      const pf_status status =
          decode(namer, rows, one, &namer->known[place].name, error);
      namer->known[place].at = status == PF_OK ? at : NULL;
      if (status != PF_OK)
        return status;
    }
    const uint32_t name = namer->known[place].name;
    column->ids[run->row + i] = name == PF_NO_NAME ? 0 : name;
    if (name == PF_NO_NAME)
      pf_set_missing(column, run->row + i);
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
