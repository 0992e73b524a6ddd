/*
** tables_gmon.c - the schemas of the format's tables.
*/

#include "formats/gmon/gmon.h"
#include "model/rows/batch.h"

const pf_field gmon_histogram_fields[HISTOGRAM_COLUMNS] = {
    {"set", PF_INT, "index of the histogram record", true},
    {"low", PF_ADDR, "first address of the bin", false},
    {"high", PF_ADDR, "first address after the bin", false},
    {"count", PF_INT, "samples", false},
    {"seconds", PF_NUM, "count / rate, s", false},
    {"spent", PF_INT,
     "count / rate, ns; rounded so that the sum of a set is exact", false},
    {"bin", PF_INT, "index of the bin in its histogram", false},
    {".spent", PF_INT, pf_remainder_help, false},
    {".seconds", PF_INT, pf_remainder_help, false},
};

const pf_field gmon_arcs_fields[ARCS_COLUMNS] = {
    {"from", PF_ADDR, "a place in the caller, often rounded down", false},
    {"to", PF_ADDR, "a place in the callee", false},
    {"count", PF_INT, "calls", false},
    {"order", PF_INT, "Apple: order of the first call", false},
};

const pf_field gmon_blocks_fields[BLOCKS_COLUMNS] = {
    {"address", PF_ADDR, "first address of the basic block", false},
    {"count", PF_INT, "executions", false},
};

const pf_field gmon_sets_fields[SETS_COLUMNS] = {
    {"set", PF_INT, "index of the histogram record", true},
    {"low", PF_ADDR, "first address of the range", false},
    {"high", PF_ADDR, "first address after the range", false},
    {"bins", PF_INT, "bins in the file", false},
    {"rate", PF_INT, "samples per unit of the dimension; 0: not stated", false},
    {"dimension", PF_NAME, "unit of the rate: seconds", false},
    {"abbreviation", PF_NAME, "abbreviation of the dimension", false},
    {"offset", PF_INT, "offset of the record in the file", false},
    {"declared", PF_INT, "bins the record states", false},
};

const pf_field gmon_images_fields[IMAGES_COLUMNS] = {
    {"address", PF_ADDR, "load address or slide of the image", false},
    {"path", PF_NAME, "file of the image", false},
};

const pf_field gmon_raw_fields[RAW_COLUMNS] = {
    {"offset", PF_INT, "offset in the file", false},
    {"size", PF_INT, "bytes", false},
    {"kind", PF_NAME, "header, histogram, arc, blocks, images, unknown or rest",
     false},
    {"low", PF_ADDR, "histogram: as stated", false},
    {"high", PF_ADDR, "histogram: as stated", false},
    {"bins", PF_INT, "histogram: as stated", false},
    {"rate", PF_INT, "histogram: as stated", false},
    {"dimension", PF_NAME, "histogram: as stated", false},
    {"abbreviation", PF_NAME, "histogram: as stated", false},
    {"from", PF_ADDR, "of an arc", false},
    {"to", PF_ADDR, "of an arc", false},
    {"count", PF_INT, "arc: calls; blocks and images: number of items", false},
    {"order", PF_INT, "of an arc", false},
    {"bytes", PF_BYTES, "bytes of the segment", false},
};

#define WRITTEN(name, columns) \
  { #name, gmon_##name##_fields, columns, -1, NULL }

const pf_table gmon_written[WRITTEN_TABLES] = {
    WRITTEN(sets, SETS_COLUMNS),
    WRITTEN(histogram, HISTOGRAM_COLUMNS),
    WRITTEN(arcs, ARCS_COLUMNS),
    WRITTEN(blocks, BLOCKS_COLUMNS),
};
