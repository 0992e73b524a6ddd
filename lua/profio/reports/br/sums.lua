-- Shared functions of the reports of Business Rules! profiles: heading, and sums of time and counts
-- by line or by function.

local core = require "profio.core"
local plain = require "profio.internal.plain"
local span = require "profio.internal.command.selection"
local times = require "profio.internal.times"

local br = {}

---Returns whether the trace has this format.
---@param trace profio.Trace
---@return boolean
---@return string|nil reason
function br.fits(trace)
   return trace.format == "br",
      "it is for profiles of Business Rules! and recordings of Lua programs"
end

---Returns whether the file has times, or samples that stand for some; else every group is a sample.
---@param trace profio.Trace
---@return boolean
function br.has_times(trace)
   local dialect = trace.info.dialect
   return dialect == "timed" or dialect == "mixed" or trace.info.interval ~= nil
end

---Returns whether a count is one of executions, which have a mean.
---@param trace profio.Trace
---@return boolean
function br.has_mean(trace)
   return br.has_times(trace) and not trace.info.interval
end

local dialects = { timed = "TIMED", sampled = "SAMPLED", mixed = "TIMED, not all groups",
   empty = "empty" }

-- Returns the heading for a Lua program that profio recorded.
local function recording_heading(trace)
   local how, interval = trace.info.recorded_by:match "^profio%.recorder: (.*)$",
      trace.info.interval
   if how and interval then
      how = how:gsub(", interval %d+ ns$", ", a sample each "
         .. times.show(interval, times.unit(interval)))
   end
   local lines = { ("%s: a Lua program, recorded by profio%s"):format(plain(trace.path),
      how and " (" .. plain(how) .. ")" or "") }
   if interval then
      lines[2] = "A sample stands for the interval: of N samples, times are right within their "
         .. "square root."
   elseif br.has_times(trace) then
      lines[2] = "Times are those of the line itself. What the recorder's hook costs, mostly 40 to "
         .. "100 ns a line, has been"
      lines[3] = "taken off; a line whose mean is less than that ran about so long, give or take a "
         .. "few ns. Counts are exact."
   end
   return table.concat(lines, "\n") .. "\n\n"
end

