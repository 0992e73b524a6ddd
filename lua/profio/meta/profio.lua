---@meta

-- The methods of traces, views, profiles, writers and settings for editors, made from the
-- modules that have them by `make docs`. Never loaded.

---@class profio.Trace: profio.View
local Trace = {}

---Returns a view of one table. Raises if there is no such table.
---@param name string
---@return profio.View
function Trace:table(name) end

---Returns the calls that are computed from the events of the trace, in order of stop: area, lane,
---start, stop, gross, net, call, period, outside, depth, caller, flags, count, stack. Raises if
---there are no events.
---@param options table|nil recursion = "all" | "outermost", partial = "include" | "exclude",
---edges = "exclude" | "include", from, to, last, max_depth; see profio.calls
---@return profio.View
function Trace:calls(options) end

---Returns statistics of the calls, one row for each area, in order of names: area, handle, value,
---context, count; net, gross, call, period and outside, each plain (the sum) and with _min, _max,
---_mean, _stddev, _p50, _p99; net_max_at, gross_max_at, call_max_at, period_jitter; without callers
---last_stop. The numbers equal an aggregate of calls, but memory does not grow with the calls. The
---rows of all contexts come first, then those of each one by its value; areas with a parent (states
---of variables) come after the others. With order = "first" areas are in the order in which they
---are first used.
---@param options table|nil by = "area" | "context" | "caller", quantiles = "p50,p99", order =
---"name" | "first", and the options of calls
---@return profio.View
function Trace:call_statistics(options) end

---Explains why the slow calls of a function are slow: the gap between them and as many typical
---calls is split into parts that sum to it. All times are sums over these calls, in ns. The result
---has: area, calls, partial (calls that were not recorded from enter to leave, and are left out),
---sentence; slow and typical, { calls =, elapsed = }; gap; parts, the largest first: { kind =,
---area =, path =, time =, share =, count =, typical_count =, start =, lane =, sentence = } with the
---kinds own, before, longer, more, suspended, first, rest (profio help explain); first has parts of
---its own in `of`; more has caller if typical calls do not call the function there; suspended has
---runner and runner_area, if a lane is known to have run on the core meanwhile, and its function;
---worst and median, each { start =, lane =, elapsed = }; tree, these two calls and their callees: {
---depth =, area =, worst_count =, worst_elapsed =, worst_net =, median_count =, median_elapsed =,
---median_net = }, or with runner the lane that ran while the function above was suspended; path,
---the critical path if the worst call waited for other lanes: { start =, elapsed =, lane =, area =
---}, without lane and area where nothing is known to run; path_sentence. Raises without events.
---@param area string name of the function
---@param options table|nil quantile = "p99", lane (value, list or condition), from, to, max_depth
---@return table|nil
---@return string|nil message  if there are not two calls to compare
---@return string|nil code
function Trace:explain(area, options) end

---Returns the format's options that the user gave.
---@return table<string, any>
function Trace:options() end

---Returns the losses of the trace as texts; profiles and exports pass them on.
---@return string[] losses  empty if no loss is known
function Trace:losses() end

---Returns the header fields in the order of the file: { { name=, type=, value= }, ... } per part.
---@return table[][]
function Trace:facts() end

---Returns the number of rows of a table, or nil if only reading it would tell.
---@param name string
---@return integer|nil
function Trace:row_count(name) end

---Put a stage over every table that is read from now on.
---@param stage fun(reader: userdata, name: string): userdata
---@param is_over fun(): boolean  whether the stage ended a table early: then save writes nothing
function Trace:watch(stage, is_over) end

---Look for data written since the trace was opened live or refreshed: readers that were at its end
---continue.
---@return boolean more  there is new data
function Trace:refresh() end

---Read the whole trace and list every warning, not only the first of each code. If a stage of
---`watch` ends a table early: those so far.
---@return profio.Warning[] warnings  empty if there are none
function Trace:check() end

---Returns the frames of a call stack, innermost first.
---@param number integer a value of a column of stacks
---@return { area: string, class: string|nil, file: string|nil, line: integer|nil }[]
function Trace:stack(number) end

---Returns from what a profile of the trace would be built, or nil if the tables are missing.
---@return "graph"|"stacks"|"calls"|nil
function Trace:profile_kind() end

---Returns whether a profile of the trace knows callers, to which the cost of hidden functions is
---charged.
---@return boolean
function Trace:has_callers() end

