-- Runs gprof, and writes the headings of its reports around the rows of the core.

local core = require "profio.core"
local templates = require "profio.reports.gprof.headings".templates

local gprof = {}

---Returns whether all programs are installed.
function gprof.has(...)
   for _, name in ipairs { ... } do
      if not os.execute("command -v " .. name .. " >/dev/null 2>&1") then
         return false
      end
   end
   return true
end

---Returns whether the installed gprof is the version whose text is expected.
function gprof.is_known()
   if not gprof.has "gprof" then
      return false
   end
   local pipe <close> = assert(io.popen "gprof --version 2>&1")
   return pipe:read "a":match "%s2%.40" ~= nil
end

---Returns the output of gprof with some options.
function gprof.run(options)
   local pipe <close> = assert(io.popen("gprof -b " .. options .. " 2>/dev/null"))
   return pipe:read "a"
end

local function source(path)
   return assert(core.source(path, 1 << 32))
end

---Returns the profile of an executable and its traces, with gprof's arithmetic or exact (compat =
---false).
function gprof.profile(exe, traces, given)
   given = given or {}
   local dictionary = given.dictionary or core.dictionary()
   local parts = {}
   for i, path in ipairs(traces) do
      parts[i] = assert(core.open(core.opening("gmon", {}, false, dictionary), source(path)))
   end
   local function reader(name)
      local readers, used = {}, {}
      for i, part in ipairs(parts) do
         readers[i] = assert(part:reader(name))
         for _, fact in ipairs(part:info()) do
            used[i] = fact.name == "sets" and fact.value or used[i]
         end
      end
      return core.concat(readers, nil, "set", used)
   end
   local compat = given.compat ~= false
   return core.profile { histogram = reader "histogram", arcs = reader "arcs", sets = reader "sets",
      symbols = assert(core.symbols_elf(source(exe), nil, compat and "gprof" or "exact",
         dictionary)),
      compat = compat, demangle = given.demangle, dictionary = dictionary, lines = given.lines }
end

-- {====== Text ======

local function listing(reader, report)
   return assert(core.write_listing(reader, { kind = "kind",
      templates = templates[report] }))
end

-- Returns the headings; numbers that are not finite are written as by printf of C.
local function flat_heading(facts)
   local unit = facts.prefix .. facts.abbreviation .. "/call"
   local form = "%5.5s %10.10s %8.8s %8.8s %8.8s %8.8s  %-8.8s\n"
   local seconds = facts.sample_seconds
   return ("Flat profile:\n\nEach sample counts as %s %s.\n"):format(
         seconds == math.huge and "inf" or ("%g"):format(seconds), facts.dimension)
      .. (facts.total > 0 and "" or " no time accumulated\n\n")
      .. form:format("%  ", "cumulative", "self  ", "", "self  ", "total ", "")
      .. form:gsub("10.10s ", "9.9s  "):format("time", facts.dimension, facts.dimension, "calls",
         unit, unit, "name")
end

local function graph_heading(facts)
   local seen = facts.shown_seconds > 0
      and (" for %.2f%% of %.2f seconds"):format(facts.sample_percent, facts.shown_seconds)
      or " no time propagated"
   return ("\f\n\t\t\tCall graph\n\n\ngranularity: each sample hit covers %d byte(s)%s\n\n"):format(
      facts.granularity, seen) .. "index % time    self  children    called     name\n"
end

---Returns the whole text, as `gprof -b` prints it.
function gprof.text(profile, options)
   local facts = profile:facts(options)
   local text = flat_heading(facts) .. listing(profile:flat(options), "flat")
   if facts.arc_rows == 0 then
      return text
   end
   return text .. graph_heading(facts) .. listing(profile:graph_listing(options), "graph")
      .. "\f\nIndex by function name\n\n" .. listing(profile:index(options), "index")
end

-- }======

return gprof
