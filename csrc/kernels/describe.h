/*
** describe.h - the stage that adds what is known of the area in a column.
*/

#ifndef describe_h
#define describe_h

#include "model/areas.h"
#include "model/batch.h"

/*
** A reader of the rows of `input` (borrowed) with what its column `area`
** tells: class, handle, value, parent, file, line, each unless the input has a
** column of that name. Areas that are only names (PF_NAME) tell nothing: the
** new columns are missing then. PF_EUNSUPPORTED for another type of column.
*/
pf_status pf_describe_open (pf_reader *input, size_t area, pf_reader **reader,
                            pf_error *error);

#endif
