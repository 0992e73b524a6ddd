/*
** fuzz_xpp.c - random entries: the decoder of xpp must return what the encoder
** has accepted, as a table or as text.
**
** The input is two bytes of options, then rows: a byte of flags for missing
** values, and the values. Times never decrease, because a decreasing clock of
** 32 bits would be taken for an overflow.
*/

#include "bytes/cursor.h"
#include "bytes/sink.h"
#include "formats/xpp/xpp.h"
#include "fuzz.h"
#include "model/writer/encoder.h"

#define MAX_ROWS 300
#define MS       1000000

/* How entries are written and read. */
typedef struct way {
  bool is_text, has_blank; /* blank: numbers may be missing */
  pf_option written[8], read[4];
  size_t nwritten, nread;
} way;


/* {====== Rows ====== */

static uint64_t take_uint (pf_cursor *in, unsigned width) {
  uint64_t value = 0;
  if (!pf_take_uint(in, width, &value))
    in->at = in->bytes.size;
  return value;
}


static pf_bytes take_text (pf_cursor *in, size_t max) {
  pf_bytes text = {(const uint8_t *)"", 0};
  if (!pf_take(in, take_uint(in, 1) % (max + 1), &text))
    in->at = in->bytes.size;
  return text;
}


/* Remove padding: blanks and tabs around a name, and NULs after it. */
static pf_bytes trim (pf_bytes text) {
  while (text.size > 0 && (text.at[0] == ' ' || text.at[0] == '\t'))
    text = (pf_bytes){text.at + 1, text.size - 1};
  while (text.size > 0 &&
         (text.at[text.size - 1] == ' ' || text.at[text.size - 1] == '\t' ||
          text.at[text.size - 1] == 0))
    text.size--;
  return text;
}


static void put_name (pf_dictionary *dictionary, pf_column *column, size_t row,
                      bool missing, pf_bytes name) {
  column->ids[row] = pf_intern(dictionary, name);
  MUST(column->ids[row] != PF_NO_NAME);
  if (missing)
    pf_set_missing(column, row);
}


static void put_int (pf_column *column, size_t row, bool missing,
                     int64_t value) {
  column->ints[row] = value;
  if (missing)
    pf_set_missing(column, row);
}


/* Returns an operation: one of the usual letters, or any other byte. */
static pf_bytes take_op (pf_cursor *in) {
  static const uint8_t letters[] = {'I', 'O', 'i', 'o'};
  const uint64_t which = take_uint(in, 1);
  pf_bytes op = {&letters[which & 3], 1};
  if (which > 250 && !pf_take(in, 1, &op))
    in->at = in->bytes.size;
  return op;
}


static void take_row (pf_cursor *in, const way *w, pf_dictionary *dictionary,
                      pf_batch *batch, int64_t *time) {
  pf_column *const c = batch->columns;
  const size_t row = batch->rows++;
  const uint64_t head = take_uint(in, 1);
  *time += (int64_t)(head & 3) * MS;
  if (head > 253)
    *time += (int64_t)(take_uint(in, 4) >> 2) * (w->is_text ? 250000 : MS);
  put_int(&c[ENTRIES_THREAD], row, (head & 4) != 0,
          head < 64 ? 1 : (int64_t)take_uint(in, head > 200 ? 8 : 1));
  put_int(&c[ENTRIES_TIME], row, (head & 0xf8) == 0xe8, *time);
  put_name(dictionary, &c[ENTRIES_OP], row, head == 77, take_op(in));
  put_name(dictionary, &c[ENTRIES_CALL], row, head == 78, take_text(in, 40));
  put_int(&c[ENTRIES_LINE], row, (head & 16) != 0,
          (int64_t)take_uint(in, head > 220 ? 8 : 2));
  c[ENTRIES_PARAMS].bytes[row] =
      (head & 32) != 0 ? take_text(in, 255) : (pf_bytes){NULL, 0};
  if ((head & 32) == 0)
    pf_set_missing(&c[ENTRIES_PARAMS], row);
  put_name(dictionary, &c[ENTRIES_FLAGS], row, w->is_text || head % 29 != 7,
           (pf_bytes){(const uint8_t *)"deleted", 7});
}