---Returns the profile of the trace: functions and arcs with their times. See profio.profile.
---@param options table|nil
---@return profio.Profile|nil
---@return string|nil message
---@return string|nil code
function Trace:profile(options) end

---Export the trace, or its profile, for another program. The file appears when it is complete.
---Raises if the path is a file of the trace.
---@param kind string  "btf", "chrome", "speedscope", ...; the profile is built if necessary
---@param path string|nil nil: return the bytes
---@param options table|nil options of the export; for events also from, to, lane
---@return boolean|string|nil
---@return string|nil message
---@return string|nil code
function Trace:export(kind, path, options) end

---Returns the paths of all files that were read for the trace; no export overwrites them.
---@return string[]
function Trace:inputs() end

---Write the whole trace into a file of a format and dialect; rows of several files with equal keys
---are added up. Files with a clock, which are runs of their own, are written as one file only if
---that has the same calls. The files appear, and replace older ones, when all are complete. Raises
---if the path is a file of the trace.
---@param path string|nil  nil: return the bytes
---@param options table|nil { format =, options of that format }
---@return integer|string|nil written
---@return string|nil message
---@return string|nil code
function Trace:save(path, options) end

---Close the files. Views of the trace raise afterwards. Closing twice is allowed.
function Trace:close() end

---@class profio.View
local View = {}

---Returns the columns: { name=, type=, help= } each.
---@return profio.Field[] fields
function View:fields() end

---Rows that satisfy all conditions; the conditions are evaluated in C.
---@param wanted table<string, any> column = value | list | profio.between/match/no/missing
---@return profio.View
function View:where(wanted) end

---Rows for which a Lua function of some columns returns a true value.
---@param f fun(...): any
---@param ... string the columns whose values f gets
---@return profio.View
function View:filter(f, ...) end

---At most n rows, after the first `skip` rows.
---@param n integer
---@param skip integer|nil
---@return profio.View
function View:limit(n, skip) end

---Rows with from <= time < to, in nanoseconds; nil leaves an end open. If records have a fixed
---size, the first row is found by bisection, and rows are assumed to be in order of time unless
---some are seen that are not.
---@param from integer|nil
---@param to integer|nil
---@param column string|nil default: time
---@return profio.View
function View:range(from, to, column) end

---Add the columns class, handle, value, parent, file and line of the area in a column. A column
---that the rows have already is not added.
---@param column string|nil default: area
---@return profio.View
function View:with_area(column) end

---Sort rows by columns, "-column" descending; stable, missing values last. Of a trace that is
---opened live the rows are sorted that it has when they are read.
---@param ... string
---@return profio.View
function View:sort(...) end

---Converts entries of calls (columns op and call) to enters and leaves: i and I become one enter, O
---and o one leave. Adds the columns event, overhead and compiled, and the leaves that the trace
---does not have, with the flags unwound, gap and open. A leave without a call has the flag orphan.
---@return profio.View
function View:unfilter() end

---The inverse of unfilter: from entries with both operations of each pair, keeps those that a
---filtering profiler would have written.
---@return profio.View
function View:refilter() end

---Add columns computed from others, in C: view:derive { "share = count / total(count)" }.
---internal/views/formulas.lua defines formulas. Whole numbers of more than 64 bits are missing, and
---view.warnings (also trace.warnings) tells in how many rows.
---@param wanted string[]
---@return profio.View
function View:derive(wanted) end

---Add one column for each of `names`: it holds the number in column `value` in rows whose column
---`key` has that name, and 0 in all other rows. Grouping the rows and summing these columns gives
---the values side by side, as a pivot table does.
---@param key string a column of names
---@param value string a column of whole numbers
---@param names (string|{ name: string, column: string })[] `column` names the new column
---@return profio.View
function View:pivot(key, value, names) end

---Group rows with equal keys; `aggregate` then computes columns of each group. Without it the rows
---are counted.
---@param ... string|function|table columns, "bucket(column, width)" (rounded down to a multiple),
---"octave(column)" (rounded down to a power of two), functions, or { function, "column", ...,
---name = "key", type = "int" | "num" | "bool" | "name" }. Without columns the function gets the
---record. Without a type the values decide; without values the column has no type of its own. Of a
---trace that is opened live the rows are grouped that it has when the groups are read
---@return profio.View
function View:group(...) end

---Compute columns of each group (without a group before: of all rows): { "n = count",
---"total = sum(value)" } in that order, or { n = "count", ... } in order of name.
---@param wanted table
---@return profio.View
function View:aggregate(wanted) end

