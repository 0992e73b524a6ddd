-- Names of functions from executables, their separate debug files, and texts of nm.

local bytes = require "profio.internal.opening.bytes"
local core = require "profio.core"

local symbols = {}

local DEBUG_ROOT = "/usr/lib/debug"
local PAGE = 4096

---Symbols of a program. `facts` are properties of its executable (address_size nil: none).
---@class profio.Symbols
---@field symbols userdata of profio.core
---@field facts table<string, any>
---@field exe string|nil path of the executable
---@field debug string|nil path of its debug file, if it was needed and found
---@field notes { code: string, kind: string, message: string }[]
---@field packed string|nil the bytes from which they were read, without an executable
local methods = {}
local Symbols = { __name = "profio.symbols", __index = methods }

---Free the symbols. Readers that still use their names stay valid.
function methods:close()
   self.symbols:close()
end

Symbols.__close = methods.close

-- {====== Finding files ======

-- Returns the source of a path if `accepts` returns true for it, else nil. The file must be regular
-- and below one of the folders; without folders it may be anywhere.
local function try(path, max_size, accepts, folders)
   local source = core.named_source(path, folders, nil, max_size)
   if not source then
      return nil
   elseif accepts(source) then
      return source
   end
   source:close()
   return nil
end

-- Finds a debug file by build identifier: .build-id/ab/cdef.debug. Links may lead out of the root,
-- because the path is made of a hash, and the identifier of the file is compared.
local function by_build_id(facts, root, max_size)
   if not facts.build_id or #facts.build_id < 4 then
      return nil
   end
   local path = ("%s/.build-id/%s/%s.debug"):format(root, facts.build_id:sub(1, 2),
      facts.build_id:sub(3))
   return try(path, max_size, function(source)
      local found = core.executable(source)
      return found and found.build_id == facts.build_id
   end)
end

-- Finds a debug file by the name and checksum in the executable, in one of three folders.
local function by_link(facts, exe, root, max_size)
   local name = facts.debug_link
   if not name or name:find("/", 1, true) then
      return nil
   end
   local folder = exe:match "^(.*/)" or "./"
   local places = { folder, folder .. ".debug/" }
   if folder:sub(1, 1) == "/" then
      places[3] = root .. folder
   end
   for _, place in ipairs(places) do
      local source = try(place .. name, max_size, function(source)
         return core.debug_crc(source) == facts.debug_crc
      end, { folder, root })
      if source then
         return source
      end
   end
   return nil
end

-- Returns the debug file of an executable that lacks symbols or lines.
local function find_debug(facts, exe, options)
   if facts.has_symbols and facts.has_lines then
      return nil
   end
   local root = options.debug_root or DEBUG_ROOT
   return by_build_id(facts, root, options.max_size)
      or by_link(facts, exe, root, options.max_size)
end

-- }======

