/*
** tables_dcpi.c - the schemas of the format's tables.
*/

#include "formats/dcpi/dcpi.h"
#include "model/rows/batch.h"

const pf_field dcpi_samples_fields[SAMPLES_COLUMNS] = {
    {"address", PF_ADDR, "address of an instruction with samples", false},
    {"count", PF_INT, "samples: interrupts at this address", false},
    {"spent", PF_INT,
     "event cycles: count * period / clock, ns, rounded to nearest", false},
    {".spent", PF_INT, pf_remainder_help, false},
    {"profile", PF_INT, "index of the file", true},
    {"image", PF_NAME, "identifier of the image, as stated in the header",
     false},
    {"name", PF_NAME, "short name of the image", false},
    {"label", PF_NAME, "label of the profile, if it has one", false},
    {"event", PF_NAME, "name of the event", false},
    {"epoch", PF_NAME, "start of counting, as stated in the header", false},
    {"platform", PF_NAME, "machine that was profiled", false},
};

const pf_field dcpi_profiles_fields[PROFILES_COLUMNS] = {
    {"profile", PF_INT, "index of the file", true},
    {"image", PF_NAME, "identifier of the image", false},
    {"name", PF_NAME, "short name of the image", false},
    {"label", PF_NAME, "label of the profile, if it has one", false},
    {"path", PF_NAME, "probable path of the image", false},
    {"event", PF_NAME, "name of the event", false},
    {"epoch", PF_NAME, "start of counting, UTC, digits", false},
    {"platform", PF_NAME, "machine that was profiled", false},
    {"period", PF_INT, "events per sample", false},
    {"fraction", PF_NUM, "fraction of the time in which the event was counted",
     false},
    {"cpuspeed", PF_INT, "as stated: MHz below 1,000,000, else Hz", false},
    {"tstart", PF_ADDR, "first address of the code", false},
    {"tsize", PF_INT, "bytes of code", false},
    {"samples", PF_INT, "sum of the counts, as stated", false},
};

const pf_field dcpi_header_fields[HEADER_COLUMNS] = {
    {"profile", PF_INT, "index of the file", true},
    {"offset", PF_INT, "offset of the line in the file", false},
    {"kind", PF_NAME, "required, optional, unknown or end", false},
    {"word", PF_NAME, "the word before the blanks", false},
    {"value", PF_NAME, "the value after them, without blanks at its end",
     false},
    {"line", PF_NAME, "the line without its line feed", false},
};

const pf_field dcpi_raw_fields[RAW_COLUMNS] = {
    {"offset", PF_INT, "offset in the file", false},
    {"size", PF_INT, "bytes", false},
    {"kind", PF_NAME, "line, chunk, footer, counts or rest", false},
    {"word", PF_NAME, "word of a header line", false},
    {"value", PF_NAME, "value of a header line", false},
    {"start", PF_INT, "chunk: offset, as stated", false},
    {"number", PF_INT, "chunk: number of counts, as stated", false},
    {"addresses", PF_INT, "footer: addresses with samples", false},
    {"samples", PF_INT, "footer: sum of the counts", false},
    {"address", PF_ADDR, "address of the first count", false},
    {"bytes", PF_BYTES, "bytes of the segment", false},
};

#define WRITTEN(name, columns) \
  { #name, dcpi_##name##_fields, columns, -1, NULL }

const pf_table dcpi_written[WRITTEN_TABLES] = {
    WRITTEN(samples, SAMPLES_COLUMNS),
    WRITTEN(header, HEADER_COLUMNS),
};