---Iterate over values of columns (default: all): for a, b in view:each("a", "b").
---A missing value is nil; in the first column false, because nil would end the loop.
---@param ... string
---@return fun(): ...
function View:each(...) end

---Iterate over records: a new table each, without missing values.
---@param ... string only these columns
---@return fun(): table
function View:records(...) end

---Returns all records as an array.
---@param ... string only these columns
---@return table[]
function View:rows(...) end

---Counts the rows by reading them.
---@return integer
function View:count() end

---Write the rows: as an aligned table, or as csv, tsv, json or ndjson.
---@param options table|nil { output = "text", columns = {...}, unit = "ms", ... }; for csv and tsv
---also raw = true: keep bytes that are not UTF-8, instead of writing U+FFFD; and no_formulas = true
---@param out file*|nil nil: return the text
---@return string|nil
function View:write(options, out) end

---Export the rows for another program. The file appears when it is complete. Raises if the path is
---a file that was read for the rows.
---@param kind string "csv", "clickhouse", "sqlite", ...
---@param path string|nil nil: return the bytes
---@param options table|nil options of the export, and columns: only these, in this order
---@return boolean|string|nil
---@return string|nil message
---@return string|nil code
function View:export(kind, path, options) end

---Print an aligned table on standard output.
---@param ... string only these columns
function View:print(...) end

---Returns a new reader of the core, as reports and exports use it.
---@return userdata
function View:reader() end

---@class profio.Profile
local Profile = {}

---Functions by time: function, calls, self, total, self_share, total_share, file, line.
---@type fun(self: profio.Profile, options: table|nil): profio.View
function Profile:flat(options) end

---Arcs of the call graph: caller, callee, calls, self, total.
---@type fun(self: profio.Profile, options: table|nil): profio.View
function Profile:graph(options) end

---The call graph as gprof prints it, one row for each line.
---@type fun(self: profio.Profile, options: table|nil): profio.View
function Profile:graph_listing(options) end

---The index by function name, one row for each cell.
---@type fun(self: profio.Profile, options: table|nil): profio.View
function Profile:index(options) end

---Source lines by time: file, line, count, self, self_share, function. Needs lines = true.
---@type fun(self: profio.Profile, options: table|nil): profio.View
function Profile:lines(options) end

---Source lines in order of file and line, with calls and time. Needs lines = true.
---@type fun(self: profio.Profile, options: table|nil): profio.View
function Profile:annotations(options) end

---All functions with their numbers.
---@type fun(self: profio.Profile, options: table|nil): profio.View
function Profile:functions(options) end

---Call tree, callers first and the heaviest callees first: depth, function, calls, self, total,
---self_share, total_share, file, line, node, label (the name, indented).
---@type fun(self: profio.Profile, options: table|nil): profio.View
function Profile:tree(options) end

---Bottom-up tree: the functions with self time, and below each its callers. Columns as in tree, but
---self is only set on the first level; total and calls of a caller are the part of the function's
---cost that came through it.
---@type fun(self: profio.Profile, options: table|nil): profio.View
function Profile:bottom_up(options) end

---The callers of a function and the time that it charges to each: columns as in graph. For an
---unknown function there are no rows, and a note in view.warnings.
---@type fun(self: profio.Profile, func: string, options: table|nil): profio.View
function Profile:callers(func, options) end

---The callees of a function: columns as in graph.
---@type fun(self: profio.Profile, func: string, options: table|nil): profio.View
function Profile:callees(func, options) end

---Returns the same profile with other options of reports: metric, include_graph, ...
---@param more table
---@return profio.Profile
function Profile:with(more) end

---Returns totals and properties, computed with options of reports.
---@param more table|nil
---@return table<string, any>
function Profile:facts_with(more) end

---Returns the metrics: { { name =, unit =, total = }, ... }
---@return { name: string, unit: string, total: integer }[]
function Profile:metrics() end

---Returns the kind of its body: "graph", "contexts" or "sums".
---@return string
function Profile:kind() end

---Returns the object of the core, for reports and exports; nil for a profile of sums.
---@return userdata|nil
function Profile:handle() end

---Returns the losses of the traces from which it was built, as texts.
---@return string[]
function Profile:notes() end

---Returns the paths of the files from which it was built; no export overwrites them.
---@return string[]
function Profile:inputs() end

