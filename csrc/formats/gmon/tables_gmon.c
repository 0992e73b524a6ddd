/*
** tables_gmon.c - the schemas of the format's tables.
*/

#include "formats/gmon/gmon.h"
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

const pf_field gmon_arcs_fields[ARCS_COLUMNS] = {
    {"from", PF_ADDR, "a place in the caller, often rounded down"},
    {"to", PF_ADDR, "a place in the callee"},
    {"count", PF_INT, "calls"},
    {"order", PF_INT, "Apple: order of the first call"},
};

const pf_field gmon_blocks_fields[BLOCKS_COLUMNS] = {
    {"address", PF_ADDR, "first address of the basic block"},
    {"count", PF_INT, "executions"},
};

const pf_field gmon_sets_fields[SETS_COLUMNS] = {
    {"set", PF_INT, "index of the histogram record"},
    {"low", PF_ADDR, "first address of the range"},
    {"high", PF_ADDR, "first address after the range"},
    {"bins", PF_INT, "bins in the file"},
    {"rate", PF_INT, "samples per unit of the dimension; 0: not stated"},
    {"dimension", PF_NAME, "unit of the rate: seconds"},
    {"abbreviation", PF_NAME, "abbreviation of the dimension"},
    {"offset", PF_INT, "offset of the record in the file"},
    {"declared", PF_INT, "bins the record states"},
};

const pf_field gmon_images_fields[IMAGES_COLUMNS] = {
    {"address", PF_ADDR, "load address or slide of the image"},
    {"path", PF_NAME, "file of the image"},
};

const pf_field gmon_raw_fields[RAW_COLUMNS] = {
    {"offset", PF_INT, "offset in the file"},
    {"size", PF_INT, "bytes"},
    {"kind", PF_NAME,
     "header, histogram, arc, blocks, images, unknown or rest"},
    {"low", PF_ADDR, "histogram: as stated"},
    {"high", PF_ADDR, "histogram: as stated"},
    {"bins", PF_INT, "histogram: as stated"},
    {"rate", PF_INT, "histogram: as stated"},
    {"dimension", PF_NAME, "histogram: as stated"},
    {"abbreviation", PF_NAME, "histogram: as stated"},
    {"from", PF_ADDR, "of an arc"},
    {"to", PF_ADDR, "of an arc"},
    {"count", PF_INT, "arc: calls; blocks and images: number of items"},
    {"order", PF_INT, "of an arc"},
    {"bytes", PF_BYTES, "bytes of the segment"},
};

#define WRITTEN(name, columns) \
  { #name, gmon_##name##_fields, columns, -1, NULL }

const pf_table gmon_written[WRITTEN_TABLES] = {
    WRITTEN(sets, SETS_COLUMNS),
    WRITTEN(histogram, HISTOGRAM_COLUMNS),
    WRITTEN(arcs, ARCS_COLUMNS),
    WRITTEN(blocks, BLOCKS_COLUMNS),
};
