/*
** dcpi_tables.c - the schemas of the format's tables.
*/

#include "formats/dcpi/dcpi.h"
#include "model/batch.h"

const pf_field dcpi_samples_fields[SAMPLES_COLUMNS] = {
    {"address", PF_ADDR, "of an instruction that has samples", false},
    {"count", PF_INT, "samples: interrupts at that address", false},
    {"spent", PF_INT,
     "of event cycles: count * period / clock, ns, rounded to the nearest",
     false},
    {".spent", PF_INT, pf_rest_help, false},
    {"profile", PF_INT, "number of the file", true},
    {"image", PF_NAME, "identifier of the image, as the header has it", false},
    {"name", PF_NAME, "short name of the image", false},
    {"label", PF_NAME, "label of the profile, where it has one", false},
    {"event", PF_NAME, "what was counted", false},
    {"epoch", PF_NAME, "when the counting began, as the header has it", false},
    {"platform", PF_NAME, "the machine", false},
};

const pf_field dcpi_profiles_fields[PROFILES_COLUMNS] = {
    {"profile", PF_INT, "number of the file", true},
    {"image", PF_NAME, "identifier of the image", false},
    {"name", PF_NAME, "its short name", false},
    {"label", PF_NAME, "label of the profile, where it has one", false},
    {"path", PF_NAME, "where the image probably was", false},
    {"event", PF_NAME, "what was counted", false},
    {"epoch", PF_NAME, "when the counting began, UTC, digits", false},
    {"platform", PF_NAME, "the machine", false},
    {"period", PF_INT, "events for one sample", false},
    {"fraction", PF_NUM, "of the time in which the event was watched", false},
    {"cpuspeed", PF_INT, "as stated: MHz, from 1,000,000 on Hz", false},
    {"tstart", PF_ADDR, "first address of the code", false},
    {"tsize", PF_INT, "bytes of code", false},
    {"samples", PF_INT, "sum of the counts, as stated", false},
};

const pf_field dcpi_header_fields[HEADER_COLUMNS] = {
    {"profile", PF_INT, "number of the file", true},
    {"offset", PF_INT, "byte at which the line begins", false},
    {"kind", PF_NAME, "required, optional, unknown or end", false},
    {"word", PF_NAME, "what stands before the blanks", false},
    {"value", PF_NAME, "what stands behind, without blanks at its end", false},
    {"line", PF_NAME, "all of it but the line feed", false},
};

const pf_field dcpi_raw_fields[RAW_COLUMNS] = {
    {"offset", PF_INT, "byte at which it begins", false},
    {"size", PF_INT, "bytes", false},
    {"kind", PF_NAME, "line, chunk, footer, counts or rest", false},
    {"word", PF_NAME, "of a header line", false},
    {"value", PF_NAME, "of a header line", false},
    {"start", PF_INT, "of a chunk: its offset, as stated", false},
    {"number", PF_INT, "of a chunk: how many counts, as stated", false},
    {"addresses", PF_INT, "of the footer: addresses with samples", false},
    {"samples", PF_INT, "of the footer: sum of the counts", false},
    {"address", PF_ADDR, "of the first count", false},
    {"bytes", PF_BYTES, "all its bytes", false},
};

#define WRITTEN(name, columns) \
  { #name, dcpi_##name##_fields, columns, -1, NULL }

const pf_table dcpi_written[WRITTEN_TABLES] = {
    WRITTEN(samples, SAMPLES_COLUMNS),
    WRITTEN(header, HEADER_COLUMNS),
};
