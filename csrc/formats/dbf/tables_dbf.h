/*
** tables_dbf.h - the schemas of the tables structure and raw, which are the
** same for every file; defined in open_dbf.c.
*/

#ifndef tables_dbf_h
#define tables_dbf_h

#include "profio.h"

enum {
  STRUCTURE_NAME,
  STRUCTURE_TYPE,
  STRUCTURE_LENGTH,
  STRUCTURE_DECIMALS,
  STRUCTURE_OFFSET,
  STRUCTURE_FLAGS,
  STRUCTURE_COLUMN,
  STRUCTURE_COLUMNS
};

enum {
  RAW_OFFSET,
  RAW_SIZE,
  RAW_KIND,
  RAW_NAME,
  RAW_TYPE,
  RAW_LENGTH,
  RAW_DECIMALS,
  RAW_FLAGS,
  RAW_RECORD,
  RAW_DELETED,
  RAW_BYTES,
  RAW_COLUMNS
};

extern const pf_field dbf_structure_fields[STRUCTURE_COLUMNS];
extern const pf_field dbf_raw_fields[RAW_COLUMNS];

#endif