---Returns its name in exports: the path of its trace; a sum has up to three, or the first of many.
---@return string
function Profile:title() end

---Returns the header fields of the profile's files, for export pprof: a list with those of each
---file, and the executable as a mapping.
---@return { heads: table[], mapping: table|nil }
function Profile:origin() end

---Returns the new and the old profile of a difference, else nil.
---@return profio.Profile|nil new
---@return profio.Profile|nil old
function Profile:compared() end

---Returns the metric that views show by default: the one that the file states, else time, else the
---first one. For pprof: default_sample_type, else the last one.
---@return string|nil
function Profile:usual_metric() end

---Returns its functions and arcs as sums, for exports; see internal/bodies/sums_body.lua.
---@return profio.core.Contexts functions
---@return profio.core.Contexts arcs
function Profile:sums() end

---Returns its calling contexts, for exports: those it has, or one of one frame for each function.
---@return profio.core.Contexts
function Profile:contexts() end

---Export the profile for another program. The file appears when it is complete. Raises if the path
---is a file from which the profile was built.
---@param kind string "pprof", "folded", "callgrind", ...
---@param path string|nil nil: return the bytes
---@param given table|nil options of the export
---@return boolean|string|nil
---@return string|nil message
---@return string|nil code
function Profile:export(kind, path, given) end

---Free its numbers. Using it afterwards raises.
function Profile:close() end

---Compare with an older profile, one row for each function, the largest change first: function,
---self, self_before, change, relative, total, total_before, total_change, significance, file,
---line. The formats may differ. Functions are matched by name, and by file if a profile has the
---name in several files. Profiles of unequal numbers of runs are compared by the means of a run,
---and a note in view.warnings says so; another one says that the samples were taken at two rates.
---The significance is missing if one of them has no samples, since the precision of its times is
---unknown.
---@param old profio.Profile
---@param metric string|nil
---@return profio.View
function Profile:diff(old, metric) end

---Multiply all weights. They stay integers; the sum of each metric is the rounded product.
---@param factor number
---@return profio.Profile
function Profile:scale(factor) end

---Divide all weights by the number of runs that the profile is the sum of: the files of its trace,
---or the runs of a store.
---@return profio.Profile
function Profile:per_run() end

---Scale so that the total of a metric equals that of another profile, or a number. This makes runs
---of different length comparable.
---@param to profio.Profile|number
---@param metric string|nil default: the metric that views show
---@return profio.Profile
function Profile:normalise(to, metric) end

---Only the cost of these functions and of all that they call.
---@type fun(self: profio.Profile, wanted: profio.Pick): profio.Profile
function Profile:focus(wanted) end

---Leaves out all stacks with these functions (in a graph: the functions and their share of
---callees).
---@type fun(self: profio.Profile, wanted: profio.Pick): profio.Profile
function Profile:ignore(wanted) end

---Charges the cost of these functions to their callers. A function without a caller keeps its self
---cost.
---@type fun(self: profio.Profile, wanted: profio.Pick): profio.Profile
function Profile:hide(wanted) end

---Merge functions: by "file", or by the names that a function returns for frames (nil: unchanged).
---@param by "file"|fun(frame: { function: string, file: string|nil, line: integer|nil }): string
---@return profio.Profile
function Profile:group(by) end

---Merge contexts whose total is below a share of the whole into their callers; in profiles of
---functions and arcs, the functions.
---@param share number 0.01 is one per cent
---@param metric string|nil
---@return profio.Profile
function Profile:prune(share, metric) end

---@class profio.Writer
local Writer = {}

---Write one record: w:write { ... } into the main table, w:write("arcs", { ... }) into another.
---Unknown columns, wrong types and values that the file cannot hold raise.
---@param table_name string|table
---@param record table|nil
---@return boolean|nil  false: the ring was full and dropped the record
---@return string|nil message
---@return string|nil code
function Writer:write(table_name, record) end

---Returns the id of a call stack, for a column of stacks.
---@param frames table[] { area =, class =, file =, line =, value = }, innermost first, as returned
---by trace:stack
---@return integer|nil
function Writer:stack(frames) end

---Returns a function that records one row: local emit = w:emitter("time", "op"), then
---emit(t, "i"). This is the fast way to write. The columns belong to the main table, unless another
---one is given first: w:emitter("arcs", { "from", "to" }). The function returns nothing; false if
---the ring was full and dropped the row; or nil, message, code. Without a ring it raises for a
---value that cannot be written; with a ring a later call fails, and all calls after that.
---@param ... string
---@return fun(...): false|nil, string|nil, string|nil
function Writer:emitter(...) end

