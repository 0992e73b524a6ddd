-- Rows as the command writes them: UTF-8, or the bytes of the trace.

local csv = require "spec.support.csv"
local events = require "spec.support.events"

describe("csv and tsv", function()
   local lines = "0 enter gr\xfc\xdf a\n5 leave gr\xfc\xdf a\n"

   it("are UTF-8, or raw, with --output and --export and of reports and tables", function()
      for _, what in ipairs { { "--report", "calls" }, { "--table", "events" } } do
         for _, how in ipairs { "--output", "--export" } do
            for _, form in ipairs { "csv", "tsv" } do
               local words = { what[1], what[2], how, form }
               local text = events.fine(lines, table.unpack(words))
               assert.is_truthy(utf8.len(text))
               assert.is_truthy(text:find("gr\u{fffd}\u{fffd}", 1, true))
               words[5], words[6] = "--set", "raw=true"
               assert.is_truthy(events.fine(lines, table.unpack(words)):find("gr\xfc\xdf", 1, true))
            end
         end
      end
   end)

   it("are the only forms that have bytes as they are", function()
      for _, form in ipairs { "json", "ndjson", "text" } do
         local _, status, errors = events.command(lines, "--report", "calls", "--output", form,
            "--set", "raw=true")
         assert.equal(2, status)
         assert.is_truthy(errors:find("no option 'raw'", 1, true))
      end
   end)
end)

describe("csv for a spreadsheet", function()
   local BOM <const> = "\xef\xbb\xbf"
   -- The means of the values are 1.5, -0.25 and 3.
   local lines = table.concat({ '0 write a;"b",c main 1', '1 write a;"b",c main 2',
      "2 write d|e main -1", "3 write d|e main 0", "4 write d|e main 0", "5 write d|e main 0",
      "6 write gr\u{fc}\u{df} main 3" }, "\n") .. "\n"
   local words = { "--table", "events", "--group", "area", "--aggregate", "mean=mean(value)",
      "--sort", "area" }
   local names = { 'a;"b",c', "d|e", "gr\u{fc}\u{df}" }

   local function written(how, form, ...)
      local all = table.move(words, 1, #words, 1, {})
      for _, word in ipairs { how, form, ... } do
         if word:find "=" then
            all[#all + 1] = "--set"
         end
         all[#all + 1] = word
      end
      return events.fine(lines, table.unpack(all))
   end

   local function expected(means)
      local records = { { "area", "mean" } }
      for i, name in ipairs(names) do
         records[i + 1] = { name, means[i] }
      end
      return records
   end

   local points, commas = { "1.5", "-0.25", "3" }, { "1,5", "-0,25", "3" }

   it("has numbers, quotes and delimiters in texts that read back", function()
      for _, how in ipairs { "--output", "--export" } do
         local text = written(how, "csv", "spreadsheet=comma")
         assert.equal(BOM, text:sub(1, 3))
         assert.same(expected(commas), csv.parse(text:sub(4), ";"))
         assert.equal(text, written(how, "csv", "delimiter=;", "decimal=,", "bom=true"))
         text = written(how, "csv", "spreadsheet=point")
         assert.equal(BOM, text:sub(1, 3))
         assert.same(expected(points), csv.parse(text:sub(4)))
      end
      assert.same(expected(points), csv.parse(written("--output", "csv")))
      for delimiter, word in pairs { ["|"] = "|", ["\t"] = "tab", [";"] = ";" } do
         assert.same(expected(commas), csv.parse(written("--output", "csv", "decimal=,",
            "delimiter=" .. word), delimiter))
      end
   end)

   it("has options that change a part of what one word sets", function()
      local text = written("--output", "csv", "spreadsheet=comma", "delimiter=|", "bom=no")
      assert.same(expected(commas), csv.parse(text, "|"))
      assert.equal(BOM .. "area\tmean\na;\"b\",c\t1,5\nd|e\t-0,25\n" .. names[3] .. "\t3\n",
         written("--output", "tsv", "decimal=,", "bom=true"))
   end)

   it("has no mark without a header", function()
      local trace <close> = events.open(lines)
      local text = trace:table("events"):write { output = "csv", bom = true, header = false }
      assert.is_nil(text:find(BOM, 1, true))
   end)

   it("refuses a delimiter that is the decimal sign, and signs that are none", function()
      for set, message in pairs {
         ["decimal=,"] = "the delimiter and the decimal sign are both ','",
         ["delimiter=."] = "delimiter is one of , ; | tab; got .",
         ["delimiter=;;"] = "delimiter is one of",
         ["decimal=x"] = "decimal is one of",
         ["spreadsheet=de"] = "spreadsheet is one of comma, point; got de",
      } do
         local out, status, errors = events.command(lines, "--table", "events", "--output", "csv",
            "--set", set)
         assert.equal(2, status)
         assert.equal("", out)
         assert.is_truthy(errors:find(message, 1, true), errors)
      end
      local _, status = events.command(lines, "--table", "events", "--output", "csv", "--set",
         "spreadsheet=comma", "--set", "delimiter=,")
      assert.equal(2, status)
      local trace <close> = events.open(lines)
      for _, output in ipairs { "text", "json", "tsv" } do
         assert.has_error(function()
            trace:table("events"):write { output = output, spreadsheet = "comma" }
         end, ("output '%s' has no option 'spreadsheet'"):format(output))
      end
   end)
end)
