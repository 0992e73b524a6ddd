-- inference.compare: verdicts, normalisation, and what is not known.

local inference = require "profio.internal.inference"

-- Returns options for functions with the means, in 5 + 5 runs with a small noise of their own.
local function runs_of(base, new)
   local options = { items = {}, totals = { base = {}, new = {} }, counts = true }
   for g = 1, #base do
      local item = { key = "f" .. g, base = {}, new = {} }
      for j = 1, 5 do
         local noise = ((g * 7 + j * 3) % 5 - 2) * 2
         item.base[j] = math.max(base[g] > 0 and base[g] + noise or 0, 0)
         item.new[j] = math.max(new[g] > 0 and new[g] - noise or 0, 0)
         options.totals.base[j] = (options.totals.base[j] or 0) + item.base[j]
         options.totals.new[j] = (options.totals.new[j] or 0) + item.new[j]
      end
      options.items[g] = item
   end
   return options
end

local function verdicts(result)
   local list = {}
   for i, row in ipairs(result.rows) do
      list[i] = row.verdict
   end
   return table.concat(list, " ")
end

describe("inference.compare", function()
   it("says what changed", function()
      local result = inference.compare(runs_of({ 100, 200, 300, 0, 90, 1000, 10 },
         { 150, 130, 300, 80, 0, 1000, 10 }))
      assert.equal("slower faster unchanged new gone unchanged unknown", verdicts(result))
      local row = result.rows[1]
      assert.same({ "f1", 100, 150, 50, 0.5 },
         { row.key, row.before, row.after, row.change, row.relative })
      assert.is_true(row.low > 0.3 and row.low < 0.5 and row.high > 0.5 and row.high < 0.7)
      assert.is_nil(result.rows[4].relative)
   end)
end)
