---@meta profio.core
--
-- The part of profio.core for profiles; core.lua beside this file has the rest. Never loaded.

local core = {}

-- {====== Profiles ======

---Returns a profile of calling contexts from the rows of a reader, which is read at once.
---@param options table reader, stack | folded | function, fallback, caller, caller_file, file,
---    line, metrics = { { name, unit, column } }, usual (the metric that is shown first)
---@return profio.core.Contexts|nil
---@return string|nil message
---@return profio.core.Code|nil code
function core.contexts(options) end

---Returns a profile without contexts, into which a store adds cells.
---@param dictionary profio.core.Dictionary
---@param metrics { name: string, unit: string }[]|nil in this order
---@param usual string|nil name of the default metric
---@return profio.core.Contexts
function core.empty_contexts(dictionary, metrics, usual) end

---Returns the profile that contexts:pack has packed; raises if the bytes are damaged.
---@param bytes string
---@param dictionary profio.core.Dictionary
---@return profio.core.Contexts
function core.unpack_contexts(bytes, dictionary) end

---A profile as a tree of calling contexts. It is immutable: changes return a new one.
---@class profio.core.Contexts
local contexts = {}

---Frees it; existing readers stay valid.
function contexts:close() end

---Returns the profile as bytes for another process of this program.
---@return string
function contexts:pack() end

---@return integer contexts without the root
---@return boolean overflowed a weight, or the sum of a metric, was cut to the range of integers
---@return boolean overflowed a weight was
function contexts:count() end

---@return { name: string, unit: string, total: integer }[]
function contexts:metrics() end

---@param metric string
---@return integer weight of rows without a stack, which the total of the metric includes; 0 if
---there is no such metric
function contexts:unstacked(metric) end

---@return string|nil name of the metric that is shown when none is named
---@return boolean is_stated a file says so
function contexts:usual() end

---Returns each frame once.
---@return { number: integer, function: string, file: string|nil, line: integer|nil }[]
function contexts:frames() end

---function, calls, self, total, self_share, total_share, file, line.
---@param options table|nil metric, zeros, total_metric (its own weights are the totals)
---@return profio.core.Reader
function contexts:flat(options) end

---caller, callee, calls, self, total, caller_file, callee_file.
---@param options table|nil
---@return profio.core.Reader
function contexts:graph(options) end

---@param name string of a function
---@param options table|nil
---@return profio.core.Reader|nil reader nil: no function is called so
function contexts:callers(name, options) end

---@param name string of a function
---@param options table|nil
---@return profio.core.Reader|nil reader nil: no function is called so
function contexts:callees(name, options) end

---depth, function, calls, self, total, self_share, total_share, file, line, node, label.
---@param options table|nil
---@return profio.core.Reader
function contexts:tree(options) end

---Like tree, for contexts from `invert`: self and calls are set on the first level, and callers
---only have a total.
---@param options table|nil
---@return profio.core.Reader
function contexts:bottom_up(options) end

---file, line, count, self, self_share, function.
---@param options table|nil metric, zeros, count_metric (its weights are the counts)
---@return profio.core.Reader
function contexts:lines(options) end

---Compares functions. Needs a profile of single frames with the metrics self, total, count and each
---of them with " before"; columns: function, self, self_before, change, relative, total,
---total_before, total_change, significance, file, line; the largest change first. Without count or
---"count before" the significance is missing.
---@param unit string of the weights, as of core.unit
---@param exposure number how many samples the new side has for one of the old side if nothing
---changed; 0: not known, then the significance is missing
---@return profio.core.Reader
function contexts:diff(unit, exposure) end

---Adds the other profile, multiplied by 1 or -1.
---@param other profio.core.Contexts
---@param sign 1|-1|nil
---@return profio.core.Contexts
function contexts:merge(other, sign) end

---@param marks table<integer, integer> by number of a frame: 1 keep, 2 leave out, 4 hide
---@return profio.core.Contexts
function contexts:narrow(marks) end

---@param frames table<integer, table> by number: { function =, file =, line = } in its place
---@param keeps boolean|nil a frame that is then called by itself stays; else it becomes one with
---its caller
---@return profio.core.Contexts
function contexts:rename(frames, keeps) end

---@param depth integer|nil the most levels of callers
---@return profio.core.Contexts
function contexts:invert(depth) end

---@param depth integer frames below so many are folded into their callers
---@return profio.core.Contexts
function contexts:shorten(depth) end

---@param factor number
---@param divisor integer|nil of a factor that is a whole number; default 1
---@return profio.core.Contexts
function contexts:scale(factor, divisor) end

---Keeps only one metric, under another name.
---@param metric string
---@param name string
---@return profio.core.Contexts
function contexts:pick(metric, name) end

---@param share number contexts below it are folded into their callers
---@param metric string|nil
---@return profio.core.Contexts
function contexts:prune(share, metric) end

---Writes the frames of a flame graph as elements of SVG.
---@param from profio.core.Contexts
---@param options table left, width, row, root, min_width (pixels), upward, rows; metric, before,
---both (widths are the sums of both metrics)
---@param file file*
---@return true|nil
---@return string|nil message
---@return profio.core.Code|nil code
---@return "EPIPE"|nil
function core.write_flames(from, options, file) end

---@class profio.core.Outline
---@field functions string members of a JSON object: left, left_self (by metric: self of the
---functions that are left out), and by function calls, self and total (by metric)
---@field contexts string|nil the same: left, and by context in preorder depth, function (id),
---calls, self and rest (by metric; rest: the part of its total in contexts that are left out);
---outside: rest of all outermost contexts
---@field names string[] of the functions by id + 1; the first ones are those of `functions`
---@field files (string|false)[] the same
---@field lines integer[] the same; 0: none
---@field names_size integer bytes of names, files and lines as JSON, at most

---Returns the functions and contexts of a profile that fit into a number of bytes as JSON, with
---their names: functions by the size of self in the usual metric, contexts by their share.
---@param from profio.core.Contexts
---@param options table metrics ({ self =, total = } each: names of metrics; total only for sums,
---whose totals are metrics), usual (index of one of them), calls (name of a metric), most
---(functions), size (bytes of functions with their names), contexts_size (bytes of functions and
---contexts with their names; nil: no contexts)
---@return profio.core.Outline
function core.outline(from, options) end

---Returns how many rows write_flames draws with these options.
---@param from profio.core.Contexts
---@param options table
---@param file file*
---@return integer
function core.flame_rows(from, options, file) end

---Returns the largest depth at which all stacks have at most that many frames together; nil: all
---fit.
---@param of profio.core.Contexts
---@param most integer frames
---@param each integer frames for each context, where that is more
---@param inverted boolean|nil as levels of callers, not as stacks that are written one by one
---@return integer|nil
function core.stack_depth(of, most, each, inverted) end

---Returns a profile with one frame for each function, which is known by name and file; the same one
---if its frames have no lines.
---@param from profio.core.Contexts
---@return profio.core.Contexts
function core.by_function(from) end

---Returns the stacks of all tracks with their duration as metric "time".
---@param spans profio.core.Spans
---@return profio.core.Contexts|nil
---@return string|nil message
---@return string|nil code
function core.span_contexts(spans) end

---Writes the member "samples" of a thread of a processed profile.
---@param of_spans profio.core.Contexts
---@param options { spans: profio.core.Spans, track: integer, origin: integer, length: integer }
---@param out file*
---@return true|nil
---@return string|nil message
---@return string|nil code
---@return "EPIPE"|nil
function core.write_firefox_samples(of_spans, options, out) end

---Writes each row as a packet of Perfetto; csrc/lua/row_text.c lists the options.
---@param over profio.core.Reader
---@param options table sequence, origin, last, stop, flows, escaped, kinds, tracks, and columns:
---    time, kind, by, name, value, net, flags
---@param out file*|nil
---@return integer|string|nil rows read, or without a file the bytes and the rows
---@return integer|string|nil
---@return profio.core.Code|nil code
---@return "EPIPE"|nil
function core.write_packets(over, options, out) end

---Returns the contexts as lists.
---@param from profio.core.Contexts
---@param metrics string[] names
---@return table names, files, lines, frames, depths, nodes, weights: see profio.ContextTree
function core.context_tree(from, metrics) end

---Returns the bytes of a file for Go's pprof.
---@param from profio.core.Contexts
---@param options table packed, heads = { facts of a file by name, with a list comments, ... },
---    comments = { ... }, mapping = { start, limit, offset, file, build_id, has_lines }
---@return string|nil
---@return string|nil message
---@return profio.core.Code|nil code
function core.pprof(from, options) end

---Returns a profile from readers, which are read at once.
---@param options table histogram, arcs, sets, symbols, bias, compat, lines, demangle, dictionary
---@return profio.core.Profile|nil
---@return string|nil message
---@return profio.core.Code|nil code
function core.profile(options) end

---Returns the templates of a report as gprof prints it, for write_listing.
---@param report "flat"|"graph"|"index"
---@param traditional boolean|nil
---@return table<string, string>
function core.listing_templates(report, traditional) end

---@class profio.core.Profile
local profile = {}

---Frees it; existing readers stay valid.
function profile:close() end

---Returns the profile without the functions that marks remove; not for gprof's arithmetic.
---@param marks table<integer, integer> by number: 1 these and what they call, 2 without, 4 hide
---@return profio.core.Profile|nil
---@return string|nil message
---@return profio.core.Code|nil code
function profile:narrow(marks) end

---Returns the profile with functions merged into groups, which are numbered from 1.
---@param groups table<integer, integer> of each function, by number
---@param names string[] of the groups
---@return profio.core.Profile
function profile:regroup(groups, names) end

---@param options table|nil
---@return profio.core.Reader
function profile:flat(options) end

---@param options table|nil
---@return profio.core.Reader
function profile:graph(options) end

---@param options table|nil
---@return profio.core.Reader
function profile:graph_listing(options) end

---@param options table|nil
---@return profio.core.Reader
function profile:index(options) end

---@param options table|nil
---@return profio.core.Reader
function profile:lines(options) end

---@param options table|nil
---@return profio.core.Reader
function profile:annotations(options) end

---@param options table|nil
---@return profio.core.Reader
function profile:functions(options) end

---@param func string|integer name or number
---@param options table|nil
---@return profio.core.Reader|nil reader nil: no function is called so
function profile:callers(func, options) end

---@param func string|integer
---@param options table|nil
---@return profio.core.Reader|nil reader nil: no function is called so
function profile:callees(func, options) end

---Returns functions with wrong numbers in gprof, and why; this profile is exact, the other gprof's.
---@param other profio.core.Profile of the same readers
---@param options table|nil
---@return profio.core.Reader
function profile:compare(other, options) end

---Returns totals and properties for headings.
---@param options table|nil
---@return table
function profile:facts(options) end

-- }======

