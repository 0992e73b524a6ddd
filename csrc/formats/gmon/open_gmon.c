/*
** open_gmon.c - the format gmon: profiles of gprof, in all dialects; schemas.
**
** Opening parses the whole file, so the number of rows of each table (except
** images) and the damage of all segments are known afterwards. Counts that are
** too large and images that are cut off are reported when they are read.
** lua/trace_part.c and checked_reader.c call it through pf_format_gmon; the
** trace owns the gmon_file.
*/

#include "formats/gmon/gmon.h"
#include "bytes/text.h"
#include "model/dictionary/names.h"
#include "model/rows/batch.h"


const pf_field gmon_histogram_fields[HISTOGRAM_COLUMNS] = {
    {"set", PF_INT, "index of the histogram record"},
    {"low", PF_ADDR, "first address of the bin"},
    {"high", PF_ADDR, "first address after the bin"},
    {"count", PF_INT, "samples"},
    {"seconds", PF_NUM, "count / rate, s"},
    {"spent", PF_INT,
     "count / rate, ns; rounded so that the sum of a set is exact"},
    {"bin", PF_INT, "index of the bin in its histogram"},
    {".spent", PF_INT, pf_remainder_help},
    {".seconds", PF_INT, pf_remainder_help},
};

const pf_field gmon_arcs_fields[] = PF_COLUMN_FIELDS(ARCS);
const pf_field gmon_blocks_fields[] = PF_COLUMN_FIELDS(BLOCKS);
const pf_field gmon_sets_fields[] = PF_COLUMN_FIELDS(SETS);