---Returns the lines that say what the file is and how it was interpreted.
---@param trace profio.Trace
---@return string
function br.heading(trace)
   local info = trace.info
   if info.recorded_by then
      return recording_heading(trace)
   end
   local order = info.backtrace_order == "inner_first" and "innermost" or "outermost"
   local words = { plain(trace.path), ": ", dialects[info.dialect], "; backtraces with the ", order,
      " frame first (", info.backtrace_order_why, ")" }
   if br.has_times(trace) then
      local meaning = info.semantics == "self" and "of the line itself" or "with what a line called"
      table.move({ "; times ", meaning, " (", info.semantics_why, ")" }, 1, 5, #words + 1, words)
   end
   return table.concat(words) .. "\n\n"
end

-- {====== Sums ======

-- Adds a stack to the sums of its keys, { [key] = { count =, self =, total =, frame = } }. If a key
-- occurs twice in the stack, by recursion, its time is added once. `self` is nil if it is unknown.
local function add_stack(sums, frames, key_of, count, self, total)
   local seen = {}
   for level, frame in ipairs(frames) do
      local key = key_of(frame)
      local sum = sums[key] or { count = 0, self = 0, total = 0, frame = frame }
      sums[key] = sum
      if level == 1 then
         sum.count, sum.self = sum.count + count, sum.self + (self or 0)
         sum.lacks_self = sum.lacks_self or self == nil
      end
      if not seen[key] then
         seen[key], sum.total = true, sum.total + total
      end
   end
end

-- Returns count and time in the selected span of each distinct stack, and how many self times of it
-- are known; the core computes these sums.
local function stacks_of(context)
   return span.cut(context.trace.samples, context.trace, context.given):group("stack")
      :aggregate { "n = count", "self = sum(self)", "known = count(self)", "spent = sum(spent)" }
      :each("stack", "n", "self", "known", "spent")
end

---Returns counts and times by a key of frames, the largest self time first. Inclusive times without
---backtraces are totals, which may contain each other: the self times and the whole are unknown.
---@param context profio.Context
---@param key_of fun(frame: table): string
---@return table[] sums { count =, self =, total =, frame =, key = }; lacks_self: self is unknown
---@return integer whole time or samples of all
function br.sums(context, key_of)
   local sums, list, whole = {}, {}, 0
   local has_times = br.has_times(context.trace)
   for stack, count, time, known, spent in stacks_of(context) do
      local self = has_times and time or count
      if has_times and known == 0 and spent > 0 then
         add_stack(sums, context.trace:stack(stack), key_of, count, nil, spent)
      else
         add_stack(sums, context.trace:stack(stack), key_of, count, self, self)
         whole = whole + self
      end
   end
   for key, sum in pairs(sums) do
      sum.key = key
      list[#list + 1] = sum
   end
   table.sort(list, function(a, b)
      if a.self ~= b.self then
         return a.self > b.self
      elseif a.total ~= b.total then
         return a.total > b.total
      end
      return a.key < b.key
   end)
   return list, whole
end

---The last columns of both reports.
br.columns = {
   { name = "count", help = "number of executions, or of samples" },
   { name = "self", help = "self time in ns; samples if the file has no times; missing if times "
      .. "include callees that the file does not name" },
   { name = "total", help = "time including callees, ns, or samples; recursion counts once" },
   { name = "mean", help = "self divided by count, ns; missing of samples" },
   { name = "self_share", help = "self as a share of the total of the file, or of the selected "
      .. "time" },
   { name = "total_share", help = "total as a share of the same" },
}

---The fields of these columns for core.rows_reader.
br.fields = { { "count", "int" }, { "self", "int" }, { "total", "int" }, { "mean", "num" },
   { "self_share", "num" }, { "total_share", "num" } }

---Appends the values of these columns to a row.
---@param row table
---@param at integer number of values in the row, including nil
---@param sum table of br.sums
---@param whole integer
---@param has_mean boolean
function br.add_values(row, at, sum, whole, has_mean)
   local self = not sum.lacks_self and sum.self or nil
   row[at + 1], row[at + 2], row[at + 3] = sum.count, self, sum.total
   row[at + 4] = has_mean and sum.count > 0 and self and self / sum.count or nil
   row[at + 5] = whole > 0 and self and self / whole or nil
   row[at + 6] = whole > 0 and sum.total / whole or nil
end

-- }======

-- {====== Texts ======

---Returns the templates of a report's text: first columns, then counts and times.
---@param trace profio.Trace
---@param first { [1]: string, [2]: string }[] title and template of the first columns
---@param last { [1]: string, [2]: string }[] the same of the last columns
---@return string titles
---@return string template for core.write_listing
function br.templates(trace, first, last)
   local shares = { { " self%", "{self_percent:6.2}" }, { "total%", "{total_percent:6.2}" } }
   local own = br.has_times(trace)
      and { { "      self ms", "{self_ms:13.3}" }, { "     total ms", "{total_ms:13.3}" } }
      or { { "     self", "{self:9}" }, { "    total", "{total:9}" } }
   if br.has_mean(trace) then
      own[3] = { "    mean us", "{mean_us:11.3}" }
   end
   local titles, template = {}, {}
   for _, list in ipairs { shares, own, { { "    count", "{count:9}" } }, first, last } do
      for _, column in ipairs(list) do
         titles[#titles + 1], template[#template + 1] = column[1], column[2]
      end
   end
   return table.concat(titles, "  "):match "^(.-)%s*$" .. "\n",
      table.concat(template, "  ") .. "\n"
end

---Returns a reader of rows with the values of br.columns, and those that only texts show.
---@param trace profio.Trace
---@param fields table[]
---@param rows table[]
---@return userdata
function br.reader(trace, fields, rows)
   local at
   for i, field in ipairs(fields) do
      at = field[1] == "count" and i or at
   end
   local all = table.move(fields, 1, #fields, 1, {})
   table.move({ { "self_percent", "num" }, { "total_percent", "num" }, { "self_ms", "num" },
      { "total_ms", "num" }, { "mean_us", "num" } }, 1, 5, #all + 1, all)
   for _, row in ipairs(rows) do
      local n = #fields
      row[n + 1], row[n + 2] = row[at + 4] and 100 * row[at + 4], row[at + 5] and 100 * row[at + 5]
      if br.has_times(trace) then
         row[n + 3], row[n + 4] = row[at + 1] and row[at + 1] / 1e6, row[at + 2] / 1e6
         row[n + 5] = row[at + 3] and row[at + 3] / 1e3
      end
   end
   return core.rows_reader(all, rows, core.dictionary())
end

-- }======

return br