---@class profio.core.Counts counts by pairs of 64-bit words
local counts = {}

---Adds the rows of a reader in which no value is missing.
---@param reader profio.core.Reader
---@param columns string[] the two words and the count; or one word and the count: the first is 0
---@param omits_zeros boolean|nil leave out rows with the count 0
---@return true|nil
---@return string|nil message
---@return string|nil code
function counts:read(reader, columns, omits_zeros) end

---Adds packed counts. After a failure a part of them may have been added.
---@param packed string
---@param offset integer|nil is added to each first word
---@return true|nil
---@return string|nil message
---@return string|nil code
function counts:add(packed, offset) end

---Returns the counts as bytes that depend on nothing else, and removes them.
---@return string
function counts:pack() end

---Returns the number of pairs.
---@return integer
function counts:size() end

---Returns a reader of the two words and the count, or of the second word and the count.
---@param fields string[][] { name, "int" or "addr" } of each
---@param of profio.core.Dictionary
---@return profio.core.Reader
function counts:reader(fields, of) end

---Returns counts without pairs.
---@param seeded profio.core.Dictionary gives the seed of its hashes
---@return profio.core.Counts
function core.counts(seeded) end

-- {====== Special functions ======

---@param x number above 0
---@return number the logarithm of the gamma function
function core.log_gamma(x) end

---@param a number above 0
---@param b number above 0
---@return number the logarithm of the beta function
function core.log_beta(a, b) end

---@param a number above 0
---@param x number
---@return number the upper regularised incomplete gamma function
function core.gamma_q(a, x) end

---@param x number between 0 and 1
---@param a number above 0
---@param b number above 0
---@param y number|nil 1 - x, where the caller knows it more exactly
---@return number the regularised incomplete beta function
function core.beta_i(x, a, b, y) end

---@param p number between 0 and 1
---@param a number above 0
---@param b number above 0
---@return number x with beta_i(x, a, b) = p
function core.beta_quantile(p, a, b) end

---See csrc/kernels/base/two_means.h; internal/inference/noise.lua calls these four.
---@param constant number
---@param linear number
---@param square number
---@param least number
---@param mean number
---@return number
function core.noise_variance(constant, linear, square, least, mean) end

---@param before number
---@param after number
---@param n1 number
---@param n2 number
---@param constant number
---@param linear number
---@param square number
---@param least number
---@param ratio number
---@return number
function core.variance_at(before, after, n1, n2, constant, linear, square, least, ratio) end

---@param before number
---@param after number
---@param n1 number
---@param n2 number
---@param constant number
---@param linear number
---@param square number
---@param least number
---@param t number
---@return number low
---@return number high
function core.ratio_bounds(before, after, n1, n2, constant, linear, square, least, t) end

---@param before number
---@param n1 number
---@param n2 number
---@param constant number
---@param linear number
---@param square number
---@param least number
---@param by_chance number
---@param real number
---@param most number
---@return number
function core.detectable_growth(before, n1, n2, constant, linear, square, least, by_chance, real,
   most) end

-- }======

return core
