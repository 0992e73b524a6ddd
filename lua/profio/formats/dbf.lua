-- Options, side files and warnings of the format dbf: tables of dBASE, FoxBASE, FoxPro, Clipper and
-- Xbase++, with their memo files. The decoder and the encoder are in csrc/formats/dbf/.
--
--    local trace <close> = assert(profio.open("customer.dbf", { code_page = "CP850" }))
--    for name, since in trace.data:each("NAME", "SINCE") do print(name, since) end

local companions = require "profio.internal.opening.side_files"
local core = require "profio.core"
local outputs = require "profio.internal.writing.outputs"

local dbf = {
   name = "dbf",
   anonymiser = { refused = "a table is no trace: its values are what must not be sent; send what "
      .. "profio info says of it, or a table of the same fields with other values" },
   help = "tables of dBASE, FoxPro, Clipper and Xbase++ (.dbf) with memo files (.dbt, .fpt, .prv)",
}

dbf.first = { "rows" }

-- The tables that other tables repeat.
dbf.redundant = { structure = true }

-- The words before the number of a code page in .cpg files.
local vendors = { [""] = true, CP = true, ANSI = true, OEM = true, IBM = true, MS = true,
   WINDOWS = true, ISO = true, DOS = true }

-- Returns the name of a code page with a number: 1252, 65001, 28591, 88591.
local function page_of(number)
   local iso = number > 28590 and number <= 28606 and number - 28590
      or number // 10 == 8859 and number % 10 or number // 100 == 8859 and number % 100
   return number == 65001 and "UTF-8" or iso and "ISO-8859-" .. iso or "CP" .. number
end

-- Returns the code page that a .cpg file states, packed for csrc/formats/dbf/code_page.c: UTF-8,
-- 1252, ANSI 1252, ISO 88591, LDID/87 (a mark), OEM 866, or any other word, which may be a name
-- that iconv knows. Neither a mark nor a name: the text, which follows, is not a word.
local function packed_page(text)
   local word = text:gsub("^\xef\xbb\xbf", ""):gsub("[\0- ]", "")
   local letters, rest = word:match "^(%a*)(.*)$"
   local digits = rest:gsub("[%-_/.:]", "")
   local number = #digits < 7 and digits:find "^%d+$" and tonumber(digits)
   local mark = 0
   if #word > 31 or word:find "[\x7f-\xff]" then
      word = ""
   elseif number and letters:upper() == "LDID" then
      mark, word = number < 256 and number or 0, ""
   elseif number and vendors[letters:upper()] then
      word = page_of(number)
   end
   return ("<Bz"):pack(mark, word) .. text:sub(1, 40)
end

dbf.cpg_role = { name = "cpg", converted = packed_page,
   help = ".cpg file that states the code page, instead of the one beside it" }

dbf.roles = {
   { name = "memo", help = "memo file of the table, instead of the one beside it" },
   dbf.cpg_role,
}

-- A record that is marked as deleted stays in the file until a PACK, but no program shows it: it is
-- left out, with a note, unless option `deleted` says otherwise.
dbf.options = {
   { name = "code_page", type = "text", default = "auto",
     help = "encoding of text: CP850, KAMENICKY, ... as iconv names it; raw passes bytes through; "
        .. "auto: as a .cpg file beside the table states, else as the table states" },
   { name = "deleted", type = "choice", choices = { "skip", "show", "only" }, default = "skip",
     help = "records marked as deleted: left out, shown with the others, or shown alone" },
   { name = "memo_form", type = "choice", choices = { "auto", "fpt", "dbt3", "dbt4" },
     default = "auto", help = "form of the memo file, if its table does not state it" },
}

dbf.write_options = {
   { name = "fields", type = "text",
     help = "the fields: NAME C(20), AGE N(3), PRICE N(8,2) null, NOTE M, ... with the types "
        .. "C N F L D M and, in Visual FoxPro, I B Y T V Q; default: those of the saved table" },
   { name = "dialect", type = "choice", choices = { "visual", "foxpro2" },
     help = "Visual FoxPro, or FoxPro 2 (dBASE III if there are no memos)" },
   { name = "code_page", type = "text",
     help = "encoding of the written text: CP1252, CP850, ...; raw writes bytes as they are; pages "
        .. "that no table can state (UTF-8, ISO-8859-2, ...) are stated in a .cpg file beside it" },
   { name = "memo", type = "text", help = "path of the memo file; default: beside the table" },
   { name = "memo_block", type = "int", default = 64, unit = "bytes",
     help = "size of a block of the memo file" },
   { name = "changed", type = "text", help = "date of the change, YYYY-MM-DD; default: today" },
   { name = "round", type = "bool", default = false,
     help = "round numbers that have more decimals than their field" },
}