---Wait until all records are in the file. With full = "overwrite" the ring keeps them: see dump.
---@return true|nil
---@return string|nil message
---@return string|nil code
function Writer:flush() end

---Write the records that the ring holds into the file, also with full = "overwrite".
---@return true|nil
---@return string|nil message
---@return string|nil code
function Writer:dump() end

---Returns how many records were tried, written into the file, and lost (dropped or overwritten by
---the ring, also those that a recording which was appended to had lost), and how many of their
---values were rounded. Raises after close.
---@return { tried: integer, written: integer, lost: integer, rounded: integer }
function Writer:facts() end

---Write the file and close. Returns the number of bytes; without a path the bytes, and those of the
---files beside it, by role.
---@return integer|string|nil
---@return string|table<string, string>|nil message
---@return string|nil code
function Writer:close() end

---@class profio.Store
local Store = {}

---Reads all of a trace that a run has, to be added by `write`. The trace may be closed then.
---@param trace profio.Trace
---@param options table|nil { labels = { version = "v2", ... } }
---@return table|nil prepared with `run`, the 32 hexadecimal digits of its hash, and `is_known`: the
---store has it already
---@return string|nil message
---@return string|nil code
function Store:prepare(trace, options) end

---Adds prepared runs: all of them, or none. They are on the disk when it returns. A run that the
---store has by now, with the same labels, changes nothing.
---@param list table[] as of prepare
---@param options table|nil { is_part = true }: only if the store is in ClickHouse; the runs are on
---the disk when the next call without it returns; if any of these calls fails, none of them is
---@return integer|nil count of runs that are new
---@return string|nil message
---@return string|nil code
function Store:write(list, options) end

---Adds a trace as a run. A run that the store has already, with the same labels, changes nothing.
---@param trace profio.Trace
---@param options table|nil { labels = { version = "v2", ... } }
---@return string|nil run 32 hexadecimal digits: the hash of its files and options
---@return boolean|string is_new, or message
---@return string|nil code
function Store:add(trace, options) end

---Adds the runs of another store that this one does not have.
---@param other profio.Store
---@param where table<string, any>|nil only these runs
---@return integer|nil count of added runs
---@return string|nil message
---@return string|nil code
function Store:merge(other, where) end

---Returns the runs, in order of their hashes: { run =, time =, time_from =, added =, format =,
---kind =, files =, bytes =, losses =, call_bytes =, path =, profio =, labels = { key = value } }.
---@param where table<string, any>|nil conditions of labels and attributes, as those of view:where
---@return table[]|nil
---@return string|nil message
---@return string|nil code
function Store:runs(where) end

---Returns the labels of the store: { { key =, value =, runs = }, ... }, in order.
---@return table[]|nil
---@return string|nil message
---@return string|nil code
function Store:labels() end

---Sets, changes or removes labels of runs: of all selected ones, or of none.
---@param labels table<string, string|false> false: the runs lose the label
---@param where table<string, any> conditions as of runs; {} selects all
---@return integer|nil count of selected runs
---@return string|nil message
---@return string|nil code
function Store:label(labels, where) end

---Removes runs. Names and stacks of removed runs stay in the store; a new store into which this one
---is merged does not have them.
---@param where table<string, any> conditions as of runs; {} removes all
---@return integer|nil count
---@return string|nil message
---@return string|nil code
function Store:drop(where) end

---Opens the store as a trace, with tables runs, labels, cells and durations and a profile.
---@param where table<string, any>|nil only these runs
---@return profio.Trace|nil
---@return string|nil message
---@return string|nil code
function Store:trace(where) end

---Returns the sum of the profiles of the runs.
---@param options table|nil { where = conditions as of runs }, and options of trace:profile
---@return profio.Profile|nil
---@return string|nil message
---@return string|nil code
function Store:profile(options) end

---Returns the weight of a function in each period of time, or for each value of a label: rows with
---by, runs, self, total, whole, self_share, total_share, and p10_share, p50_share and p90_share of
---the runs.
---@param wanted any a name, a list of names, profio.match or profio.no
---@param options { by: string, where: table, metric: string }|nil by: hour, day (the default),
---week, month (UTC), run, a label, or an attribute with texts
---@return profio.View|nil
---@return string|nil message
---@return string|nil code
function Store:trend(wanted, options) end

