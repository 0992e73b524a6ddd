/*
** schemas.c - the schemas of the tables.
*/

#include "formats/winidea/winidea.h"

const pf_field winidea_timeline_fields[TIMELINE_COLUMNS] = {
    {"time", PF_INT, "time, ns; negative before the trigger", false},
    {"event", PF_NAME, "enter, leave, suspend, resume or write", false},
    {"handle", PF_HANDLE, "the vendor's number of the area", false},
    {"core", PF_INT, "the core; -1: unknown", false},
    {"value", PF_INT, "what was written, or the state's value", false},
    {"area", PF_AREA, "function, line, variable, state, ...", false},
    {"context", PF_NAME, "the task, if it is known", false},
    {"number", PF_NUM,
     "the value as a double; for areas of type F64 only this column has it",
     false},
};

const pf_field winidea_events_fields[EVENTS_COLUMNS] = {
    {"time", PF_INT, "time, ns", false},
    {"event", PF_NAME,
     "enter, leave, suspend, resume or write; end: when the recording ended",
     false},
    {"area", PF_AREA,
     "function, line, variable, ...; for a write to a variable with states, "
     "the state",
     false},
    {"lane", PF_NAME, "the context or, if it is not known, the core", false},
    {"value", PF_INT, "what was written, or the state's value", false},
    {"core", PF_INT, "the core; -1: unknown", false},
    {"number", PF_NUM,
     "the value as a double; for areas of type F64 only this column has it",
     false},
};

const pf_field winidea_areas_fields[AREAS_COLUMNS] = {
    {"area", PF_AREA, "the area, under the name it is shown by", false},
    {"handle", PF_HANDLE, "the vendor's number of it", false},
    {"value", PF_INT, "the number of a line, the value of a state", false},
    {"name", PF_NAME, "its name as the file has it", false},
    {"class", PF_NAME, "function, line, variable, state, aux, ...", false},
    {"parent", PF_AREA, "the function of a line, the variable of a state",
     false},
    {"file", PF_NAME, "the source file", false},
    {"line", PF_INT, "the number of a line", false},
    {"type", PF_NAME, "of its values: I64 or F64", false},
    {"unit", PF_NAME, "of its values", false},
    {"path", PF_NAME, "where the profiler lists it", false},
    {"states", PF_HANDLE, "of a variable: the vendor's number of its states",
     false},
};

#define TIMES(name, what)                             \
  {#name, PF_INT, what ", ns", false},                \
      {#name "_min", PF_INT, "minimum, ns", false},   \
      {#name "_max", PF_INT, "maximum, ns", false}, { \
#name "_mean", PF_INT, "mean, ns", false          \
  }

const pf_field winidea_statistics_fields[STATISTICS_COLUMNS] = {
    {"area", PF_AREA, "the area", false},
    {"handle", PF_HANDLE, "the vendor's number of it", false},
    {"value", PF_INT, "the number of a line, the value of a state", false},
    {"context", PF_NAME, "the task; missing: all, or none is known", false},
    {"name", PF_NAME, "its name, if the rows have it", false},
    {"count", PF_INT, "entries, writes, or visits of a state", false},
    TIMES(net, "time in it, without what it called"),
    TIMES(gross, "time in it and what it called"),
    TIMES(call, "time from entry to exit"),
    TIMES(period, "time from entry to entry"),
    TIMES(outside, "time outside of it"),
};

const pf_field winidea_contexts_fields[CONTEXTS_COLUMNS] = {
    {"name", PF_NAME, "the task", false},
    {"handle", PF_ADDR, "the vendor's number of it", false},
};

const pf_field winidea_raw_fields[RAW_COLUMNS] = {
    {"offset", PF_INT, "byte at which it begins", false},
    {"size", PF_INT, "bytes", false},
    {"kind", PF_NAME,
     "record, or rest: an incomplete record; of lines header, blank or the "
     "section: info, contexts, handle, statistics, timeline",
     false},
    {"handle", PF_HANDLE, "HANDLE, as stated", false},
    {"flags", PF_ADDR, "FLAGS or EVENT, as stated", false},
    {"data", PF_ADDR, "DATA, as stated", false},
    {"time", PF_INT, "TIME, as stated", false},
    {"bytes", PF_BYTES, "all its bytes", false},
};