/* }====== */


/* {====== Comparison ====== */

static bool is_same_name (pf_dictionary *dictionary, const pf_column *put,
                          const pf_column *got, size_t row) {
  const pf_bytes given = trim(pf_name(dictionary, put->ids[row]));
  if (pf_is_missing(put, row))
    return pf_is_missing(got, row) ||
           pf_name(dictionary, got->ids[row]).size == 0;
  if (pf_is_missing(got, row))
    return given.size == 0;
  const pf_bytes found = pf_name(dictionary, got->ids[row]);
  return given.size == found.size &&
         memcmp(given.at, found.at, given.size) == 0;
}


static bool is_same_int (const way *w, const pf_column *put,
                         const pf_column *got, size_t row) {
  if (!pf_is_missing(put, row))
    return !pf_is_missing(got, row) && got->ints[row] == put->ints[row];
  return pf_is_missing(got, row) || (!w->has_blank && got->ints[row] == 0);
}


static bool is_same_text (const pf_column *put, const pf_column *got,
                          size_t row) {
  if (pf_is_missing(put, row) || pf_is_missing(got, row))
    return (pf_is_missing(put, row) || put->bytes[row].size == 0) &&
           (pf_is_missing(got, row) || got->bytes[row].size == 0);
  const pf_bytes given = put->bytes[row], found = got->bytes[row];
  return given.size == found.size &&
         (given.size == 0 || memcmp(given.at, found.at, given.size) == 0);
}


/* A missing time is 0 in a binary field, and begins a new run there: that flag
   is not compared. */
static bool is_deleted (const pf_dictionary *dictionary, const pf_column *flags,
                        size_t row) {
  static const char word[] = "deleted";
  if (pf_is_missing(flags, row))
    return false;
  const pf_bytes text = pf_name(dictionary, flags->ids[row]);
  return text.size >= sizeof word - 1 &&
         memcmp(text.at, word, sizeof word - 1) == 0;
}


static void compare (const way *w, pf_dictionary *dictionary,
                     const pf_batch *put, const pf_batch *got) {
  const pf_column *const p = put->columns, *const g = got->columns;
  MUST(put->rows == got->rows);
  for (size_t row = 0; row < put->rows; row++) {
    MUST(is_same_int(w, &p[ENTRIES_THREAD], &g[ENTRIES_THREAD], row));
    MUST(is_same_int(w, &p[ENTRIES_TIME], &g[ENTRIES_TIME], row));
    MUST(is_same_name(dictionary, &p[ENTRIES_OP], &g[ENTRIES_OP], row));
    MUST(is_same_name(dictionary, &p[ENTRIES_CALL], &g[ENTRIES_CALL], row));
    MUST(is_same_int(w, &p[ENTRIES_LINE], &g[ENTRIES_LINE], row));
    MUST(is_same_text(&p[ENTRIES_PARAMS], &g[ENTRIES_PARAMS], row));
    MUST(is_deleted(dictionary, &p[ENTRIES_FLAGS], row) ==
         is_deleted(dictionary, &g[ENTRIES_FLAGS], row));
  }
}

/* }====== */


/* {====== Round trip ====== */

static pf_option option_text (const char *name, const char *value) {
  return (pf_option){name, true, 0, {(const uint8_t *)value, strlen(value)}};
}


static way way_of (uint64_t bits) {
  way w = {.is_text = (bits & 1) != 0};
  pf_option *const o = w.written;
  const bool is_digits = (bits & 2) != 0;
  w.has_blank = w.is_text || is_digits;
  o[w.nwritten++] = option_text("form", w.is_text ? "deldbe" : "foxdbe");
  o[w.nwritten++] = option_text("layout", is_digits ? "text-fields" : "binary");
  o[w.nwritten++] = option_text("code_page", "raw");
  o[w.nwritten++] = (pf_option){"header_row", false, bits >> 2 & 1, {0}};
  o[w.nwritten++] = (pf_option){"symbol_size", false, bits >> 8 & 63, {0}};
  o[w.nwritten++] = option_text("separator", bits & 8 ? ";" : ",");
  o[w.nwritten++] = option_text("names", bits & 16 ? "doc" : "stored");
  w.read[w.nread++] = option_text("deleted", "show");
  w.read[w.nread++] = option_text("form", w.is_text ? "deldbe" : "foxdbe");
  if (w.is_text) {
    w.read[w.nread++] = option_text("separator", bits & 8 ? ";" : ",");
    w.read[w.nread++] =
        option_text("map", "thread=1,time=2,op=3,call=4,line=5,params=6");
  }
  return w;
}