#define WRITTEN(name, columns) \
  { #name, gmon_##name##_fields, columns, -1, NULL }

const pf_table gmon_written[WRITTEN_TABLES] = {
    WRITTEN(sets, SETS_COLUMNS),
    WRITTEN(histogram, HISTOGRAM_COLUMNS),
    WRITTEN(arcs, ARCS_COLUMNS),
    WRITTEN(blocks, BLOCKS_COLUMNS),
};


/* The tables of a trace in order; `images` only if there are any. */
enum {
  TABLE_HISTOGRAM,
  TABLE_ARCS,
  TABLE_BLOCKS,
  TABLE_SETS,
  TABLE_IMAGES,
  TABLE_RAW,
  TABLES
};

static const gmon_table *const all_tables[TABLES] = {
    &gmon_histogram_table, &gmon_arcs_table,   &gmon_blocks_table,
    &gmon_sets_table,      &gmon_images_table, &gmon_raw_table};


static void set_info (pf_trace *trace, const gmon_file *file) {
  const gmon_layout *const layout = &file->layout;
  const gmon_totals *const totals = &file->totals;
  const char *const dialect = gmon_dialect_names[layout->dialect];
  pf_info_text(trace, "dialect", pf_bytes_of(dialect));
  pf_info_text(trace, "byte_order",
               pf_bytes_of(layout->big ? "big" : "little"));
  pf_info_int(trace, "address_size", layout->width);
  if (layout->dialect != GMON_BSD)
    pf_info_int(trace, "version", layout->version);
  pf_info_int(trace, "records",
              (int64_t)(totals->bins + totals->arcs + totals->blocks));
  pf_info_int(trace, "sets", (int64_t)totals->sets);
  pf_info_int(trace, "bins", (int64_t)totals->bins);
  pf_info_int(trace, "arcs", (int64_t)totals->arcs);
  pf_info_int(trace, "blocks", (int64_t)totals->blocks);
  if (totals->block_records > 1)
    pf_info_int(trace, "block_records", (int64_t)totals->block_records);
  if (layout->counter != 2 ||
      (layout->dialect != GMON_GNU && layout->dialect != GMON_LD))
    pf_info_int(trace, "counter_bits",
                (layout->is_signed ? -8 : 8) * (int64_t)layout->counter);
}


/* Whether the counts of two histograms have the same rate and unit. */
static bool equal_units (const gmon_layout *layout, const gmon_segment *a,
                         const gmon_segment *b) {
  return gmon_rate(layout, a) == gmon_rate(layout, b) &&
         a->abbreviation == b->abbreviation &&
         pf_bytes_equal(gmon_dimension(a), gmon_dimension(b));
}


/* Parse the file: set totals and info, report damage. */
static pf_status prescan (pf_trace *trace, gmon_file *file, pf_error *error) {
  gmon_totals *const totals = &file->totals;
  bool is_one_unit = true;
  gmon_segment segment, first = {.offset = 0};
  gmon_parser parser =
      gmon_new_parser(&file->layout, trace->sources[0].bytes, trace, error);
  pf_status status;
  while ((status = gmon_next_segment(&parser, &segment)) == PF_MORE) {
    totals->raw_rows += segment.kind == GMON_ARCS ? segment.count : 1;
    switch (segment.kind) {
      case GMON_HISTOGRAM:
        if (totals->sets++ == 0)
          first = segment;
        is_one_unit =
            is_one_unit && equal_units(&file->layout, &first, &segment);
        totals->bins += segment.count;
        break;
      case GMON_ARCS: totals->arcs += segment.count; break;
      case GMON_BLOCKS:
        totals->blocks += segment.count;
        totals->block_records++;
        break;
      case GMON_IMAGES: totals->images++; break;
      default: break;
    }
  }
  if (status < 0)
    return status;
  set_info(trace, file);
  if (totals->sets == 1) {
    pf_info_addr(trace, "low", first.low);
    pf_info_addr(trace, "high", first.high);
  }
  if (totals->sets > 0 && is_one_unit) {
    pf_info_int(trace, "rate", gmon_rate(&file->layout, &first));
    pf_info_text(trace, "dimension", gmon_dimension(&first));
    pf_info_text(trace, "abbreviation", gmon_abbreviation(&first));
  }
  return PF_OK;
}


static pf_status open_reader (pf_trace *trace, const pf_table *table,
                              pf_reader **reader, pf_error *error) {
  size_t i = 0;
  while (all_tables[i]->fields != table->fields)
    i++;
  return gmon_open_reader(trace, table, all_tables[i], reader, error);
}


static void list_tables (pf_trace *trace, gmon_file *file) {
  const gmon_totals *const totals = &file->totals;
  const int64_t rows[TABLES] = {
      [TABLE_HISTOGRAM] = (int64_t)totals->bins,
      [TABLE_ARCS] = (int64_t)totals->arcs,
      [TABLE_BLOCKS] = (int64_t)totals->blocks,
      [TABLE_SETS] = (int64_t)totals->sets,
      [TABLE_IMAGES] = -1, /* a list may hold fewer images than it states */
      [TABLE_RAW] = (int64_t)totals->raw_rows,
  };
  trace->ntables = 0;
  for (int i = 0; i < TABLES; i++) {
    if (i == TABLE_IMAGES && totals->images == 0)
      continue;
    const gmon_table *const t = all_tables[i];
    file->tables[trace->ntables++] =
        (pf_table){t->name, t->fields, t->nfields, rows[i], open_reader};
  }
  trace->tables = file->tables;
}


static pf_status open_trace (pf_trace *trace, pf_error *error) {
  gmon_file *const file = trace->state;
  file->extended = pf_option_int(trace, "extended_precision", 0) != 0;
  pf_status status = gmon_detect(trace, &file->layout, error);
  if (status == PF_OK)
    status = gmon_detect_counters(trace, &file->layout, error);
  if (status == PF_OK)
    status = prescan(trace, file, error);
  if (status == PF_OK)
    list_tables(trace, file);
  return status;
}


const pf_format pf_format_gmon = {
    .name = "gmon",
    .score = gmon_score,
    .open = open_trace,
    .state_size = sizeof(gmon_file),
    .written = gmon_written,
    .nwritten = WRITTEN_TABLES,
    .encoder = gmon_encoder,
    .sum = gmon_open_sum,
};
