/*
** schemas.c - the schemas of the tables. Used by open_winidea.c, which builds
** the tables of a trace, by the readers and by the encoder. All are constants.
*/

#include "formats/winidea/winidea.h"

const pf_field winidea_timeline_fields[TIMELINE_COLUMNS] = {
    {"time", PF_INT, "time, ns; negative before the trigger"},
    {"event", PF_NAME, "enter, leave, suspend, resume or write"},
    {"handle", PF_HANDLE, "the vendor's number of the area"},
    {"core", PF_INT, "the core; -1: unknown"},
    {"value", PF_INT, "what was written, or the state's value"},
    {"area", PF_AREA, "function, line, variable, state, ..."},
    {"context", PF_NAME, "the task, if it is known"},
    {"number", PF_NUM,
     "the value as a double; for areas of type F64 only this column has it"},
};

const pf_field winidea_events_fields[EVENTS_COLUMNS] = {
    {"time", PF_INT, "time, ns"},
    {"event", PF_NAME,
     "enter, leave, suspend, resume or write; end: when the recording ended"},
    {"area", PF_AREA,
     "function, line, variable, ...; for a write to a variable with states, "
     "the state"},
    {"lane", PF_NAME, "the context or, if it is not known, the core"},
    {"value", PF_INT, "what was written, or the state's value"},
    {"core", PF_INT, "the core; -1: unknown"},
    {"number", PF_NUM,
     "the value as a double; for areas of type F64 only this column has it"},
};

const pf_field winidea_areas_fields[AREAS_COLUMNS] = {
    {"area", PF_AREA, "the area, under the name it is shown by"},
    {"handle", PF_HANDLE, "the vendor's number of it"},
    {"value", PF_INT, "the number of a line, the value of a state"},
    {"name", PF_NAME, "its name as the file has it"},
    {"class", PF_NAME, "function, line, variable, state, aux, ..."},
    {"parent", PF_AREA, "the function of a line, the variable of a state"},
    {"file", PF_NAME, "the source file"},
    {"line", PF_INT, "the number of a line"},
    {"type", PF_NAME, "of its values: I64 or F64"},
    {"unit", PF_NAME, "of its values"},
    {"path", PF_NAME, "where the profiler lists it"},
    {"states", PF_HANDLE, "of a variable: the vendor's number of its states"},
};

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

const pf_field winidea_contexts_fields[CONTEXTS_COLUMNS] = {
    {"name", PF_NAME, "the task"},
    {"handle", PF_ADDR, "the vendor's number of it"},
};

const pf_field winidea_raw_fields[RAW_COLUMNS] = {
    {"offset", PF_INT, "byte at which it begins"},
    {"size", PF_INT, "bytes"},
    {"kind", PF_NAME,
     "record, or rest: an incomplete record; of lines header, blank or the "
     "section: info, contexts, handle, statistics, timeline"},
    {"handle", PF_HANDLE, "HANDLE, as stated"},
    {"flags", PF_ADDR, "FLAGS or EVENT, as stated"},
    {"data", PF_ADDR, "DATA, as stated"},
    {"time", PF_INT, "TIME, as stated"},
    {"bytes", PF_BYTES, "all its bytes"},
};
