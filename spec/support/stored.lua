-- Traces for specs of stores: small pprof files with random stacks, and ways to compare a store
-- with the files that were added to it.

local command = require "spec.support.command"
local core = require "profio.core"
local profio = require "profio"

local stored = {}

---Returns the bytes of a pprof file.
---@param stacks table<string, integer> weights by "main;f;g"
---@param head table|nil time_nanos, duration_nanos, period, default_sample_type, comments
---@param metric string|nil default: samples
---@return string
function stored.pprof(stacks, head, metric)
   local rows = {}
   for stack, weight in pairs(stacks) do
      rows[#rows + 1] = { stack, weight }
   end
   local contexts = assert(core.contexts {
      reader = core.rows_reader({ { "stack", "name" }, { "weight", "int" } }, rows,
         core.dictionary()),
      folded = "stack", metrics = { { name = metric or "samples", unit = "count",
         column = "weight" } },
   })
   return assert(core.pprof(contexts, { heads = { head or {} } }))
end

---Returns random stacks of few functions, so that runs have many of them in common, and sometimes a
---weight outside of all stacks.
---@param random fun(n: integer): integer
---@return table<string, integer>
function stored.stacks(random)
   local stacks = {}
   for _ = 1, random(30) do
      local names = { "main" }
      for i = 2, random(6) do
         names[i] = "f" .. random(9)
      end
      stacks[table.concat(names, ";")] = random(1000)
   end
   stacks[random(3) == 1 and "" or "main"] = random(1000)
   return stacks
end

---Returns what a command wrote to standard error, without notes on samples that have no stack, and
---on rates that differ, of which there are some.
---@param errors string
---@return string
function stored.without_notes(errors)
   return (errors:gsub("[^\n]* note: [^\n]*%[profile%-no%-stack%]\n", "")
      :gsub("[^\n]* note: another rate: [^\n]*\n", ""))
end

---Writes a number of random pprof files into the folder of spec.support.command.
---@param folder string is emptied first
---@param count integer
---@return string[] paths
function stored.files(folder, count)
   local paths = {}
   assert(os.execute(("rm -rf '%s/%s' && mkdir -p '%s/%s'"):format(command.folder, folder,
      command.folder, folder)))
   for i = 1, count do
      paths[i] = command.file(("%s/%d.pb.gz"):format(folder, i), stored.pprof(
         stored.stacks(math.random), { time_nanos = 1700000000000000000 + math.random(1 << 40),
            duration_nanos = math.random(1 << 30), period = math.random(1000) }))
   end
   return paths
end

---Returns a copy of a list in a random order.
---@param list any[]
---@return any[]
function stored.shuffled(list)
   local result = {}
   for i, item in ipairs(list) do
      table.insert(result, math.random(i), item)
   end
   return result
end

---Adds files to several stores, each file to one or more of them, in a random order, and merges the
---stores.
---@param folder string path of an existing folder
---@param files string[] paths
---@param number integer of stores
---@param options table|nil of profio.open
---@return string path of the store with all files
function stored.split(folder, files, number, options)
   local stores, parts = {}, {}
   for i = 1, number do
      stores[i], parts[i] = ("%s/%d.db"):format(folder, i), {}
      os.remove(stores[i])
   end
   for _, file in ipairs(stored.shuffled(files)) do
      for _ = 1, math.random(3) do
         table.insert(parts[math.random(number)], file)
      end
   end
   for i, list in ipairs(parts) do
      stored.add(stores[i], list, nil, options)
   end
   local whole <close> = assert(profio.store(stores[1]))
   for i = 2, number do
      local other <close> = assert(profio.store(stores[i], { mode = "read" }))
      assert(whole:merge(other))
   end
   return stores[1]
end

-- Writes random events of some areas, properly nested, with some gaps.
local function write_events(writer, random, record)
   local time, stack = 0, {}
   for _ = 1, random(200) do
      time = time + random(500) * 1000000
      if #stack > 0 and (random(3) == 1 or #stack > 4) then
         record(writer, time, "leave", table.remove(stack))
      else
         stack[#stack + 1] = "F" .. random(6)
         record(writer, time, "enter", stack[#stack])
      end
   end
   while #stack > 0 do
      time = time + random(500) * 1000000
      record(writer, time, "leave", table.remove(stack))
   end
   assert(writer:close())
end

---Writes random traces with events into a folder.
---@param folder string path of an existing folder
---@param format "winidea"|"xpp"
---@param count integer
---@return string[] paths
function stored.traces(folder, format, count)
   local paths = {}
   for i = 1, count do
      paths[i] = ("%s/%s-%d"):format(folder, format, i)
      local writer = assert(profio.create(paths[i], { format = format,
         dialect = format == "winidea" and "text1" or nil }))
      local lane = math.random(3)
      write_events(writer, math.random, function(_, time, event, area)
         if format == "winidea" then
            writer:write { time = time, event = event, area = area, context = "T" .. lane }
         else
            writer:write { thread = lane, time = time, op = event == "enter" and "i" or "o",
               call = area }
         end
      end)
   end
   return paths
end

---Adds files to a store, each as a run.
---@param path string
---@param files string[]
---@param labels table|nil
---@param options table|nil of profio.open
---@return integer count of runs that are new
function stored.add(path, files, labels, options)
   local store <close> = assert(profio.store(path))
   local list = {}
   for i, file in ipairs(files) do
      local trace <close> = assert(profio.open(file, options))
      list[i] = assert(store:prepare(trace, { labels = labels }))
   end
   return assert(store:write(list))
end

---Returns the statistics of calls in all the forms that are compared.
---@param trace profio.Trace
---@return table<string, string> nothing if the trace has no calls
function stored.statistics(trace)
   local forms = {}
   if require "profio.reports".named("statistics").fits(trace) then
      for _, by in ipairs { "area", "context" } do
         local rows = trace:call_statistics { by = by, quantiles = "p1,p50,p99.9" }
         for _, kind in ipairs { "csv", "json", "text" } do
            forms[("statistics by %s, %s"):format(by, kind)] = rows:write { output = kind }
         end
      end
   end
   return forms
end

-- All but `node`, which numbers the contexts in the order in which a profile has got them.
local tree_columns = { "depth", "function", "calls", "self", "total", "self_share", "total_share",
   "file", "line", "label" }

---Calls a function, for which it is a given moment: the time at which runs are added.
---@param seconds integer since 1970
---@param f fun(...): any
---@return any what the function returns
function stored.at(seconds, f, ...)
   local time = os.time
   os.time = function() return seconds end -- luacheck: ignore
   local result = table.pack(pcall(f, ...))
   os.time = time -- luacheck: ignore
   assert(table.unpack(result, 1, result.n))
   return table.unpack(result, 2, result.n)
end

---Returns a profile and statistics of calls in all the forms that are compared.
---@param what string|string[] as of profio.open
---@param options table|nil
---@return table<string, string>
function stored.forms(what, options)
   local trace <close> = assert(profio.open(what, options))
   local profile = assert(trace:profile())
   local forms = stored.statistics(trace)
   forms.pprof = assert(profile:export("pprof", nil, { packed = false }))
   -- The page of a profile alone: that of a trace also has the header of its files.
   for _, kind in ipairs { "folded", "svg", "html", "speedscope", "callgrind", "dot" } do
      local is_titled = kind == "svg" or kind == "html" or kind == "dot"
      forms[kind] = assert(profile:with {}:export(kind, nil, is_titled and { title = "x" }
         or kind == "speedscope" and { name = "x" } or nil)):gsub("\ncmd: [^\n]*", "")
   end
   local has_stacks = trace:profile_kind() ~= "graph"
   for _, kind in ipairs { "csv", "json" } do
      forms["flat " .. kind] = assert(profile:flat():write { output = kind })
      forms["tree " .. kind] = has_stacks and assert(profile:tree():write { output = kind,
         columns = tree_columns }) or nil
   end
   return forms
end

return stored