-- {====== Opening ======

-- Opens the executable and its debug file as found.exe and found.debug. If there is a text of nm, a
-- program that is no ELF file only causes a note.
local function find_files(options, found)
   if not options.exe then
      return true
   end
   local source, message, code = bytes.open(options.exe, options.max_size)
   if not source then
      return nil, message, code
   end
   local facts
   facts, message, code = core.executable(source)
   if facts then
      found.exe, found.debug = source, find_debug(facts, source:path(), options)
      return true
   end
   source:close()
   if not options.symbols or code ~= "unsupported" then
      return nil, message, code
   end
   found.notes[1] = { code = "symbols-" .. code, kind = "note", message = message }
   return true
end

local function read(options, found)
   if not options.symbols then
      return core.symbols_elf(found.exe, found.debug, options.rule, options.dictionary)
   end
   local text, message, code = bytes.open(options.symbols, options.max_size)
   if not text then
      return nil, message, code
   end
   if symbols.is_executable(text) then
      message = text:path() .. ": the text of nm expected, this is an executable: give it as exe"
      text:close()
      return nil, message, "format"
   end
   local read_symbols
   read_symbols, message, code = core.symbols_nm(text, found.exe, found.debug, options.rule,
      options.dictionary)
   text:close()
   return read_symbols, message, code
end

local function note_lack(result)
   if not result.facts.has_symbols then
      result.notes[#result.notes + 1] = { code = "symbols-none", kind = "note",
         message = result.exe .. ": stripped: no names of functions, and no debug file found" }
   elseif result.facts.only_dynamic then
      result.notes[#result.notes + 1] = { code = "symbols-dynamic", kind = "note",
         message = result.exe .. ": stripped: only functions that it exports have names, addresses "
            .. "stand for the others" }
   end
end

---Opens the symbols of a program: from an executable, from a text of nm, or names from the text and
---lines from the executable. Options: exe, symbols (paths or { data =, path = }), rule ("exact", or
---"gprof": selected as by gprof 2.40), dictionary, max_size, debug_root (/usr/lib/debug).
---@param options table
---@return profio.Symbols|nil
---@return string|nil message
---@return string|nil code
function symbols.open(options)
   if not options.exe and not options.symbols then
      error("symbols.open expects exe or symbols", 2)
   end
   local found = { notes = {} }
   local ok, message, code = find_files(options, found)
   if not ok then
      return nil, message, code
   end
   local opened
   opened, message, code = read(options, found)
   if not opened then
      return nil, message, code
   end
   local result = setmetatable({
      symbols = opened, facts = opened:facts(), notes = found.notes,
      exe = found.exe and found.exe:path(), debug = found.debug and found.debug:path(),
   }, Symbols)
   if result.exe then
      note_lack(result)
   end
   return result
end

---Returns symbols that symbols:pack has written, with the exact rule.
---@param packed string
---@param dictionary userdata
---@return profio.Symbols|nil
---@return string|nil message
---@return string|nil code
function symbols.unpack(packed, dictionary)
   if type(packed) ~= "string" then
      return nil, "packed symbols expected", "format"
   end
   local opened, message, code = core.symbols_packed(packed, dictionary)
   if not opened then
      return nil, message, code
   end
   return setmetatable({ symbols = opened, facts = opened:facts(), notes = {}, packed = packed },
      Symbols)
end

---Returns whether a file or source is an executable.
---@type fun(from: string|userdata): boolean
symbols.is_executable = core.is_executable

-- }======

-- {====== The load bias ======

-- Returns whether [low, high), moved by `bias`, ends at the end of .text or of a section after it,
-- rounded up.
local function ends_well(facts, bias, high)
   local stop = high - bias
   return stop >= facts.text_end and stop <= facts.segment_end + 64
end

---Guesses where a position-independent program was loaded, from the range that its profile covers:
---0 if the range is in the code as linked. glibc before 2.27 wrote run-time addresses.
---@param facts table<string, any> of profio.Symbols
---@param low integer first address covered
---@param high integer first address after the range
---@return integer bias  run-time address minus link-time address
---@return string|nil reason  nil when the bias is 0
function symbols.guess_bias(facts, low, high)
   if not facts.address_size or facts.code_end == 0 then
      return 0
   end
   if math.ult(low, facts.code_end) and math.ult(facts.code_start, high) then
      return 0
   end
   local starts = {
      { facts.image_start, "the program" }, { facts.entry & ~3, "_start" },
      { facts.text_start, ".text" }, { facts.code_start, "the code" },
   }
   for _, start in ipairs(starts) do
      local bias = low - start[1]
      if bias % PAGE == 0 and ends_well(facts, bias, high) then
         return bias, ("the range begins where %s does"):format(start[2])
      end
   end
   return 0
end

-- }======

---Returns whether the addresses of a trace can be resolved to source lines, or false and why not.
---@param state table of the trace
---@return boolean
---@return string|nil reason
function symbols.has_lines(state)
   local stored = state.stored
   for _, opened in ipairs(stored and stored.symbols() or { state.symbols }) do
      if opened.facts.has_lines then
         return true
      end
   end
   return false, "its executable has no line numbers (give one built with -g, not packed by zstd)"
end

return symbols
