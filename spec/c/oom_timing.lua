-- Pieces of oom.lua about the order of events: chains, tasks, rows before and after, two views.

local core = require "profio.core"

---Adds pieces.
---@param chunks table<string, fun(): any>
return function(chunks)
   -- Chains of two and three steps, of both kinds, and stimuli that wait at the end.
   function chunks.chained()
      local fields = { { "time", "int" }, { "event", "name" }, { "area", "name" },
         { "lane", "int" } }
      local rows = {}
      for i = 1, 60 do
         rows[i] = { i, i % 4 == 0 and "leave" or "enter", "f" .. i % 3, i % 2 }
      end
      local function steps(...)
         local list = {}
         for i, area in ipairs { ... } do
            list[i] = { area = area, event = "enter" }
         end
         return list
      end
      return core.rows(core.chains(core.rows_reader(fields, rows), { chains = {
         { name = "a", steps = steps("f0", "f1") }, { name = "b", steps = steps("f2", "f0", "f1") },
         { name = "c", age = true, bound = 2, steps = steps("f0", "f1", "f2") },
         { name = "d", steps = steps("f1", "none") } } }))
   end

   -- Values of rows before and after, and two views in one order, with texts.
   function chunks.joined()
      local view = require "profio.view"
      local fields = { { "time", "int" }, { "lane", "name" }, { "text", "bytes" } }
      local left, right, dictionary = {}, {}, core.dictionary()
      for i = 1, 1500 do
         left[i] = { i, "lane" .. i % 40, "text " .. i % 300 }
         right[i] = { i * 2, "lane" .. i % 40, "other " .. i % 300 }
      end
      local function over(rows)
         return view.over(function()
            return core.rows_reader(fields, rows, dictionary)
         end)
      end
      return over(left):derive { "before = prev(text) by lane, text", "after = next(text) by lane" }
         :merge(over(right)):join_asof(over(right), { by = "lane" }):rows()
   end

   -- Jobs and calls of tasks, of a variable for each and of one for a core.
   function chunks.tasks()
      local fields = { { "time", "int" }, { "event", "name" }, { "area", "area" },
         { "core", "int" } }
      local names, rows = { "READY", "RUNNING", "WAITING", "TERMINATED" }, {}
      for i = 1, 200 do
         local task = "T" .. i % 3
         local name = i % 5 == 0 and task or task .. "=" .. names[i % 4 + 1]
         rows[i] = { i, "write", { name = name, class = "state",
            parent = { name = i % 5 == 0 and "running" or task, class = "variable" } }, i % 2 }
      end
      local options = { running = { "running" }, states = { { "READY", "ready" },
         { "RUNNING", "running" }, { "WAITING", "waiting" }, { "TERMINATED", "terminated" } } }
      local dictionary = core.dictionary()
      local function reader()
         return core.rows_reader(fields, rows, dictionary)
      end
      return core.rows(core.jobs(reader(), options)), core.rows(core.task_calls(reader(), options))
   end
end
