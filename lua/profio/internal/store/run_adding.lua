-- Adds runs to a store: those that were prepared, or those of another store. A run that it has
-- changes nothing; with other labels it is an error.

local call_sums = require "profio.internal.store.call_sums"
local combined = require "profio.internal.store.combined"
local core = require "profio.core"
local graphs = require "profio.internal.store.graphs"
local problem = require "profio.internal.store.problem"
local selecting = require "profio.internal.store.selecting"

local run_adding = {}

local function same_labels(stored, given)
   for key, value in pairs(given) do
      if stored[key] ~= value then
         return false
      end
   end
   for key in pairs(stored) do
      if given[key] == nil then
         return false
      end
   end
   return true
end

-- Raises if a run is stored with other labels than those that are given now.
local function check_known(stored, run, labels)
   if not same_labels(stored, labels) then
      local old, new = selecting.labels_text(stored), selecting.labels_text(labels)
      problem.raise(("%s: the store has this run with %s, not with %s: profio store label "
         .. "changes those of run %s"):format(run.path, old == "" and "no labels"
         or "the labels " .. old, new == "" and "none" or new, selecting.hex(run.hash):sub(1, 12)),
         "unsupported")
   end
end

---Returns the labels of those of some runs that the store has, by hash. Raises if a run has other
---labels there.
---@param engine table
---@param list profio.StoredRun[]
---@return table<string, table<string, string>>
function run_adding.known(engine, list)
   local hashes = {}
   for i, run in ipairs(list) do
      hashes[i] = run.hash
   end
   local known = hashes[1] and engine:known(hashes) or {}
   for _, run in ipairs(list) do
      if known[run.hash] then
         check_known(known[run.hash], run, run.labels)
      end
   end
   return known
end

---Adds those of prepared runs that the store does not have, within a transaction.
---@param engine table
---@param list table[] of store:prepare
---@return integer count of runs that are new
function run_adding.write(engine, list)
   local count, now, wanted = 0, os.time() * 1000000000, {}
   for _, prepared in ipairs(list) do
      wanted[#wanted + 1] = not prepared.is_known and prepared.stored or nil
   end
   local known = run_adding.known(engine, wanted)
   for _, prepared in ipairs(list) do
      local run = prepared.stored
      if known[run.hash] then -- also if it is in the list twice
         check_known(known[run.hash], run, run.labels)
      elseif not prepared.is_known then
         run.added = now
         engine:add(run, prepared.contents)
         known[run.hash], count = run.labels, count + 1
      end
   end
   return count
end

-- Returns the contents of a run of another store.
local function contents_of(other, run, path, dictionary, programs)
   local tests = selecting.one(run.hash)
   if run.kind == "graph" then
      combined.of({ run }, path) -- raises if the run is damaged
      return { graph = graphs.of_run(other, tests, programs) }
   end
   local sum = combined.empty({ run }, path, dictionary)
   other:contexts(tests, sum)
   return { contexts = sum, calls = call_sums.of_run(other, tests, run, path) }
end

local CHUNK <const> = 256 -- runs of another store that are looked up, and committed, at once

---Adds the runs of another store that this one does not have. Commits and begins again after each
---CHUNK of them.
---@param engine table
---@param other table the engine of the other store
---@param path string of the other store
---@param tests table[] that select its runs
---@return integer count of runs that are new
function run_adding.merge(engine, other, path, tests)
   local dictionary, programs, count, known = core.dictionary(), {}, 0, nil
   local runs = other:runs(tests, true)
   for i, run in ipairs(runs) do
      if i % CHUNK == 1 then
         known = run_adding.known(engine, { table.unpack(runs, i, math.min(i + CHUNK - 1, #runs)) })
      end
      if not known[run.hash] then
         local kept = contents_of(other, run, path, dictionary, programs)
         engine:add(run, kept)
         if kept.contexts then
            kept.contexts:close()
         end
         count = count + 1
      end
      if i % CHUNK == 0 then
         engine:commit()
         engine:begin "write"
         dictionary = core.dictionary() -- names of earlier runs are not kept in memory
      end
   end
   return count
end

return run_adding
