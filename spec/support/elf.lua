-- Small ELF files for specs, of both classes and byte orders, written field by field.

local elf = {}

local EM = { x86_64 = 62, arm = 40, mips = 8, ppc64 = 21, hppa = 15 }
local TYPES = { notype = 0, object = 1, func = 2, section = 3, file = 4, ifunc = 10, code13 = 13 }
local BINDS = { ["local"] = 0, global = 1, weak = 2, unique = 10 }
local SHT = { progbits = 1, symtab = 2, strtab = 3, nobits = 8, dynsym = 11, note = 7 }
local SPECIAL = { undef = 0, abs = 0xfff1, common = 0xfff2 }

-- Concatenated strings; add() returns the offset of each.
local function string_table()
   local parts, size = { "\0" }, 1
   return {
      add = function(text)
         parts[#parts + 1] = text .. "\0"
         size = size + #text + 1
         return size - #text - 1
      end,
      bytes = function() return table.concat(parts) end,
   }
end

local function symbol_bytes(file, symbol, name, index)
   local info = BINDS[symbol.bind or "global"] << 4 | TYPES[symbol.type or "func"]
   local section = SPECIAL[symbol.section] or index[symbol.section or ".text"]
   if file.class == 32 then
      return (file.order .. "I4I4I4BBI2"):pack(name, symbol.value, symbol.size or 0, info, 0,
         section)
   end
   return (file.order .. "I4BBI2i8I8"):pack(name, info, 0, section, symbol.value,
      symbol.size or 0)
end

local function section_header(file, s)
   local w = file.class == 32 and "I4" or "i8"
   return (file.order .. "I4I4" .. w:rep(4) .. "I4I4" .. w:rep(2)):pack(s.name_at, s.type_number,
      s.flags or 0, s.address or 0, s.offset, s.size, s.link or 0, 0, 1, s.entry_size or 0)
end

local function file_header(file, shoff, count)
   local w = file.class == 32 and "I4" or "i8"
   local ident = "\127ELF" .. string.char(file.class // 32, file.order == "<" and 1 or 2, 1)
      .. ("\0"):rep(9)
   return ident .. (file.order .. "I2I2I4" .. w:rep(3) .. "I4I2I2I2I2I2I2"):pack(
      file.dynamic and 3 or 2, EM[file.machine], 1, file.entry, 0, shoff, 0,
      file.class == 32 and 52 or 64, file.class == 32 and 32 or 56, 0,
      file.class == 32 and 40 or 64, count, count - 1)
end

-- The sections of the file: those given, then symbols and the tables of strings.
local function all_sections(file)
   local sections, index = { { name = "", type = "null", data = "" } }, {}
   for _, s in ipairs(file.sections) do
      sections[#sections + 1] = s
      index[s.name] = #sections - 1
   end
   if file.symbols then
      local strings, entries = string_table(), { ("\0"):rep(file.class == 32 and 16 or 24) }
      for _, symbol in ipairs(file.symbols) do
         entries[#entries + 1] = symbol_bytes(file, symbol, strings.add(symbol.name), index)
      end
      sections[#sections + 1] = { name = file.table_name, type = file.table_type,
         data = table.concat(entries), link = #sections + 1, entry_size = #entries[1] }
      sections[#sections + 1] = { name = ".strtab", type = "strtab", data = strings.bytes() }
   end
   return sections
end

---Write an ELF file. Fields: class (64), order ("<"), machine ("x86_64"), dynamic (false), entry,
---sections { name=, address=, size= or data=, flags= (2 loaded, 4 code) }, symbols { name=, value=,
---size=, type=, bind=, section= }; without sections a .text of 4096 bytes at 0x1000.
---@param given table
---@return string
function elf.build(given)
   local file = setmetatable(given, { __index = { class = 64, order = "<", machine = "x86_64",
      entry = 0x1000, table_name = ".symtab", table_type = "symtab",
      sections = { { name = ".text", address = 0x1000, size = 4096, flags = 6, type = "nobits" } },
   } })
   local sections = all_sections(file)
   local names = string_table()
   sections[#sections + 1] = { name = ".shstrtab", type = "strtab", data = "" }
   for _, s in ipairs(sections) do
      s.name_at = s.name == "" and 0 or names.add(s.name)
   end
   sections[#sections].data = names.bytes()
   local parts, at = {}, file.class == 32 and 52 or 64
   for _, s in ipairs(sections) do
      s.type_number = SHT[s.type or "progbits"] or 0
      s.offset, s.size = at, s.data and #s.data or s.size
      parts[#parts + 1] = s.data or ""
      at = at + #parts[#parts]
   end
   local headers = {}
   for i, s in ipairs(sections) do
      headers[i] = section_header(file, s)
   end
   return file_header(file, at, #sections) .. table.concat(parts) .. table.concat(headers)
end

---A note section with a build identifier, given as bytes.
---@param id string
---@param order string
---@return table section
function elf.build_id(id, order)
   return { name = ".note.gnu.build-id", type = "note", flags = 2, address = 0x400,
      data = ((order or "<") .. "I4I4I4"):pack(4, #id, 3) .. "GNU\0" .. id }
end

---A section that names the debug file and its check sum.
---@param name string
---@param crc integer
---@return table section
function elf.debug_link(name, crc)
   local padded = name .. ("\0"):rep(4 - #name % 4)
   return { name = ".gnu_debuglink", data = padded .. ("<I4"):pack(crc) }
end

return elf
