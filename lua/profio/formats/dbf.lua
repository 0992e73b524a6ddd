-- The format dbf: tables of dBASE, FoxBASE, FoxPro, Clipper and Xbase++, with their memo files. All
-- reading is in csrc/formats/dbf/.
--
--    local trace <close> = assert(profio.open("customer.dbf", { code_page = "CP850" }))
--    for name, since in trace.data:each("NAME", "SINCE") do print(name, since) end

local dbf = {
   name = "dbf",
   help = "tables of dBASE, FoxPro, Clipper and Xbase++ (.dbf) with memo files (.dbt, .fpt, .prv)",
}

dbf.roles = {
   { name = "memo", help = "the file of the table's memos, instead of the one beside it" },
}

-- Records marked as deleted are gone to whoever deleted them, until a PACK takes their bytes too;
-- so they are left out, with a note, unless one asks for them.
dbf.options = {
   { name = "code_page", type = "text", default = "auto",
     help = "what text is in: CP850, KAMENICKY, ... as iconv names it; raw passes bytes through; "
        .. "auto takes the file's word" },
   { name = "deleted", type = "choice", choices = { "skip", "show", "only" }, default = "skip",
     help = "records marked as deleted: left out, shown with the others, or shown alone" },
   { name = "memo_form", type = "choice", choices = { "auto", "fpt", "dbt3", "dbt4" },
     default = "auto", help = "form of the memo file, where its table does not tell" },
}

dbf.warnings = {
   ["dbf-bad-value"] = "a field holds what its type cannot be: the value is missing",
   ["dbf-code-page"] = "the code page is unknown: text passes through as it is",
   ["dbf-delete-flag"] = "a record begins with neither of the two delete flags: it counts as live",
   ["dbf-deleted"] = "records marked as deleted are left out",
   ["dbf-field-name"] = "two fields have one name, or a field one of ours: it got another",
   ["dbf-field-type"] = "no field of that type and length is known: its bytes are shown",
   ["dbf-header-size"] = "the header's sizes cannot be: others fit the records and are used",
   ["dbf-memo-block"] = "a record points at a memo that cannot be: the value is missing",
   ["dbf-memo-file"] = "the memo file is too short to be one",
   ["dbf-no-memo"] = "a record points into a memo file, and there is none",
   ["dbf-no-terminator"] = "the field descriptors do not end as they should",
   ["dbf-null-flags"] = "there are more nullable fields than null flags",
   ["dbf-overflow"] = "a number did not fit into its field when it was stored",
   ["dbf-record-size"] = "the sizes of the fields do not add up to that of a record",
   ["dbf-stale-count"] = "more records follow than the header counts: they are read too",
   ["dbf-trailing-bytes"] = "bytes follow that are no part of the table",
   ["dbf-truncated"] = "the file ends before the header or the last record does",
   ["dbf-version"] = "the version is unknown and read as dBASE III",
}

-- The memo files that go with tables of special extensions.
local extensions = {
   prf = { "prv", "fpt", "dbt" }, dbc = { "dct" }, scx = { "sct" }, vcx = { "vct" },
   frx = { "frt" }, lbx = { "lbt" }, mnx = { "mnt" }, pjx = { "pjt" },
}

-- dBASE, whose memo files are .dbt; FoxPro has .fpt.
local dbase = { [0x83] = true, [0x8b] = true, [0x8c] = true, [0x7b] = true, [0xcb] = true }

---The memo file beside a table.
---@param main { path: string|nil, source: userdata, options: table }
---@return { role: string, path: string }[]
function dbf.side_files(main)
   if not main.path or main.path == "-" then
      return {}
   end
   local stem, extension = main.path:match "([^/]-)%.?([^./]*)$"
   local version = main.source:read(0, 1):byte() or 0
   local usual = dbase[version] and { "dbt", "fpt" } or { "fpt", "dbt", "prv" }
   local names = {}
   for i, ending in ipairs(extensions[extension:lower()] or usual) do
      names[i] = stem .. "." .. ending
   end
   local path = require("profio.inputs").beside(main.path, names)
   return path and { { role = "memo", path = path } } or {}
end

return dbf
