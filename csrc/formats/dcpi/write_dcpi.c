/*
** write_dcpi.c - the encoder, steps 3 and 4: sorts and checks the rows and
** writes a file of version 0.07 (layout in header_dcpi.c and chunk.c) or
** dcpicat's text (dcpicat.c).
**
** All checks precede the first byte. A gap of one address without samples is
** written as a count of 0, which takes 4 bytes; a new chunk would take 8.
*/

#include <stdio.h>
#include <stdlib.h>

#include "bytes/sink.h"
#include "formats/dcpi/encode_dcpi.h"

/* {====== Rows ====== */

static int compare_rows (const void *left, const void *right) {
  const dcpi_row *const a = left, *const b = right;
  if (a->address != b->address)
    return a->address < b->address ? -1 : 1;
  return (a->event > b->event) - (a->event < b->event);
}


/* Add up rows of one address and event, remove those without samples, and set
   the totals of the events. */
static pf_status add_rows (const dcpi_output *out) {
  dcpi_writer *const writer = out->writer;
  const uint64_t maximum = writer->dialect == DCPI_PDB ? UINT32_MAX : INT64_MAX;
  size_t kept = 0;
  for (size_t i = 0; i < writer->nrows; i++) {
    const dcpi_row row = writer->rows[i];
    dcpi_row *const last = kept > 0 ? &writer->rows[kept - 1] : NULL;
    uint64_t *const total = &out->header->events[row.event].total;
    if (row.count > maximum || row.count > maximum - *total)
      return pf_fail(out->error, PF_EUNSUPPORTED, PF_NO_OFFSET,
                     "the counts of address 0x%llx add up to more than the "
                     "file can hold",
                     (unsigned long long)row.address);
    *total += row.count;
    if (row.count > 0 && last != NULL && compare_rows(last, &row) == 0)
      last->count += row.count;
    else if (row.count > 0)
      writer->rows[kept++] = row;
  }
  writer->nrows = kept;
  return PF_OK;
}


static pf_status check_row (const dcpi_output *out, const dcpi_row *row) {
  const dcpi_output_header *const header = out->header;
  const uint64_t offset = row->address - header->start;
  if (row->address < header->start || offset >= header->size)
    return pf_fail(out->error, PF_EUNSUPPORTED, PF_NO_OFFSET,
                   "address 0x%llx is outside of the code, 0x%llx and %llu "
                   "bytes from there",
                   (unsigned long long)row->address,
                   (unsigned long long)header->start,
                   (unsigned long long)header->size);
  if (out->writer->dialect == DCPI_PDB &&
      (offset > UINT32_MAX || offset % DCPI_INSN_SIZE != 0))
    return pf_fail(out->error, PF_EUNSUPPORTED, PF_NO_OFFSET,
                   "address 0x%llx is %llu bytes into the code: a multiple of "
                   "%d below 2^32 expected",
                   (unsigned long long)row->address, (unsigned long long)offset,
                   DCPI_INSN_SIZE);
  return PF_OK;
}

/* }====== */


/* {====== Required values ====== */


/* Check that all required values are stated, and the number of events. */
static pf_status check_stated (const dcpi_output *out) {
  static const dcpi_word needed[] = {DCPI_IMAGE, DCPI_EPOCH, DCPI_PLATFORM,
                                     DCPI_CPUSPEED};
  const bool is_binary = out->writer->dialect == DCPI_PDB;
  char list[80] = "";
  size_t used = 0;
  for (size_t i = 0; i < (is_binary ? 4 : 3); i++)
    if (!dcpi_is_stated(out, needed[i]))
      used += (size_t)snprintf(list + used, sizeof list - used, " %s",
                               dcpi_rules[needed[i]].word);
  if (out->header->nevents == 0)
    used += (size_t)snprintf(list + used, sizeof list - used, " event");
  if (used > 0)
    return pf_fail(out->error, PF_EUNSUPPORTED, PF_NO_OFFSET,
                   "the file must state%s: give it in header", list);
  if (!is_binary || out->header->nevents == 1)
    return PF_OK;
  return pf_fail(out->error, PF_EUNSUPPORTED, PF_NO_OFFSET,
                 "a 0.07 file holds one event, here are %zu: write dcpicat's "
                 "text, or open only one of them",
                 out->header->nevents);
}


