-- Texts in csv, tsv, json and text tables: long runs are copied, and each other character is
-- written as the form of output asks for, wherever it stands.
--
-- Tags: stressed.

local command = require "spec.support.command"
local dbf = require "spec.support.dbf_builder"
local profio = require "profio"

-- Writes a table with a memo in each record; returns its path.
local function table_of(name, texts)
   local memos, rows = {}, dbf.new { version = 0xf5, { "NOTE", "M", 10 } }
   for i, text in ipairs(texts) do
      memos[i] = { 1, text }
   end
   local bytes, blocks = dbf.fpt(memos)
   for _, block in ipairs(blocks) do
      rows:row { block }
   end
   command.file(name .. ".fpt", bytes)
   return command.file(name .. ".dbf", rows:bytes())
end

-- One byte after the other, as the forms are defined.
local forms = {
   csv = function(text)
      return text:find '[,"\r\n]' and '"' .. text:gsub('"', '""') .. '"' or text
   end,
   tsv = function(text)
      return (text:gsub("[\t\n\r\\]", { ["\t"] = "\\t", ["\n"] = "\\n", ["\r"] = "\\r",
         ["\\"] = "\\\\" }))
   end,
   ndjson = function(text)
      return '{"NOTE":"' .. text:gsub('["\\]', "\\%0"):gsub("[\1-\31\127]", function(c)
         return ("\\u00%02x"):format(c:byte())
      end) .. '"}'
   end,
}

it("texts are escaped wherever a character stands", function()
   local texts, line = {}, "plain ASCII text, of some words"
   for _, odd in ipairs { '"', "\\", ",", "\n", "\r\n", "\t", "\1", "\127", "ä", "€", "😀" } do
      for at = 0, 18 do
         texts[#texts + 1] = line:sub(1, at) .. odd .. line:sub(at + 1)
         texts[#texts + 1] = line:sub(1, at) .. odd:rep(3)
      end
   end
   local trace <close> = assert(profio.open(table_of("escaped", texts), { code_page = "raw" }))
   for output, form in pairs(forms) do
      local expected = {}
      for i, text in ipairs(texts) do
         expected[i] = form(text)
      end
      assert.equal((output == "ndjson" and "" or "NOTE\n") .. table.concat(expected, "\n") .. "\n",
         trace.data:write { output = output, columns = { "NOTE" } })
   end
end)
