/*
** gmon_tables.c - the schemas of the format's tables.
*/

#include "formats/gmon/gmon.h"
#include "model/batch.h"

const pf_field gmon_histogram_fields[HISTOGRAM_COLUMNS] = {
    {"set", PF_INT, "number of the histogram record", true},
    {"low", PF_ADDR, "first address of the bin", false},
    {"high", PF_ADDR, "first address behind the bin", false},
    {"count", PF_INT, "samples", false},
    {"seconds", PF_NUM, "count / rate, s", false},
    {"spent", PF_INT,
     "count / rate, ns; rounded so that the sum of a set is exact", false},
    {"bin", PF_INT, "number of the bin in its histogram", false},
    {".spent", PF_INT, pf_rest_help, false},
    {".seconds", PF_INT, pf_rest_help, false},
};

const pf_field gmon_arcs_fields[ARCS_COLUMNS] = {
    {"from", PF_ADDR, "a place in the caller, often rounded down", false},
    {"to", PF_ADDR, "a place in the callee", false},
    {"count", PF_INT, "calls", false},
    {"order", PF_INT, "Apple: number of the first call", false},
};

const pf_field gmon_blocks_fields[BLOCKS_COLUMNS] = {
    {"address", PF_ADDR, "first address of the basic block", false},
    {"count", PF_INT, "executions", false},
};

const pf_field gmon_sets_fields[SETS_COLUMNS] = {
    {"set", PF_INT, "number of the histogram record", true},
    {"low", PF_ADDR, "lowest address", false},
    {"high", PF_ADDR, "first address behind the highest", false},
    {"bins", PF_INT, "bins that are there", false},
    {"rate", PF_INT, "samples in a unit of the dimension; 0: none stated",
     false},
    {"dimension", PF_NAME, "what rate counts by: seconds", false},
    {"abbreviation", PF_NAME, "letter of the dimension", false},
    {"offset", PF_INT, "byte at which the record begins", false},
    {"declared", PF_INT, "bins the record states", false},
};

const pf_field gmon_images_fields[IMAGES_COLUMNS] = {
    {"address", PF_ADDR, "where the image was loaded, or how far it moved",
     false},
    {"path", PF_NAME, "file of the image", false},
};

const pf_field gmon_raw_fields[RAW_COLUMNS] = {
    {"offset", PF_INT, "byte at which it begins", false},
    {"size", PF_INT, "bytes", false},
    {"kind", PF_NAME, "header, histogram, arc, blocks, images, unknown or rest",
     false},
    {"low", PF_ADDR, "of a histogram, as stated", false},
    {"high", PF_ADDR, "of a histogram, as stated", false},
    {"bins", PF_INT, "of a histogram, as stated", false},
    {"rate", PF_INT, "of a histogram, as stated", false},
    {"dimension", PF_NAME, "of a histogram, as stated", false},
    {"abbreviation", PF_NAME, "of a histogram, as stated", false},
    {"from", PF_ADDR, "of an arc", false},
    {"to", PF_ADDR, "of an arc", false},
    {"count", PF_INT, "of an arc; of blocks and images: how many", false},
    {"order", PF_INT, "of an arc", false},
    {"bytes", PF_BYTES, "all its bytes", false},
};

#define WRITTEN(name, columns) \
  { #name, gmon_##name##_fields, columns, -1, NULL }

const pf_table gmon_written[WRITTEN_TABLES] = {
    WRITTEN(sets, SETS_COLUMNS),
    WRITTEN(histogram, HISTOGRAM_COLUMNS),
    WRITTEN(arcs, ARCS_COLUMNS),
    WRITTEN(blocks, BLOCKS_COLUMNS),
};
