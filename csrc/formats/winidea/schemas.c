/*
** schemas.c - the schemas of the tables. Used by open_winidea.c, which builds
** the tables of a trace, by the readers and by the encoder. All are constants.
*/

#include "formats/winidea/winidea.h"

const pf_field winidea_timeline_fields[] = PF_COLUMN_FIELDS(TIMELINE);
const pf_field winidea_events_fields[] = PF_COLUMN_FIELDS(EVENTS);
const pf_field winidea_areas_fields[] = PF_COLUMN_FIELDS(AREAS);

#define TIMES(name, what)                                              \
  {#name, PF_INT, what ", ns"}, {#name "_min", PF_INT, "minimum, ns"}, \
      {#name "_max", PF_INT, "maximum, ns"}, {                         \
#name "_mean", PF_INT, "mean, ns"                                  \
  }

const pf_field winidea_statistics_fields[STATISTICS_COLUMNS] = {
    {"area", PF_AREA, "the area"},
    {"handle", PF_HANDLE, "the vendor's number of it"},
    {"value", PF_INT, "the number of a line, the value of a state"},
    {"context", PF_NAME, "the task; missing: all, or none is known"},
    {"name", PF_NAME, "its name, if the rows have it"},
    {"count", PF_INT, "entries, writes, or visits of a state"},
    TIMES(net, "time in it, without what it called"),
    TIMES(gross, "time in it and what it called"),
    TIMES(call, "time from entry to exit"),
    TIMES(period, "time from entry to entry"),
    TIMES(outside, "time outside of it"),
};

const pf_field winidea_contexts_fields[] = PF_COLUMN_FIELDS(CONTEXTS);
const pf_field winidea_raw_fields[] = PF_COLUMN_FIELDS(RAW);
