/*
** tables_dcpi.c - the schemas of the format's tables.
*/

#include "formats/dcpi/dcpi.h"
#include "model/rows/batch.h"

const pf_field dcpi_samples_fields[SAMPLES_COLUMNS] = {
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

const pf_field dcpi_profiles_fields[PROFILES_COLUMNS] = {
    {"profile", PF_INT, "index of the file"},
    {"image", PF_NAME, "identifier of the image"},
    {"name", PF_NAME, "short name of the image"},
    {"label", PF_NAME, "label of the profile, if it has one"},
    {"path", PF_NAME, "probable path of the image"},
    {"event", PF_NAME, "name of the event"},
    {"epoch", PF_NAME, "start of counting, UTC, digits"},
    {"platform", PF_NAME, "machine that was profiled"},
    {"period", PF_INT, "events per sample"},
    {"fraction", PF_NUM, "fraction of the time in which the event was counted"},
    {"cpuspeed", PF_INT, "as stated: MHz below 1,000,000, else Hz"},
    {"tstart", PF_ADDR, "first address of the code"},
    {"tsize", PF_INT, "bytes of code"},
    {"samples", PF_INT, "sum of the counts, as stated"},
};

const pf_field dcpi_header_fields[HEADER_COLUMNS] = {
    {"profile", PF_INT, "index of the file"},
    {"offset", PF_INT, "offset of the line in the file"},
    {"kind", PF_NAME, "required, optional, unknown or end"},
    {"word", PF_NAME, "the word before the blanks"},
    {"value", PF_NAME, "the value after them, without blanks at its end"},
    {"line", PF_NAME, "the line without its line feed"},
};

const pf_field dcpi_raw_fields[RAW_COLUMNS] = {
    {"offset", PF_INT, "offset in the file"},
    {"size", PF_INT, "bytes"},
    {"kind", PF_NAME, "line, chunk, footer, counts or rest"},
    {"word", PF_NAME, "word of a header line"},
    {"value", PF_NAME, "value of a header line"},
    {"start", PF_INT, "chunk: offset, as stated"},
    {"number", PF_INT, "chunk: number of counts, as stated"},
    {"addresses", PF_INT, "footer: addresses with samples"},
    {"samples", PF_INT, "footer: sum of the counts"},
    {"address", PF_ADDR, "address of the first count"},
    {"bytes", PF_BYTES, "bytes of the segment"},
};

#define WRITTEN(name, columns) \
  { #name, dcpi_##name##_fields, columns, -1, NULL }

const pf_table dcpi_written[WRITTEN_TABLES] = {
    WRITTEN(samples, SAMPLES_COLUMNS),
    WRITTEN(header, HEADER_COLUMNS),
};
