-- Texts in csv, tsv, json and text tables: long runs are copied, and each other character is
-- written as the form of output asks for, wherever it stands.

local command = require "spec.support.command"
local dbf = require "spec.support.dbf_builder"
local profio = require "profio"

-- Writes a table with a memo in each record, or `records` with each memo; returns its path.
local function table_of(name, texts, records)
   local memos, rows = {}, dbf.new { version = 0xf5, { "NOTE", "M", 10 } }
   for i, text in ipairs(texts) do
      memos[i] = { 1, text }
   end
   local bytes, blocks = dbf.fpt(memos)
   for _, block in ipairs(blocks) do
      for _ = 1, records or 1 do
         rows:row { block }
      end
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

it("records that share a large memo take the time of a copy", function()
   local memo = ("a line of t\xe4xt, forty byt\xebs or thereabout\r\n"):rep(24000)
   local function time_of(path, output)
      local trace <close> = assert(profio.open(path, { code_page = "CP1252" }))
      local null <close> = assert(io.open("/dev/null", "wb"))
      local before = os.clock()
      trace.data:write({ output = output }, null)
      return os.clock() - before
   end
   local one, many = table_of("one", { memo }), table_of("many", { memo }, 60)
   for _, output in ipairs { "json", "csv", "tsv" } do
      local least, most = math.huge, math.huge
      for _ = 1, 5 do
         least, most = math.min(least, time_of(one, output)), math.min(most, time_of(many, output))
      end
      assert.is_true(most < 40 * least, ("%s: %.1f"):format(output, most / least)) -- else 60
   end
end)