/* Read what was written. */
static void read_back (const way *w, pf_dictionary *dictionary, pf_bytes bytes,
                       pf_bytes memo, const pf_batch *put) {
  const pf_source sources[] = {{"main", "", bytes}, {"memo", "", memo}};
  pf_trace trace = {.format = pf_format_named("xpp"),
                    .sources = sources,
                    .nsources = 2,
                    .options = w->read,
                    .noptions = w->nread,
                    .dictionary = dictionary,
                    .notes = pf_notes_new()};
  pf_error error = {.status = PF_OK};
  pf_reader *reader = NULL;
  pf_batch got;
  MUST(trace.notes != NULL);
  MUST(pf_trace_open(&trace, &error) == PF_OK);
  MUST(strcmp(trace.tables[0].name, "entries") == 0);
  MUST(trace.tables[0].open(&trace, &trace.tables[0], &reader, &error) ==
       PF_OK);
  MUST(pf_batch_open(&got, reader->fields, reader->nfields, NULL) == PF_OK);
  MUST(reader->next(reader, &got, &error) >= 0);
  compare(w, dictionary, put, &got);
  MUST(reader->next(reader, &got, &error) == PF_END);
  pf_batch_close(&got);
  reader->close(reader);
  pf_trace_close(&trace);
  pf_notes_free(trace.notes);
}


static void write_and_read (const way *w, pf_encoder *encoder,
                            pf_dictionary *dictionary, pf_cursor *in) {
  const pf_table *const table = &pf_format_named("xpp")->written[0];
  pf_error error = {.status = PF_OK};
  pf_sink sinks[2];
  pf_batch batch;
  int64_t time = 0;
  MUST(pf_batch_open(&batch, table->fields, table->nfields, NULL) == PF_OK);
  MUST(pf_sink_open(&sinks[0], -1) == PF_OK);
  MUST(pf_sink_open(&sinks[1], -1) == PF_OK);
  sinks[0].side = &sinks[1];
  sinks[1].role = "memo";
  pf_batch_clear(&batch);
  while (batch.rows < MAX_ROWS && pf_left(in) > 0)
    take_row(in, w, dictionary, &batch, &time);
  pf_status status = encoder->put(encoder, 0, &batch, sinks, &error);
  if (status == PF_OK)
    status = encoder->flush(encoder, sinks, &error);
  if (status == PF_OK)
    status = encoder->finish(encoder, sinks, &error);
  MUST(status == PF_OK || (status == error.status && error.what[0] != '\0'));
  if (status == PF_OK && batch.rows > 0)
    read_back(w, dictionary, pf_sink_bytes(&sinks[0]), pf_sink_bytes(&sinks[1]),
              &batch);
  pf_sink_close(&sinks[0]);
  pf_sink_close(&sinks[1]);
  pf_batch_close(&batch);
}

/* }====== */


int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size) {
  pf_cursor in = pf_cursor_over((pf_bytes){data, size}, false);
  const way w = way_of(take_uint(&in, 2));
  pf_dictionary *const dictionary = pf_dictionary_new();
  pf_error error = {.status = PF_OK};
  pf_encoder *encoder = NULL;
  MUST(dictionary != NULL);
  const pf_status status = pf_format_named("xpp")->encoder(
      w.written, w.nwritten, dictionary, &encoder, &error);
  MUST(status == PF_OK || (status == error.status && error.what[0] != '\0'));
  if (status == PF_OK) {
    write_and_read(&w, encoder, dictionary, &in);
    encoder->close(encoder);
  }
  pf_dictionary_free(dictionary);
  return 0;
}
