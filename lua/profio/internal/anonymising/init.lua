-- Writes the files of a trace without its names. The rewriter of a format is the field `anonymiser`
-- of its Lua file:
--    start     function(context): returns function(kind, bytes, number) for the items of table
--              `raw`, which returns the bytes to be written. context has `trace`, `names` (see
--              aliases.lua) and note(code, message)
--    is_whole  true: there is one item, of kind "file", which is the whole file
--    number    name of a column of `raw` that is passed on, or nil
--    folds     true: names that differ only by case are one name for some programs
--    roles     by role of a file beside the trace: function(bytes, context) that returns the bytes
--              to be written
--    refused   why the format has no anonymised form, and what to do; then nothing else is there

local alias_list = require "profio.internal.anonymising.alias_list"
local aliases = require "profio.internal.anonymising.aliases"
local core = require "profio.core"
local inputs = require "profio.internal.opening.inputs"
local options = require "profio.internal.options"
local outputs = require "profio.internal.writing.outputs"
local raise = require "profio.internal.raise"
local side_paths = require "profio.internal.anonymising.side_paths"
local tables = require "profio.internal.table_readers"
local views = require "profio.internal.views"
local written_files = require "profio.internal.anonymising.written_files"

local anonymising = {}

local declared = {
   { name = "aliases", type = "text", help = "path of the list of aliases that is written" },
   { name = "known_aliases", type = "text", help = "path of a list of an earlier file" },
}

local MOST_NAMED <const> = 3 -- files in a message

