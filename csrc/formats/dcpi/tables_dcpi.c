/*
** tables_dcpi.c - the schemas of the format's tables, and the readers of all of
** them but samples: header lines, profiles, and segments (table raw; its column
** `bytes` of all rows, concatenated, is the file). Opened through pf_table.open
** by lua/checked_reader.c, which closes them; each owns nothing but itself.
*/

#include "formats/dcpi/dcpi.h"
#include "model/dictionary/names.h"
#include "model/rows/put_values.h"
#include "model/rows/table_reader.h"

static const pf_field samples_fields[SAMPLES_COLUMNS] = {
    {"address", PF_ADDR, "address of an instruction with samples"},
    {"count", PF_INT, "samples: interrupts at this address"},
    {"spent", PF_INT,
     "event cycles: count * period / clock, ns, rounded to nearest"},
    {".spent", PF_INT, pf_remainder_help},
    {"profile", PF_INT, "index of the file"},
    {"image", PF_NAME, "identifier of the image, as stated in the header"},
    {"name", PF_NAME, "short name of the image"},
    {"label", PF_NAME, "label of the profile, if it has one"},
    {"event", PF_NAME, "name of the event"},
    {"epoch", PF_NAME, "start of counting, as stated in the header"},
    {"platform", PF_NAME, "machine that was profiled"},
};

#define PROFILES_LIST(X, T)                                                  \
  X(T, profile, INT, "index of the file")                                    \
  X(T, image, NAME, "identifier of the image")                               \
  X(T, name, NAME, "short name of the image")                                \
  X(T, label, NAME, "label of the profile, if it has one")                   \
  X(T, path, NAME, "probable path of the image")                             \
  X(T, event, NAME, "name of the event")                                     \
  X(T, epoch, NAME, "start of counting, UTC, digits")                        \
  X(T, platform, NAME, "machine that was profiled")                          \
  X(T, period, INT, "events per sample")                                     \
  X(T, fraction, NUM, "fraction of the time in which the event was counted") \
  X(T, cpuspeed, INT, "as stated: MHz below 1,000,000, else Hz")             \
  X(T, tstart, ADDR, "first address of the code")                            \
  X(T, tsize, INT, "bytes of code")                                          \
  X(T, samples, INT, "sum of the counts, as stated")
PF_COLUMN_INDEXES(PROFILES);
static const pf_field profiles_fields[] = PF_COLUMN_FIELDS(PROFILES);

#define HEADER_LIST(X, T)                                              \
  X(T, profile, INT, "index of the file")                              \
  X(T, offset, INT, "offset of the line in the file")                  \
  X(T, kind, NAME, "required, optional, unknown or end")               \
  X(T, word, NAME, "the word before the blanks")                       \
  X(T, value, NAME, "the value after them, without blanks at its end") \
  X(T, line, NAME, "the line without its line feed")
PF_COLUMN_INDEXES(HEADER);
static const pf_field header_fields[] = PF_COLUMN_FIELDS(HEADER);

#define RAW_LIST(X, T)                                    \
  X(T, offset, INT, "offset in the file")                 \
  X(T, size, INT, "bytes")                                \
  X(T, kind, NAME, "line, chunk, footer, counts or rest") \
  X(T, word, NAME, "word of a header line")               \
  X(T, value, NAME, "value of a header line")             \
  X(T, start, INT, "chunk: offset, as stated")            \
  X(T, number, INT, "chunk: number of counts, as stated") \
  X(T, addresses, INT, "footer: addresses with samples")  \
  X(T, samples, INT, "footer: sum of the counts")         \
  X(T, address, ADDR, "address of the first count")       \
  X(T, bytes, BYTES, "bytes of the segment")
PF_COLUMN_INDEXES(RAW);
static const pf_field raw_fields[] = PF_COLUMN_FIELDS(RAW);

const pf_table dcpi_written[WRITTEN_TABLES] = {
    {"samples", samples_fields, SAMPLES_COLUMNS, -1, NULL},
    {"header", header_fields, HEADER_COLUMNS, -1, NULL},
};

typedef struct table_reader {
  pf_reader reader;
  dcpi_parser parser;
  size_t profile; /* the next one */
  /* Put a row, as for pf_batch_fill. */
  pf_status (*step)(pf_reader *self, pf_batch *batch, pf_error *error);
} table_reader;


/* Store a text in a column of names; one with `at` NULL is missing. Returns
   false if out of memory. */
static bool put_text (const table_reader *self, const pf_batch *batch,
                      size_t column, size_t row, pf_bytes text) {
  return pf_put_text(self->reader.dictionary, &batch->columns[column], row,
                     text, text.at != NULL);
}


