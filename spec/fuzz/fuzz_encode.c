/*
** fuzz_encode.c - decode, encode and decode: the tables must be equal.
**
** The input may contain the same histogram or arc twice, which the encoder adds
** up. So the input is encoded once; decoding and encoding the result must give
** the same bytes, and all sums of counts must be those of the input.
*/

#include "bytes/sink.h"
#include "fuzz.h"
#include "model/writer/encoder.h"

/* Larger inputs find nothing new, and their histograms may be huge. */
#define LARGEST 65536

/* Returns the sum of a column of numbers, without missing values; 0 if there is
   no such table. */
static uint64_t sum_of (pf_trace *trace, const char *name, const char *column) {
  pf_error error = {.status = PF_OK};
  uint64_t sum = 0;
  for (size_t i = 0; i < trace->ntables; i++) {
    const pf_table *const table = &trace->tables[i];
    if (strcmp(table->name, name) != 0)
      continue;
    const size_t number = pf_field_index(table->fields, table->nfields, column);
    pf_reader *reader = NULL;
    pf_batch batch;
    bool wanted[32] = {false};
    MUST(number < table->nfields && table->nfields <= 32);
    wanted[number] = true;
    MUST(table->open(trace, table, &reader, &error) == PF_OK);
    MUST(pf_batch_open(&batch, table->fields, table->nfields, wanted) == PF_OK);
    const pf_column *const values = &batch.columns[number];
    while (reader->next(reader, &batch, &error) == PF_MORE)
      for (size_t row = 0; row < batch.rows; row++)
        sum += pf_is_missing(values, row) ? 0 : values->addrs[row];
    pf_batch_close(&batch);
    reader->close(reader);
  }
  return sum;
}


/* Encode all rows of the table called `name`, if the trace has it. */
static pf_status put_table (pf_trace *trace, pf_encoder *encoder, size_t number,
                            const char *name, pf_sink *sink, pf_error *error) {
  pf_status status = PF_OK;
  for (size_t i = 0; i < trace->ntables && status >= 0; i++) {
    const pf_table *const table = &trace->tables[i];
    pf_reader *reader = NULL;
    pf_batch batch;
    if (strcmp(table->name, name) != 0)
      continue;
    MUST(table->open(trace, table, &reader, error) == PF_OK);
    MUST(pf_batch_open(&batch, table->fields, table->nfields, NULL) == PF_OK);
    while ((status = reader->next(reader, &batch, error)) == PF_MORE &&
           status == PF_MORE)
      if ((status = encoder->put(encoder, number, &batch, sink, error)) < 0)
        break;
    pf_batch_close(&batch);
    reader->close(reader);
  }
  return status < 0 ? status : PF_OK;
}


/* Encode a trace into an open sink. */
static pf_status encode (pf_trace *trace, const pf_option *options,
                         size_t noptions, pf_sink *sink) {
  const pf_format *const format = trace->format;
  pf_error error = {.status = PF_OK};
  pf_encoder *encoder = NULL;
  pf_status status =
      format->encoder(options, noptions, trace->dictionary, &encoder, &error);
  if (status < 0)
    return status;
  for (size_t i = 0; i < format->nwritten && status >= 0; i++)
    status =
        put_table(trace, encoder, i, format->written[i].name, sink, &error);
  if (status >= 0)
    status = encoder->finish(encoder, sink, &error);
  encoder->close(encoder);
  MUST(status == PF_OK || error.what[0] != '\0');
  return status;
}


/* Whether histograms have too many bins: a few bytes can state billions, and
   all would be written. */
static bool has_huge_sets (pf_trace *trace) {
  return sum_of(trace, "sets", "declared") > LARGEST;
}


/* Compare the sums that encoding must not change. */
static void compare_sums (pf_trace *before, pf_trace *after) {
  static const char *const sums[][3] = {
      {"gmon", "histogram", "count"}, {"gmon", "arcs", "count"},
      {"gmon", "blocks", "count"},    {"br", "samples", "line"},
      {"br", "samples", "spent"},     {"br", "samples", "depth"}};
  for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
    if (strcmp(before->format->name, sums[i][0]) == 0)
      MUST(sum_of(before, sums[i][1], sums[i][2]) ==
           sum_of(after, sums[i][1], sums[i][2]));
}


/* `bytes` are the encoded trace `first`: their tables must be the same, and
   encoding them again must give the same bytes. */
static void check_again (pf_trace *first, pf_bytes bytes,
                         const pf_option *options, size_t noptions) {
  fuzz_trace second;
  pf_sink sink;
  MUST(fuzz_open(&second, first->format, bytes, options, noptions, false) ==
       PF_OK);
  compare_sums(first, &second.trace);
  MUST(pf_sink_open(&sink, -1) == PF_OK);
  MUST(encode(&second.trace, options, noptions, &sink) == PF_OK);
  const pf_bytes again = pf_sink_bytes(&sink);
  MUST(again.size == bytes.size && memcmp(again.at, bytes.at, bytes.size) == 0);
  pf_sink_close(&sink);
  fuzz_close(&second);
}


/* Encode the tables of a file in a dialect, and read them back. */
static void round_trip (const char *format, pf_bytes bytes,
                        const pf_option *options, size_t noptions) {
  fuzz_trace first;
  pf_sink sink;
  if (fuzz_open(&first, pf_format_named(format), bytes, NULL, 0, false) ==
          PF_OK &&
      !has_huge_sets(&first.trace)) {
    MUST(pf_sink_open(&sink, -1) == PF_OK);
    if (encode(&first.trace, options, noptions, &sink) == PF_OK)
      check_again(&first.trace, pf_sink_bytes(&sink), options, noptions);
    pf_sink_close(&sink);
  }
  fuzz_close(&first);
}


int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size) {
  const pf_bytes gnu = {(const uint8_t *)"gnu", 3};
  const pf_bytes bsd = {(const uint8_t *)"4.4bsd", 6};
  const pf_bytes big = {(const uint8_t *)"big", 3};
  const pf_option gnu_wide[] = {{"dialect", true, 0, gnu},
                                {"address_size", false, 8, {NULL, 0}}};
  const pf_option bsd_narrow[] = {{"dialect", true, 0, bsd},
                                  {"address_size", false, 4, {NULL, 0}},
                                  {"byte_order", true, 0, big}};
  /* the frames may suggest another order than the file states */
  const pf_bytes first = {(const uint8_t *)"inner_first", 11};
  const pf_option inner[] = {{"backtrace_order", true, 0, first}};
  if (size > LARGEST)
    return 0;
  round_trip("gmon", (pf_bytes){data, size}, gnu_wide, 2);
  round_trip("gmon", (pf_bytes){data, size}, bsd_narrow, 3);
  round_trip("br", (pf_bytes){data, size}, inner, 1);
  return 0;
}