---Returns how much the runs with each value of a label, or each run, differ from all other runs,
---the largest differences first: rows with by, runs, whole, distance, function, function_share and
---others_share.
---@param options { by: string, where: table, metric: string }|nil by: run (the default), and others
---as of trend
---@return profio.View|nil
---@return string|nil message
---@return string|nil code
function Store:top(options) end

---Writes the runs as files into a folder: a pprof file for each (of histograms and arcs a gmon.out,
---without the names of its program), and runs.csv with their labels.
---profio store add STORE FOLDER adds them again, without the statistics of calls.
---@param folder string is created if it does not exist
---@param where table<string, any>|nil only these runs
---@return integer|nil count of runs
---@return integer|string|nil count of the runs that have statistics of calls, or message
---@return string|nil code
function Store:export(folder, where) end

---Closes the store. Runs that were added in a transaction without commit are taken back.
function Store:close() end

---@class profio.Comparison
local Comparison = {}

---Returns the rows, the largest change of the whole first: function (or area, context, line, file,
---stack), before, after, change, relative, low, high, p, p_adjusted, verdict, moved, detectable,
---runs_needed, file, line. Weights are means of the runs. Areas, alone and in contexts, also have
---the statistics of the calls of all runs of each side: value, then NAME of the new runs,
---NAME_before and NAME_change for count, net, gross, net_max, gross_max, net_p99, gross_p99,
---period_mean, period_jitter and load; and where the worst calls are (net_max_at, gross_max_at; of
---several runs net_max_run and gross_max_run, the number of the run). The whole is one row: before,
---after, change, relative, low, high, p, verdict, detectable, runs_needed, scale, scale_width.
---@param column "self"|"total"|"whole"|nil default self; total counts callees too. Raises if the
---rows have no totals: by file, by line, and of metric calls of a call graph
---@return profio.View
function Comparison:rows(column) end

---Returns the paths of the files from which the runs were read; no export of rows overwrites them.
---@return string[]
function Comparison:inputs() end

---Returns a paragraph in plain words: the change of the whole, what explains it, and what these
---runs cannot show.
---@return string
function Comparison:text() end

---Returns the difference of the means of both sides as a profile, for exports and reports. Needs
---option profiles. With option normalise the new runs are scaled, as in the rows.
---@return profio.Profile
function Comparison:difference() end

---Checks conditions of a gate: "self > +5%", "total of ~^Db > +2ms", "whole > +3%", "new",
---"slower of main".
---@param conditions string[]
---@return { condition: string, name: string, state: string, text: string }[] results one for each
---row that fails (state = "failed"), or whose verdict is unknown (state = "unknown"), with what
---would have been needed to know it, and for each name that no row has ("failed"); empty: all
---conditions hold
function Comparison:check(conditions) end

---Checks limits of statistics of calls, which may be relative to the base: "Db_Read gross_p99 <=
---base * 1.05" (profio help limits). Maxima and quantiles are those of all calls of a side; counts,
---times and loads are means of the runs. Needs option calls, or rows that are areas or contexts.
---Raises for a line that is no limit.
---@param given string|profio.Limit[] limits, one in each line, or as parsed by profio.limits
---@return table[] results as of profio.limits.check: area, context, column, operator, bound, value,
---state (ok, exceeded or missing), at, unit, line
function Comparison:limits(given) end

---@class profio.Settings
local Settings = {}

---Returns the value of a key; letter case is ignored.
---@param key string
---@return string|nil
function Settings:get(key) end

---Returns the value of a key as a number; nil if it is none, written in decimal digits.
---@param key string
---@return integer|nil
function Settings:number(key) end

---Changes the value of a key in its line; a new key is appended.
---@param key string
---@param value string|integer
---@return profio.xpp.Settings
function Settings:set(key, value) end

---Returns which bits of OPERATIONMODE are set, by name; bits without a name by number.
---@return table<string|integer, boolean>
function Settings:mode() end

---Sets (true) or clears (false) bits of OPERATIONMODE by name or number; the others stay. Raises if
---its value is no number, because its bits are not known then.
---@param wanted table<string|integer, boolean>
---@return profio.xpp.Settings
function Settings:set_mode(wanted) end

---Returns the text of the file.
---@return string
function Settings:text() end

---Writes the settings into a file, which may be the one they were read from.
---@param path string
---@return true|nil
---@return string|nil message
---@return string|nil code
function Settings:write(path) end