dbf.warnings = {
   ["dbf-bad-value"] = "a value is invalid for the type of its field and is shown as missing",
   ["dbf-code-page"] = "the code page is unknown: text passes through as it is",
   ["dbf-cpg"] = "the .cpg file states no known code page: the mark of the table is used",
   ["dbf-delete-flag"] = "a record has an unknown delete flag and is shown as not deleted",
   ["dbf-deleted"] = "records marked as deleted are left out",
   ["dbf-field-name"] = "two fields have the same name, or that of another column: one is renamed",
   ["dbf-field-type"] = "no field of that type and length is known: its bytes are shown",
   ["dbf-header-size"] = "the sizes in the header are impossible: others that fit are used",
   ["dbf-memo-block"] = "a record points at an impossible memo: the value is missing",
   ["dbf-memo-file"] = "the memo file is too short",
   ["dbf-no-memo"] = "a record has a memo, but there is no memo file",
   ["dbf-no-terminator"] = "the field descriptors do not end as they should",
   ["dbf-null-flags"] = "there are more nullable fields than null flags",
   ["dbf-overflow"] = "a number did not fit into its field when it was stored",
   ["dbf-record-size"] = "the sizes of the fields do not add up to that of a record",
   ["dbf-stale-count"] = "more records follow than the header counts: they are read too",
   ["dbf-trailing-bytes"] = "there are bytes after the end of the table",
   ["dbf-truncated"] = "the file ends before the header or the last record does",
   ["dbf-version"] = "the version is unknown and read as dBASE III",
}

-- The remedy for each of them: a sentence that tells users how to proceed.
dbf.remedies = {
   ["dbf-bad-value"] =
      "look at the bytes in table raw, and repair the record in the program that wrote it",
   ["dbf-code-page"] = "state it: --set code_page=CP850, or any that iconv names",
   ["dbf-cpg"] = "correct the .cpg file, or state the page: --set code_page=NAME",
   ["dbf-delete-flag"] = "look at the record in table raw: rows may have shifted",
   ["dbf-deleted"] = "to see them: --set deleted=show, or only",
   ["dbf-field-name"] = "none needed: table structure has the name of each column",
   ["dbf-field-type"] = "none needed: the bytes are those of the file",
   ["dbf-header-size"] = "open and pack the table in the program that wrote it",
   ["dbf-memo-block"] = "rebuild the memo file in the program that wrote it, or use its backup",
   ["dbf-memo-file"] = "copy the memo file again, together with its table",
   ["dbf-no-memo"] = "put the memo file beside the table, or name it: memo = PATH in Lua",
   ["dbf-no-terminator"] = "none needed if the columns are right; else transfer the file again",
   ["dbf-null-flags"] = "none needed: further fields are never null",
   ["dbf-overflow"] = "widen the field in the program that wrote the table; the value is missing",
   ["dbf-record-size"] = "check the columns: rows may have shifted",
   ["dbf-stale-count"] = "none needed: a program is writing the table, or did not close it",
   ["dbf-trailing-bytes"] = "none needed: the bytes are in table raw",
   ["dbf-truncated"] = "copy the table when no program writes it; complete records are read",
   ["dbf-version"] = "none needed if the columns are right; table raw has the header",
}

-- The extensions of memo files, for tables with special extensions.
local extensions = {
   prf = { "prv", "fpt", "dbt" }, dbc = { "dct" }, scx = { "sct" }, vcx = { "vct" },
   frx = { "frt" }, lbx = { "lbt" }, mnx = { "mnt" }, pjx = { "pjt" },
}

local table_extensions = { dbf = true }
for extension in pairs(extensions) do
   table_extensions[extension] = true
end

-- Versions of dBASE, whose memo files are .dbt; FoxPro has .fpt.
local dbase = { [0x83] = true, [0x8b] = true, [0x8c] = true, [0x7b] = true, [0xcb] = true }

-- Splits a path into the part before the extension and the extension in lower case (or "").
local function split(path)
   local stem, extension = path:match "^(.-)%.([^./]*)$"
   return stem or path, (extension or ""):lower()
end

-- Returns the name of the .cpg file of a table, without directory.
local function cpg_name(path)
   return split(path):match "[^/]*$" .. ".cpg"
end