/* Whether a value has the syntax of its word. */
static bool has_syntax (const dcpi_output *out, dcpi_word word) {
  const pf_bytes text = dcpi_name(out, out->header->values[word]);
  uint64_t number;
  switch (dcpi_rules[word].syntax) {
    case DCPI_DECIMAL: return dcpi_number(text, 10, &number) == PF_OK;
    case DCPI_HEX_DIGITS: return dcpi_number(text, 16, &number) != PF_EFORMAT;
    case DCPI_TEXT:
      return dcpi_is_printable(text) && !dcpi_is_blank(text.at[0]);
    default: return true;
  }
}


static pf_status check_values (const dcpi_output *out) {
  for (dcpi_word word = DCPI_IMAGE; word < DCPI_WORDS; word++) {
    if (!dcpi_is_stated(out, word) || word == DCPI_EVENT ||
        has_syntax(out, word))
      continue;
    const pf_bytes text = dcpi_name(out, out->header->values[word]);
    return pf_fail(out->error, PF_EUNSUPPORTED, PF_NO_OFFSET,
                   "%s cannot be written as \"%.*s\"", dcpi_rules[word].word,
                   (int)(text.size < 40 ? text.size : 40),
                   (const char *)text.at);
  }
  for (size_t i = 0; i < out->header->nevents; i++)
    if (!dcpi_is_printable(dcpi_name(out, out->header->events[i].name)))
      return pf_fail(out->error, PF_EUNSUPPORTED, PF_NO_OFFSET,
                     "an event without a name, or with control bytes in it");
  return PF_OK;
}

/* }====== */


/* {====== Chunks ====== */

static void put_number (const dcpi_output *out, uint64_t value) {
  (void)pf_sink_uint(out->sink, 4, false, value);
}


static void put_binary (const dcpi_output *out) {
  const dcpi_row *const rows = out->writer->rows;
  const size_t nrows = out->writer->nrows;
  dcpi_put_header(out);
  for (size_t first = 0, end; first < nrows; first = end) {
    const uint64_t start = rows[first].address;
    for (end = first + 1; end < nrows; end++)
      if (rows[end].address - rows[end - 1].address > 2 * DCPI_INSN_SIZE)
        break;
    put_number(out, start - out->header->start);
    put_number(out, (rows[end - 1].address - start) / DCPI_INSN_SIZE + 1);
    for (size_t i = first; i < end; i++) {
      if (i > first && rows[i].address - rows[i - 1].address > DCPI_INSN_SIZE)
        put_number(out, 0);
      put_number(out, rows[i].count);
    }
  }
  put_number(out, nrows);
  put_number(out, out->header->events[0].total);
}

/* }====== */


/* {====== Text of dcpicat ====== */

static void put_aligned (const dcpi_output *out, const char *word,
                         pf_bytes value) {
  dcpi_put_format(out, "%-16s ", word);
  dcpi_put_bytes(out, value);
  dcpi_put_format(out, "\n");
}


static void put_value (const dcpi_output *out, dcpi_word word) {
  if (dcpi_is_stated(out, word))
    put_aligned(out, dcpi_rules[word].word,
                dcpi_name(out, out->header->values[word]));
}


/* Write a line for each address, with a count for each event. */
static void put_counts (const dcpi_output *out) {
  const dcpi_row *row = out->writer->rows; /* NULL when there are none */
  const dcpi_row *const end = row == NULL ? NULL : row + out->writer->nrows;
  while (row < end) {
    const uint64_t address = row->address;
    dcpi_put_format(out, "0x%012llx", (unsigned long long)address);
    for (uint32_t i = 0; i < out->header->nevents; i++) {
      const bool is_there =
          row < end && row->address == address && row->event == i;
      dcpi_put_format(out, " %7llu",
                      (unsigned long long)(is_there ? row->count : 0));
      row += is_there;
    }
    dcpi_put_format(out, "\n");
  }
}