/* Store a number in a column of integers or addresses. It is missing if
   `is_there` is false or it does not fit into int64_t. */
static void put_number (const pf_batch *batch, size_t column, size_t row,
                        bool is_there, uint64_t value) {
  pf_column *const out = &batch->columns[column];
  const bool is_good = is_there && (out->type == PF_ADDR || value <= INT64_MAX);
  pf_put_addr(out, row, is_good ? value : 0, is_good);
}


static pf_status put_line (pf_reader *reader, pf_batch *batch,
                           pf_error *error) {
  static const char *const kinds[] = {[DCPI_FOREIGN] = "unknown",
                                      [DCPI_USED] = "unknown",
                                      [DCPI_OPTIONAL] = "optional",
                                      [DCPI_REQUIRED] = "required"};
  table_reader *const self = (table_reader *)reader;
  dcpi_segment segment;
  if (self->parser.in_body)
    return PF_END;
  const pf_status status = dcpi_next_segment(&self->parser, &segment);
  if (status != PF_MORE || segment.kind != DCPI_LINE)
    return status;
  const dcpi_line *const line = &segment.line;
  const dcpi_role role =
      line->id == DCPI_WORDS
          ? DCPI_FOREIGN
          : dcpi_rules[line->id].role[self->parser.file->dialect];
  const char *const kind = dcpi_is_terminator(line) ? "end" : kinds[role];
  const size_t row = batch->rows++;
  const pf_bytes all = {self->parser.bytes.at + line->offset,
                        (size_t)line->size - 1};
  put_number(batch, HEADER_profile, row, true, 0);
  put_number(batch, HEADER_offset, row, true, line->offset);
  const bool ok = put_text(self, batch, HEADER_kind, row, pf_bytes_of(kind)) &&
                  put_text(self, batch, HEADER_word, row, line->word) &&
                  put_text(self, batch, HEADER_value, row, line->value) &&
                  put_text(self, batch, HEADER_line, row, all);
  return ok ? PF_MORE : pf_no_memory(error);
}


/* Store the texts of the header that a profile belongs to, and the name of its
   event. Returns false if out of memory. */
static bool put_profile_texts (const table_reader *self, const pf_batch *batch,
                               size_t row, const dcpi_event *event) {
  const dcpi_header *const header = &self->parser.header;
  const pf_bytes texts[PROFILES_COLUMNS] = {
      [PROFILES_image] = header->values[DCPI_IMAGE],
      [PROFILES_name] = dcpi_name_of(header),
      [PROFILES_label] = header->values[DCPI_LABEL],
      [PROFILES_path] = header->values[DCPI_PATH],
      [PROFILES_event] = event->name,
      [PROFILES_epoch] = header->values[DCPI_EPOCH],
      [PROFILES_platform] = header->values[DCPI_PLATFORM],
  };
  bool ok = true;
  for (size_t i = PROFILES_image; i <= PROFILES_platform && ok; i++)
    ok = put_text(self, batch, i, row, texts[i]);
  return ok;
}


/* Store the numbers of a profile. Its samples are missing if neither its text
   nor the footer of its file states them. */
static void put_profile_numbers (const dcpi_parser *parser,
                                 const pf_batch *batch, size_t row,
                                 const dcpi_event *event) {
  const dcpi_header *const header = &parser->header;
  const bool is_text = parser->file->dialect == DCPI_CAT;
  const bool has_footer = header->major == 0 &&
                          parser->bytes.size - header->size >= DCPI_FOOTER_SIZE;
  const uint64_t samples = is_text ? event->stated
                           : has_footer
                               ? dcpi_load(parser, parser->bytes.size - 4)
                               : 0;
  const dcpi_word start = is_text ? DCPI_TEXT_START : DCPI_TSTART;
  const dcpi_word size = is_text ? DCPI_TEXT_SIZE : DCPI_TSIZE;
  put_number(batch, PROFILES_profile, row, true, 0);
  put_number(batch, PROFILES_period, row, event->period > 0, event->period);
  put_number(batch, PROFILES_samples, row,
             is_text ? event->has_stated : has_footer, samples);
  put_number(batch, PROFILES_cpuspeed, row, dcpi_has(header, DCPI_CPUSPEED),
             header->numbers[DCPI_CPUSPEED]);
  put_number(batch, PROFILES_tstart, row, dcpi_has(header, start),
             header->numbers[start]);
  put_number(batch, PROFILES_tsize, row, dcpi_has(header, size),
             header->numbers[size]);
  pf_put_num(&batch->columns[PROFILES_fraction], row,
             (double)event->fraction / DCPI_FULL_TIME, event->has_rate);
}