-- {====== Files ======

-- Returns what is written: { source =, role = nil of the main file, out = path or nil }, and the
-- roles of files that are not.
local function files_of(state, path, rewriter, note)
   local main = state.sources[1]
   local list = { { source = main, out = path } }
   for i = 2, #state.sources do
      local source = state.sources[i]
      local role = state.roles[source]
      local out, message
      if not (rewriter.roles or {})[role] and role ~= "packet" then
         note("anonymised-alone", ("%s: a file of role %s is not written"):format(source:path(),
            role or "unknown"))
      elseif path and outputs.is_in_place(path) then
         note("anonymised-alone", source:path()
            .. ": a pipe has room for one file: it is not written")
      else
         if path then
            out, message = side_paths.of(main:path(), source:path(), path)
            if not out then
               return nil, message, "unsupported"
            end
         end
         list[#list + 1] = { source = source, role = role, out = out }
      end
   end
   return list
end

-- Returns the bytes of a file beside the trace as they are in it: those of some roles have been
-- converted for the decoder.
local function original(state, file)
   for _, role in ipairs(state.format.roles or {}) do
      if role.name == file.role and role.converted then
         local source <close> = core.source(file.source:path())
         return source and source:read(0, source:size())
      end
   end
   return file.source:read(0, file.source:size())
end

-- }======

-- {====== Items ======

-- Passes the items of the main file and its packets to the rewriter, and what it returns to `put`.
local function rewrite_items(context, rewriter, put)
   local state = context.state
   local item = rewriter.start(context)
   local of_number = { [0] = 1 }
   for i, file in ipairs(context.files) do
      of_number[file.role == "packet" and tonumber(file.source:path():match "%d+$") or 0] =
         file.role == "packet" and i or 1
   end
   if rewriter.is_whole or not state.schema.raw then
      local source = context.files[1].source
      return put(1, item("file", source:read(0, source:size())))
   end
   local view = views.over(function()
      return tables.plain(state, "raw")
   end)
   local ends = {}
   for offset, size, kind, number in view:each("offset", "size", "kind",
      rewriter.number or "size")
   do
      local index = rewriter.number and of_number[number] or 1
      local source = context.files[index].source
      local at = ends[index] or 0
      if offset > at then
         put(index, item("rest", source:read(at, offset - at), number))
      end
      put(index, item(kind, source:read(offset, size), number))
      ends[index] = offset + size
   end
   for index, file in ipairs(context.files) do
      local at, size = ends[index] or 0, file.source:size()
      if (index == 1 or file.role == "packet") and at < size then
         put(index, item("rest", file.source:read(at, size - at)))
      end
   end
end

-- Raises the reason why a file has no anonymised form.
local Refusal = {}

local function refuse(text)
   error(setmetatable({ text = text }, Refusal), 0)
end

-- Rewrites a file beside the trace that is a trace itself.
local function rewrite_beside(context, rewriter, trace, put)
   local state = context.state_of(trace)
   local own = { trace = trace, state = state, files = { { source = state.sources[1] } },
      names = context.names, note = context.note, refuse = refuse }
   rewrite_items(own, rewriter, function(_, bytes)
      put(bytes)
   end)
end

-- Rewrites all files once.
local function rewrite(context, rewriter, put)
   context.refuse = refuse
   context.rewrite = function(...)
      rewrite_beside(context, rewriter, ...)
   end
   rewrite_items(context, rewriter, put)
   for index, file in ipairs(context.files) do
      local convert = file.role and (rewriter.roles or {})[file.role]
      if convert then
         local bytes = original(context.state, file)
         if bytes then
            put(index, convert(bytes, context))
         else
            context.note("anonymised-alone", file.source:path() .. ": it cannot be read again")
         end
      end
   end
end

-- }======

-- Returns the rewriter of the format; nil, message, code if there is none.
local function rewriter_of(state)
   local rewriter = state.format.anonymiser
   local refused = rewriter and rewriter.refused
      or not rewriter and "its files are read by Lua code of a user, which does not state where "
         .. "names stand: export the trace as folded stacks or chrome, and anonymise that"
      or #state.parts > 1 and ("these are %d files, such as %s: anonymise them one by one, with "
         .. "--known-aliases FILE, so that they have the same aliases"):format(#state.parts,
         table.concat(state.paths, ", ", 1, math.min(MOST_NAMED, #state.paths)))
   if refused then
      return nil, ("%s: %s: %s"):format(state.paths[1] or "(data)", state.format.name, refused),
         "unsupported"
   end
   return rewriter
end

-- Raises if an output is an input or another output.
local function check_outputs(state, files, given)
   local paths = {}
   for i, file in ipairs(files) do
      paths[i] = file.out
   end
   paths[#paths + 1] = given.aliases
   local read = inputs.paths_of(state)
   read[#read + 1] = given.known_aliases
   outputs.check(paths, read)
end

-- Rewrites the files to collect their names; nil, message, code if that is refused.
local function collect(context, rewriter)
   context.note = function() end
   local read, refused = pcall(rewrite, context, rewriter, function() end)
   if read then
      context.names:settle()
      context.note = context.noted
      return true
   elseif getmetatable(refused) ~= Refusal then
      error(refused, 0)
   end
   return nil, ("%s: %s"):format(context.state.paths[1] or "(data)", refused.text), "unsupported"
end

-- Rewrites the files, whose names have been collected. Returns what `finish` of the outputs
-- returns.
local function write_all(context, rewriter, path)
   local made, message, code = written_files.open(context.files)
   if not made then
      return nil, message, code
   end
   local ok, failure = pcall(rewrite, context, rewriter, function(...)
      made:put(...)
   end)
   local is_over = ok and context.state.is_over and context.state.is_over()
   if ok and not is_over then
      return made:finish()
   end
   made:close()
   if ok then
      return nil, (path or "(data)") .. ": interrupted: it is as it was", "io"
   end
   error(failure, 0)
end

-- Returns what rewriters need: the files, and the aliases; nil, message, code if a file cannot be
-- written or read.
local function context_of(trace, state, path, given, rewriter)
   local function note(code, text)
      state.notes[#state.notes + 1] = { code = code, kind = "note", message = text }
   end
   local known, files, message, code
   if given.known_aliases then
      known, message, code = alias_list.read(given.known_aliases)
      if not known then
         return nil, message, code
      end
   end
   files, message, code = files_of(state, path, rewriter, note)
   if not files then
      return nil, message, code
   end
   check_outputs(state, files, given)
   local file <close> = core.file(state.paths[1] or "", "rb")
   if file and file:read(2) == "\x1f\x8b" then
      note("anonymised-unpacked", "the file is packed (gzip); what is written is not")
   end
   return { trace = trace, state = state, files = files, noted = note,
      names = aliases.new(known, rewriter.folds) }
end

---Writes the files of a trace with aliases instead of names. See trace:anonymise.
---@param trace profio.Trace
---@param state table of it
---@param path string|nil
---@param given table|nil
---@param state_of fun(trace: profio.Trace): table
---@return boolean|string|nil
---@return string|table|nil message or the files beside it, by role
---@return string|nil code
function anonymising.write(trace, state, path, given, state_of)
   raise.expect(path, "string?", "anonymise: the path")
   given = options.check(declared, raise.expect(given or {}, "table", "anonymise: options"),
      "anonymise")
   local rewriter, message, code = rewriter_of(state)
   local context, done, more
   if rewriter then
      context, message, code = context_of(trace, state, path, given, rewriter)
   end
   if context then
      context.state_of = state_of
      done, message, code = collect(context, rewriter)
   end
   if not done then
      return nil, message, code
   end
   done, more, code = write_all(context, rewriter, path)
   if done == nil then
      return nil, more, code
   end
   if context.names.grown > 0 then
      context.noted("anonymised-longer", ("%d aliases are longer than their names, because there "
         .. "are not so many short ones: positions in the file differ"):format(context.names.grown))
   end
   if given.aliases then
      local ok
      ok, message, code = alias_list.write(given.aliases, context.names.list)
      if not ok then
         return nil, message, code
      end
   end
   return done, more
end

return anonymising