static void put_text (const dcpi_output *out) {
  const dcpi_output_header *const header = out->header;
  const dcpi_writer *const writer = out->writer;
  /* The name of the image is the line `name`, else the last component of the
     path, else the identifier. */
  pf_bytes name = dcpi_name(out, header->values[DCPI_NAME]);
  if (!dcpi_is_stated(out, DCPI_NAME) && dcpi_is_stated(out, DCPI_PATH))
    name = dcpi_base_name(dcpi_name(out, header->values[DCPI_PATH]));
  put_aligned(out, "name",
              name.size > 0 ? name
                            : dcpi_name(out, header->values[DCPI_IMAGE]));
  put_value(out, DCPI_IMAGE);
  put_value(out, DCPI_LABEL);
  for (size_t i = 0; i < writer->nfields; i++)
    if (dcpi_field_word(writer, &writer->fields[i]) == DCPI_PATH &&
        !dcpi_is_duplicate(out, i) &&
        !dcpi_is_overridden(out, &writer->fields[i]))
      put_aligned(out, "path", dcpi_name(out, writer->fields[i].value));
  put_value(out, DCPI_EPOCH);
  put_value(out, DCPI_PLATFORM);
  dcpi_put_format(out, "%-16s 0x%012llx\n", "text_start",
                  (unsigned long long)header->start);
  dcpi_put_format(out, "%-16s 0x%012llx\n", "text_size",
                  (unsigned long long)header->size);
  for (size_t i = 0; i < header->nevents; i++) {
    const dcpi_output_event *const event = &header->events[i];
    dcpi_put_format(out, "%-16s %llu ", "event",
                    (unsigned long long)event->total);
    dcpi_put_bytes(out, dcpi_name(out, event->name));
    dcpi_put_format(out, ":%llu:%llu\n", (unsigned long long)event->period,
                    (unsigned long long)event->fraction);
  }
  put_counts(out);
}

/* }====== */


pf_status dcpi_write (dcpi_writer *writer, pf_sink *sink, pf_error *error) {
  dcpi_output_header header;
  const dcpi_output out = {writer, &header, sink, error};
  pf_status status = dcpi_merge_headers(writer, &header, error);
  if (status == PF_OK)
    status = check_stated(&out);
  if (status == PF_OK)
    status = check_values(&out);
  if (status < 0)
    return status;
  size_t sorted = 1; /* the rows of a single file are mostly sorted */
  while (sorted < writer->nrows &&
         compare_rows(&writer->rows[sorted - 1], &writer->rows[sorted]) <= 0)
    sorted++;
  if (sorted < writer->nrows)
    qsort(writer->rows, writer->nrows, sizeof *writer->rows, compare_rows);
  status = add_rows(&out);
  if (status < 0)
    return status;
  /* if no header states the code range, that of the samples */
  const dcpi_row *const rows = writer->rows;
  if (!dcpi_is_stated(&out, DCPI_TSTART) &&
      !dcpi_is_stated(&out, DCPI_TEXT_START) && writer->nrows > 0)
    header.start = rows[0].address;
  if (!dcpi_is_stated(&out, DCPI_TSIZE) &&
      !dcpi_is_stated(&out, DCPI_TEXT_SIZE) && writer->nrows > 0)
    header.size =
        rows[writer->nrows - 1].address - header.start + DCPI_INSN_SIZE;
  for (size_t i = 0; i < writer->nrows && status == PF_OK; i++)
    status = check_row(&out, &writer->rows[i]);
  if (status < 0)
    return status;
  if (writer->dialect == DCPI_PDB)
    put_binary(&out);
  else
    put_text(&out);
  return pf_sink_flush(sink, error);
}