static pf_status put_profile (pf_reader *reader, pf_batch *batch,
                              pf_error *error) {
  table_reader *const self = (table_reader *)reader;
  dcpi_parser *const parser = &self->parser;
  dcpi_segment segment;
  pf_status status = PF_OK;
  while (status == PF_OK && !parser->in_body)
    status = dcpi_next_segment(parser, &segment);
  if (status < 0 || self->profile == parser->header.nevents)
    return status < 0 ? status : PF_END;
  const dcpi_event *const event = &parser->header.events[self->profile++];
  const size_t row = batch->rows++;
  put_profile_numbers(parser, batch, row, event);
  return put_profile_texts(self, batch, row, event) ? PF_MORE
                                                    : pf_no_memory(error);
}


static pf_status put_segment (pf_reader *reader, pf_batch *batch,
                              pf_error *error) {
  static const char *const kinds[] = {[DCPI_LINE] = "line",
                                      [DCPI_CHUNK] = "chunk",
                                      [DCPI_FOOTER] = "footer",
                                      [DCPI_COUNTS] = "counts",
                                      [DCPI_REST] = "rest"};
  table_reader *const self = (table_reader *)reader;
  const pf_bytes none = {NULL, 0};
  dcpi_segment s;
  const pf_status status = dcpi_next_segment(&self->parser, &s);
  if (status != PF_MORE)
    return status;
  const bool is_line = s.kind == DCPI_LINE, is_chunk = s.kind == DCPI_CHUNK;
  const bool is_footer = s.kind == DCPI_FOOTER;
  const size_t row = batch->rows++;
  const pf_bytes all = {self->parser.bytes.at + s.offset, (size_t)s.size};
  put_number(batch, RAW_offset, row, true, s.offset);
  put_number(batch, RAW_size, row, true, s.size);
  put_number(batch, RAW_start, row, is_chunk, s.words[0]);
  put_number(batch, RAW_number, row, is_chunk, s.words[1]);
  put_number(batch, RAW_addresses, row, is_footer, s.words[0]);
  put_number(batch, RAW_samples, row, is_footer, s.words[1]);
  put_number(batch, RAW_address, row,
             (is_chunk && dcpi_has_start(&self->parser)) ||
                 s.kind == DCPI_COUNTS,
             s.address);
  pf_put_bytes(&batch->columns[RAW_bytes], row, all, true);
  const bool ok =
      put_text(self, batch, RAW_kind, row, pf_bytes_of(kinds[s.kind])) &&
      put_text(self, batch, RAW_word, row, is_line ? s.line.word : none) &&
      put_text(self, batch, RAW_value, row, is_line ? s.line.value : none);
  return ok ? PF_MORE : pf_no_memory(error);
}


pf_status dcpi_refresh (dcpi_parser *parser, pf_error *error) {
  parser->error = error;
  parser->bytes = parser->trace->sources[0].bytes;
  if (parser->at <= parser->bytes.size)
    return PF_OK;
  return pf_fail(error, PF_ETRUNCATED, parser->bytes.size,
                 "%llu bytes expected, the file has become shorter",
                 (unsigned long long)parser->at);
}


static pf_status next (pf_reader *reader, pf_batch *batch, pf_error *error) {
  table_reader *const self = (table_reader *)reader;
  const pf_status status = dcpi_refresh(&self->parser, error);
  return status < 0 ? status : pf_batch_fill(reader, batch, self->step, error);
}


static pf_status open_table (pf_trace *trace, const pf_table *table,
                             pf_reader **reader, pf_error *error) {
  table_reader *const self =
      pf_reader_new(sizeof *self, trace, table, next, error);
  if (self == NULL)
    return PF_ENOMEM;
  self->parser = dcpi_new_parser(trace->state, trace, error);
  self->step = table->fields == header_fields     ? put_line
               : table->fields == profiles_fields ? put_profile
                                                  : put_segment;
  *reader = &self->reader;
  return PF_OK;
}


const pf_table dcpi_tables[DCPI_TABLES] = {
    {"samples", samples_fields, SAMPLES_COLUMNS, -1, dcpi_open_samples},
    {"profiles", profiles_fields, PROFILES_COLUMNS, -1, open_table},
    {"header", header_fields, HEADER_COLUMNS, -1, open_table},
    {"raw", raw_fields, RAW_COLUMNS, -1, open_table},
};
