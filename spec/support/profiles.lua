-- Builds profiles for specs from small tables and the text of nm, without files.

local core = require "profio.core"
local elf = require "spec.support.elf"

local profiles = {}

local histogram = { { "set", "int" }, { "low", "addr" }, { "high", "addr" }, { "count", "int" },
   { "spent", "int" }, { "bin", "int" } }
local arcs = { { "from", "addr" }, { "to", "addr" }, { "count", "int" } }
local sets = { { "set", "int" }, { "low", "addr" }, { "high", "addr" }, { "bins", "int" },
   { "rate", "int" }, { "dimension", "name" }, { "abbreviation", "name" } }

-- The text of nm for { { "name", address, class = "T" }, ... }. The last symbol has no end.
local function nm_text(symbols)
   local lines = {}
   for i, symbol in ipairs(symbols) do
      lines[i] = ("%016x %s %s\n"):format(symbol[2], symbol.class or "T", symbol[1])
   end
   return table.concat(lines)
end

-- Opens the symbols of a spec: with sizes through an executable, else through the text of nm.
local function symbols_of(given, dictionary)
   local rule = given.compat and "gprof" or "exact"
   if not given.symbols[1].size then
      local text = assert(core.source_data(nm_text(given.symbols), "nm"))
      return assert(core.symbols_nm(text, nil, nil, rule, dictionary))
   end
   local symbols = {}
   for i, symbol in ipairs(given.symbols) do
      symbols[i] = { name = symbol[1], value = symbol[2], size = symbol.size,
         type = symbol.type, bind = symbol.bind }
   end
   local bytes = elf.build { symbols = symbols }
   return assert(core.symbols_elf(assert(core.source_data(bytes, "elf")), nil, rule, dictionary))
end

-- Readers over rows { low, high, count, spent }, { from, to, count }: bins are numbered.
local function readers(given, dictionary)
   local result = {}
   if given.bins then
      local rows = {}
      for i, bin in ipairs(given.bins) do
         rows[i] = { bin.set or 0, bin[1], bin[2], bin[3], bin[4], bin.bin or i - 1 }
      end
      result.histogram = core.rows_reader(histogram, rows, dictionary)
   end
   if given.arcs then
      result.arcs = core.rows_reader(arcs, given.arcs, dictionary)
   end
   if given.sets then
      result.sets = core.rows_reader(sets, given.sets, dictionary)
   end
   return result
end

---A profile.
---@param given table symbols, bins, arcs, sets as above; compat, bias, demangle of core.profile.
---Symbols are { name, address }, all with size= (an executable) or none (the text of nm)
---@return userdata|nil profile, string|nil message, string|nil code
function profiles.make(given)
   local dictionary = given.dictionary or core.dictionary()
   local options = readers(given, dictionary)
   if given.symbols then
      options.symbols = symbols_of(given, dictionary)
   end
   options.compat, options.bias = given.compat, given.bias
   options.demangle, options.dictionary = given.demangle, dictionary
   return core.profile(options)
end

---Returns a profile of functions f1..fn, of 16 bytes each, with their self times and calls
---{ from, to, count } between them; a call from 0 comes from outside of the program.
---@param selves integer[]
---@param calls integer[][]
---@param more table|nil further fields of profiles.make
---@return userdata
function profiles.of_calls(selves, calls, more)
   local given = { symbols = {}, bins = {}, arcs = {} }
   local function address_of(number)
      return 0x1000 + number * 16
   end
   for i, self in ipairs(selves) do
      given.symbols[i] = { "f" .. i, address_of(i) }
      given.bins[i] = { address_of(i), address_of(i) + 4, self, self }
   end
   given.symbols[#selves + 1] = { "last", address_of(#selves + 1) }
   for i, call in ipairs(calls) do
      local from = call[1] == 0 and 0 or address_of(call[1]) + 4
      given.arcs[i] = { from, address_of(call[2]), call[3] }
   end
   for name, value in pairs(more or {}) do
      given[name] = value
   end
   return assert(profiles.make(given))
end

---The rows of the flat profile by function.
function profiles.flat(profile, options)
   local result = {}
   for _, row in ipairs(core.rows(profile:flat(options))) do
      assert(result[row["function"]] == nil, "two rows of one function")
      result[row["function"]] = row
   end
   return result
end

---The values of one column of a reader.
function profiles.column(reader, name)
   local result = {}
   for i, row in ipairs(core.rows(reader, { name })) do
      result[i] = row[name]
   end
   return result
end

---Returns "self/total" by function.
---@param profile profio.Profile
---@param metric string|nil default: the usual one
---@return table<string, string>
function profiles.totals(profile, metric)
   local list = {}
   for name, own, total in profile:flat { metric = metric }:each("function", "self", "total") do
      list[name] = own .. "/" .. total
   end
   return list
end

return profiles
