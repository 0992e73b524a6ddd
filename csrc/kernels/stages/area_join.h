/*
** area_join.h - the stage of view:with_area: it joins the columns of an area
** to the rows that name it. csrc/lua/stages/stages.c opens it.
*/

#ifndef area_join_h
#define area_join_h

#include "model/dictionary/areas.h"
#include "model/rows/batch.h"

/*
** Sets *reader to a reader of the rows of `input` (borrowed), with the columns
** class, handle, value, parent, file and line of the area in column `area`. A
** column whose name the input has already is not added. The added columns are
** missing where the area is missing or the column holds only names (PF_NAME).
** The caller owns the reader and closes it. PF_EUNSUPPORTED: the column has
** another type.
*/
pf_status pf_area_join_open (pf_reader *input, size_t area, pf_reader **reader,
                             pf_error *error);

#endif
