-- Notes about the profile of a gmon.out that lacks what its user expects: samples, calls, or names
-- of its addresses. The page gprof-questions of help says more about each.

local core = require "profio.core"

local profile_notes = {}

-- The functions that count calls; in a program with shared libraries they are in the C library,
-- where no samples are taken.
local counting = { "mcount", "_mcount", "__mcount", "__mcount_internal", "__fentry__" }

-- The functions by which a program starts threads: of POSIX, C11, C++ and OpenMP.
local starting = { "pthread_create", "thrd_create", "_ZNSt6thread15_M_start_threadESt10unique_ptrI"
   .. "NS_6_StateESt14default_deleteIS1_EEPFvvE", "GOMP_parallel" }

-- {====== Single notes ======

-- Returns whether the program has one of the functions, or calls it in a shared library. The names
-- of the trace are asked first: that is quick, and they are seldom there.
local function has_any(body, dictionary, names)
   for _, name in ipairs(names) do
      for _, symbol in ipairs { name, name .. "@plt" } do
         if dictionary:has(symbol) and body:callers(symbol, {}) then
            return true
         end
      end
   end
   return false
end

local function samples_note(facts)
   if facts.sets == 0 or facts.samples ~= 0 then
      return nil
   end
   return facts.arc_rows > 0
      and "no sample, although calls are counted: the program itself computed for less than the "
         .. "time between two samples, usually 10 ms, or it is a child of fork, whose timer does "
         .. "not run"
      or "neither samples nor calls: the program only waited, or its work was done in shared "
         .. "libraries or by children of fork"
end

local function calls_note(facts, part)
   if facts.samples == 0 or facts.arc_rows > 0 or part:fact "dialect" == "ld-profile" then
      return nil
   end
   return "no call is counted: the program was linked with -pg, but its code was compiled without "
      .. "it, or calls only came from libraries"
end

local function outside_note(facts)
   if facts.unnamed == 0 then
      return nil
   end
   local whole = facts.metrics[1].total
   return ("%d of %d samples (%.1f %%) are at addresses that no symbol of the program covers: "
      .. "their rows have addresses"):format(facts.unnamed, whole, 100 * facts.unnamed / whole)
end

-- Returns the weight of the functions that count calls; quick if the program has none.
local function counting_weight(body, dictionary)
   local names, sum = {}, 0
   for _, name in ipairs(counting) do
      names[name] = true
   end
   for _, row in ipairs(has_any(body, dictionary, counting)
      and core.rows(body:flat {}, { "function", "self" }) or {})
   do
      sum = sum + (names[row["function"]] and row.self or 0)
   end
   return sum
end

local function counting_note(body, facts, dictionary)
   local sum = counting_weight(body, dictionary)
   if sum == 0 then
      return nil
   end
   return ("%.1f %% of the whole is mcount and what it calls, which count calls: without -pg the "
      .. "program does not have this cost"):format(100 * sum / facts.total)
end

local function threads_note(body, facts, dictionary)
   if facts.arc_rows == 0 or not has_any(body, dictionary, starting) then
      return nil
   end
   return "the program starts threads: while one of them counts a call, calls by the others are "
      .. "not counted, so numbers of calls may be too small"
end

-- }======

---Returns the notes about the profile of a trace.
---@param body profio.GraphBody exact
---@param facts table of the body
---@param part profio.core.Part the first file
---@param dictionary userdata|nil of the trace; nil: no symbols of the program are known
---@return { code: string, message: string }[]
function profile_notes.of(body, facts, part, dictionary)
   local list = {}
   local function add(code, message)
      list[#list + 1] = message and { code = code, message = message }
   end
   add("gmon-no-samples", samples_note(facts))
   add("gmon-no-calls", calls_note(facts, part))
   if dictionary then
      add("gmon-samples-outside", outside_note(facts))
      add("gmon-mcount", counting_note(body, facts, dictionary))
      add("gmon-threads", threads_note(body, facts, dictionary))
   end
   return list
end

return profile_notes
