/*
** fuzz_winidea.c - decode random bytes as an export of winIDEA and encode them:
** the result must be read without a warning, and give the same bytes when it is
** encoded again.
*/

#include "bytes/sink.h"
#include "fuzz.h"
#include "model/writer/encoder.h"

#define LARGEST 65536 /* bytes of an input */

#define TEXT(name, value)                         \
  {                                               \
    name, true, 0, {                              \
      (const uint8_t *)(value), sizeof(value) - 1 \
    }                                             \
  }


/* Encode all rows of a table, if the trace has it. */
static pf_status put_table (pf_trace *trace, pf_encoder *encoder, size_t number,
                            pf_sink *sink) {
  pf_error error = {.status = PF_OK};
  pf_reader *reader = NULL;
  pf_batch batch;
  size_t i = 0;
  while (i < trace->ntables &&
         strcmp(trace->tables[i].name, encoder->tables[number].name) != 0)
    i++;
  if (i == trace->ntables)
    return PF_OK;
  pf_status status =
      trace->tables[i].open(trace, &trace->tables[i], &reader, &error);
  MUST(status == PF_OK);
  MUST(pf_batch_open(&batch, reader->fields, reader->nfields, NULL) == PF_OK);
  while (status == PF_MORE &&
         (status = reader->next(reader, &batch, &error)) == PF_MORE)
    status = encoder->put(encoder, number, &batch, sink, &error);
  MUST(status >= 0 || error.what[0] != '\0');
  pf_batch_close(&batch);
  reader->close(reader);
  return status < 0 ? status : PF_OK;
}


static pf_status encode (pf_trace *trace, const pf_option *options,
                         size_t noptions, pf_sink *sink) {
  pf_error error = {.status = PF_OK};
  pf_encoder *encoder = NULL;
  pf_status status = trace->format->encoder(
      options, noptions, trace->dictionary, &encoder, &error);
  MUST(status == PF_OK);
  for (size_t i = 0; i < encoder->ntables && status == PF_OK; i++)
    status = put_table(trace, encoder, i, sink);
  if (status == PF_OK)
    status = encoder->finish(encoder, sink, &error);
  encoder->close(encoder);
  return status;
}


/* Decode `bytes` and encode them again: the result must be the same. */
static void check_again (const pf_format *format, pf_bytes bytes,
                         const pf_option *options, size_t noptions) {
  fuzz_trace second;
  pf_sink sink;
  MUST(fuzz_open(&second, format, bytes, options, noptions, false) == PF_OK);
  MUST(pf_sink_open(&sink, -1) == PF_OK);
  MUST(encode(&second.trace, options, noptions, &sink) == PF_OK);
  const pf_bytes again = pf_sink_bytes(&sink);
  MUST(again.size == bytes.size &&
       (again.size == 0 || memcmp(again.at, bytes.at, bytes.size) == 0));
  MUST(pf_warning_total(second.trace.notes, "winidea-bad-row") == 0);
  MUST(pf_warning_total(second.trace.notes, "winidea-bad-header") == 0);
  pf_sink_close(&sink);
  fuzz_close(&second);
}


static void round_trip (pf_bytes bytes, const pf_option *options,
                        size_t noptions) {
  const pf_format *const format = pf_format_named("winidea");
  fuzz_trace first;
  pf_sink sink;
  if (fuzz_open(&first, format, bytes, NULL, 0, false) == PF_OK) {
    MUST(pf_sink_open(&sink, -1) == PF_OK);
    if (encode(&first.trace, options, noptions, &sink) == PF_OK &&
        pf_sink_bytes(&sink).size > 0)
      check_again(format, pf_sink_bytes(&sink), options, noptions);
    pf_sink_close(&sink);
  }
  fuzz_close(&first);
}


/* Whether a name may end with one of the given formats: with these options such
   a row is the header of a section. */
static bool has_format (const uint8_t *data, size_t size,
                        const pf_option *options, size_t noptions) {
  for (size_t i = 0; i < noptions; i++)
    for (size_t at = 0; at + options[i].text.size <= size; at++)
      if (memcmp(data + at, options[i].text.at, options[i].text.size) == 0)
        return true;
  return false;
}


int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size) {
  const pf_option new_bin[] = {TEXT("dialect", "bin"),
                               TEXT("bin_version", "1.1")};
  const pf_option old_bin[] = {TEXT("dialect", "bin"),
                               TEXT("bin_version", "1.0")};
  const pf_option plain[] = {TEXT("line_end", "lf")};
  const pf_option full[] = {
      TEXT("timeline_format", "%TIME% %EVENT%%HANDLE%[%CONTEXT%]%VALUE%"),
      TEXT("handle_format",
           "%HANDLE%,%HANDLE.PARENT%,%VALUE%,%VALUE.TYPE%,%NAME%"),
      TEXT("statistics_format", "%CONTEXT%;%HANDLE%;%VALUE%;%T.NET%;%COUNT%")};
  if (size > LARGEST)
    return 0;
  round_trip((pf_bytes){data, size}, new_bin, 2);
  round_trip((pf_bytes){data, size}, old_bin, 2);
  round_trip((pf_bytes){data, size}, plain, 1);
  if (!has_format(data, size, full, 3))
    round_trip((pf_bytes){data, size}, full, 3);
  return 0;
}
