-- The identity of a run: the hash of its files in their roles, of the options that shape its
-- profile, and of the program that gives names to its addresses. The path and the order of the
-- files do not matter.

local core = require "profio.core"
local details = require "profio.internal.store.details"
local native_store = require "profio.internal.store.native"
local problem = require "profio.internal.store.problem"

local identity = {}

-- Options of profio.open that change the profile.
local shaping = { "compat", "load_bias" }

local function digest_of(bytes)
   return native_store().hasher():add(bytes):digest()
end

-- Returns the hash and the size of a source. Of a trace with thousands of files most are not
-- mapped: such a file is opened again.
local function facts_of(source)
   if source:size() > 0 or ((core.file_state(source:path())) or 0) == 0 then
      return digest_of(source), source:size()
   end
   local again <close> = problem.check(core.source(source:path()))
   return digest_of(again), again:size()
end

-- Returns the hash of each file with those beside it, in the order of the hashes, and the size of
-- all.
local function digests_of(state)
   local groups, total = {}, 0
   for _, source in ipairs(state.sources) do
      local role = state.roles[source] or "main"
      if role == "main" or #groups == 0 then
         groups[#groups + 1] = {}
      end
      local digest, size = facts_of(source)
      table.insert(groups[#groups], string.pack("<s4s4", role, digest))
      total = total + size
   end
   for i, group in ipairs(groups) do
      groups[i] = digest_of(table.concat(group))
   end
   table.sort(groups)
   return groups, total
end

---Returns what identifies the program with the names; nil: there is none.
---@param state table of a trace
---@return string|nil
function identity.program(state)
   local symbols = state.symbols
   if not symbols then
      return nil
   end
   local list = {}
   for i, path in ipairs { symbols.exe or state.options.exe or false, symbols.debug or false,
      state.options.symbols or false }
   do
      if path then
         local source <close> = problem.check(core.source(path))
         list[#list + 1] = string.pack("<I1s4", i, digest_of(source))
      end
   end
   return table.concat(list)
end

-- Returns the options that shape the profile, by name.
local function options_of(state)
   local list = {}
   for _, option in ipairs(state.format.options) do
      list["format " .. option.name] = (state.format_options or {})[option.name]
   end
   for _, name in ipairs(shaping) do
      list[name] = state.options[name]
   end
   return list
end

---Returns the identity of an open trace.
---@param state table of the trace
---@return string hash 16 bytes
---@return integer size of its files in bytes, unpacked
function identity.of(state)
   local digests, size = digests_of(state)
   return digest_of(details.pack { format = state.format.name, files = digests,
      options = options_of(state), program = identity.program(state) }), size
end

return identity