---Returns the memo file and the .cpg file beside a table.
---@param main { path: string|nil, source: userdata, options: table }
---@return { role: string, path: string }[]
function dbf.side_files(main)
   if not main.path or main.path == "-" then
      return {}
   end
   local stem, extension = split(main.path)
   local version = main.source:read(0, 1):byte() or 0
   local usual = dbase[version] and { "dbt", "fpt" } or { "fpt", "dbt", "prv" }
   local names = {}
   for i, ending in ipairs(extensions[extension] or usual) do
      names[i] = stem:match "[^/]*$" .. "." .. ending
   end
   local path = companions.beside(main.path, names)
   local side_files = { path and { role = "memo", path = path } or nil }
   local page = companions.beside(main.path, { cpg_name(main.path) })
   side_files[#side_files + 1] = page and { role = "cpg", path = page }
   return side_files
end

-- Returns the other tables in the folder of a path that read the .cpg file `page`: those with its
-- name and any extension.
local function tables_of(page, path)
   local stem, own = split(page), outputs.identity(path)
   local list, name = {}, stem:match "[^/]*$"
   for extension in pairs(table_extensions) do
      for _, found in ipairs(companions.all_beside(path, name .. "." .. extension)) do
         if split(found) == stem and found ~= path and outputs.identity(found) ~= own then
            list[#list + 1] = found
         end
      end
   end
   table.sort(list)
   return list
end

---Returns the path of the .cpg file for a new table; nil if another table would read it as its own.
---@param path string of the table
---@return string|nil
function dbf.cpg_of(path)
   local page = split(path) .. ".cpg"
   return #tables_of(page, path) == 0 and page or nil
end

---Returns where memos are written (beside the table, with the extension that its readers expect),
---and where a .cpg file is written if the header has no mark for the code page. The .cpg file is
---written at the end, so a table that grows while it is written has none.
---@param path string|nil of the table
---@param options table of writing; `memo` is removed, and `cpg` is set if a .cpg file is allowed
---@param is_stream boolean|nil the table grows while it is written
---@return { role: string, path: string|nil }[]
function dbf.side_outputs(path, options, is_stream)
   local memo = options.memo
   options.memo = nil
   if path == "-" and not memo then
      return {}
   elseif path and not memo then
      local stem, extension = split(path)
      local usual = extensions[extension]
      memo = stem .. "." .. (usual and usual[1] or "fpt")
   end
   local side_files = { { role = "memo", path = memo } }
   if path and path ~= "-" and not is_stream then
      local page = dbf.cpg_of(path)
      options.cpg = page and 1
      side_files[2] = page and { role = "cpg", path = page }
   end
   return side_files
end

---Returns the .cpg files of an older table, which would outrank the mark of the new table. If
---another table reads the .cpg file too: nil, message, code.
---@param path string of the table
---@return string[]|nil
---@return string|nil message
---@return string|nil code
function dbf.replaced(path)
   local paths = {}
   for _, older in ipairs(companions.all_beside(path, cpg_name(path))) do
      local others = tables_of(older, path)
      if #others == 0 then
         paths[#paths + 1] = older
      elseif split(older) == split(path) then
         return nil, ("%s: %s states the code page of %s, and would apply to this table too: "
            .. "choose another name"):format(path, older, others[1]), "unsupported"
      end
   end
   return paths
end

-- For each type that is read, the type that is written.
local written_types = {
   C = "C", N = "N", F = "F", L = "L", D = "D", M = "M", I = "I", Y = "Y", T = "T", V = "V",
   G = "M", P = "M", W = "M", ["+"] = "I", O = "B", ["@"] = "T",
}

local sized = { C = true, N = true, F = true, V = true, Q = true }

-- Returns the definition of the field that is written for a row of table `structure`.
local function field_text(field, is_visual)
   local letter = written_types[field.type] or (field.length <= 254 and "Q" or "M")
   if field.type == "B" then
      letter = field.column == "num" and "B" or "M"
   elseif letter == "C" and field.length > 254 then
      letter = "M"
   end
   local text = field.name .. " " .. letter
   if sized[letter] then
      local is_number = letter == "N" or letter == "F"
      text = ("%s(%d%s)"):format(text, is_number and math.min(field.length, 20) or field.length,
         is_number and field.decimals > 0 and "," .. field.decimals or "")
   end
   -- A blank binary field of dBASE 7 is null in Visual FoxPro.
   local nullable = field.flags & 2 ~= 0 or not is_visual and letter:match "^[IBY]$"
   return text .. (nullable and " null" or ""), letter
end

---Sets the write options that are not given to those of the table that is copied.
---@param options table of writing, changed
---@param info { name: string, value: any }[] of the trace's first file; empty for another format
---@param part userdata|nil that file; nil for another format
---@param path string|nil of the copy; "-": nothing can stand beside it
function dbf.save_defaults(options, info, part, path)
   if not part then
      return
   end
   local value, needs_visual, fields = {}, false, {}
   for _, fact in ipairs(info) do
      value[fact.name] = fact.value
   end
   local is_visual = value.version >= 0x30 and value.version <= 0x32
   for _, field in ipairs(core.rows(part:reader "structure")) do
      if field.type ~= "0" then
         local text, letter = field_text(field, is_visual)
         fields[#fields + 1] = text
         needs_visual = needs_visual or letter:match "[IBYTVQ]" ~= nil
      end
   end
   options.fields = options.fields or table.concat(fields, ", ")
   options.dialect = options.dialect or (is_visual or needs_visual) and "visual" or "foxpro2"
   if not options.code_page then
      -- Keep the code page of the table, if the copy or a .cpg file beside it can state it; else
      -- write UTF-8.
      local mark = value.page_mark or value.code_page_mark
      local is_stated = mark ~= 0 or path and path ~= "-"
      options.code_page = is_stated and value.code_page or "raw"
   end
end

return dbf
