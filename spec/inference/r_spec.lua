-- The tests of profio.internal.inference against R, over random samples.
--
-- Extra: needs R.
-- Unsanitized: it runs no C code.

local adjust = require "profio.internal.inference.adjust"
local core = require "profio.core"
local distributions = require "profio.internal.inference.distributions"
local disk = require "spec.support.disk"
local prior = require "profio.internal.inference.prior"
local special = require "profio.internal.inference.special"
local tests = require "profio.internal.inference.tests"

local CASES <const> = 200

-- Returns whether a program can be run.
local function has_program(name)
   return os.execute("command -v " .. name .. " >/dev/null 2>&1") == true
end

-- Returns the lines of numbers that a program of R prints.
local function run_r(program)
   local path = disk.temporary()
   local file <close> = assert(io.open(path, "w"))
   assert(file:write("show <- function(...) cat(sprintf('%.15g', c(...)), '\\n')\n", program))
   file:close()
   local pipe <close> = assert(io.popen("Rscript --vanilla " .. path))
   local rows = {}
   for line in pipe:lines() do
      local row = {}
      for word in line:gmatch "%S+" do
         row[#row + 1] = word == "Inf" and math.huge or tonumber(word)
      end
      rows[#rows + 1] = row
   end
   os.remove(path)
   return rows
end

-- Six digits, also of small p values; differences near 0 are those of other numbers.
local function assert_near(expected, found, label)
   if expected ~= found then
      local error = math.abs(found - expected)
      assert.is_true(error <= 1e-6 * math.abs(expected) or error < 1e-12,
         ("%s: %.12g of R, found %.12g"):format(label, expected, found))
   end
end

local function assert_rows(expected, found)
   assert.equal(#expected, #found)
   for i, row in ipairs(expected) do
      assert.equal(#row, #found[i])
      for j, value in ipairs(row) do
         assert_near(value, found[i][j], ("line %d, number %d"):format(i, j))
      end
   end
end

local function vector(values)
   return "c(" .. table.concat(values, ",") .. ")"
end

local function random_values(count, scale)
   local values = {}
   for i = 1, count do
      values[i] = ("%.6f"):format(scale * (1 + math.random() ^ 3)) + 0
   end
   return values
end

-- Each pair of a line of R and what profio finds.
local programs, found = {}, {}

local function expect(line, ...)
   programs[#programs + 1], found[#found + 1] = line, { ... }
end

local function check()
   local rows = run_r(table.concat(programs, "\n") .. "\n")
   assert_rows(rows, found)
end

describe("inference, against R", function()
   before_each(function()
      math.randomseed(20)
      programs, found = {}, {}
      if not has_program "Rscript" then
         pending "no Rscript: make test installs it"
      end
   end)

   it("Welch's test", function()
      for _ = 1, CASES do
         local base = random_values(math.random(2, 10), 10.0 ^ math.random(-3, 6))
         local new = random_values(math.random(2, 10), base[1])
         local alpha = math.random() ^ 2
         local result = tests.welch(base, new, alpha)
         expect(("a <- t.test(%s, %s, conf.level=1-%.17g); show(a$p.value, a$conf.int, "
            .. "a$parameter)"):format(vector(new), vector(base), alpha),
            result.p, result.low, result.high, result.df)
      end
      check()
   end)

   it("the exact test of two Poisson rates", function()
      for case = 1, CASES do
         local most = ({ 3, 20, 300, 100000 })[case % 4 + 1]
         local count1, count2 = math.random(0, most), math.random(0, most)
         local time1, time2 = math.random(1, 12), math.random(1, 12)
         local result = tests.poisson(count1, count2, time1, time2)
         if count1 + count2 > 0 then
            expect(("a <- poisson.test(c(%d, %d), c(%d, %d)); show(a$p.value, a$conf.int)"):format(
               count2, count1, time2, time1), result.p, result.low, result.high)
         end
      end
      check()
   end)

   it("Holm and Benjamini-Hochberg", function()
      for _, count in ipairs { 1, 2, 7, 30, 100 } do
         local p = {}
         for i = 1, count do
            p[i] = ("%.3g"):format(math.random() ^ 5) + 0
         end
         expect(("show(p.adjust(%s, 'holm'))"):format(vector(p)), table.unpack(adjust.holm(p)))
         expect(("show(p.adjust(%s, 'BH'))"):format(vector(p)), table.unpack(adjust.bh(p)))
      end
      check()
   end)

   it("distributions", function()
      for _ = 1, CASES do
         local x, df = 12 * math.random() - 4, 10.0 ^ (4 * math.random())
         local df2, tail = 10.0 ^ (3 * math.random()), math.random() ^ 8
         local a, b = 10.0 ^ (5 * math.random() - 1), 10.0 ^ (5 * math.random() - 1)
         local call = ("x <- %.17g; df <- %.17g; df2 <- %.17g; p <- %.17g; a <- %.17g; b <- %.17g;"
            ):format(x, df, df2, tail, a, b)
         expect(call .. "show(pnorm(x, lower=F), pt(x, df, lower=F), qt(p, df, lower=F), "
            .. "qnorm(p, lower=F), pf(abs(x), df2, df, lower=F), digamma(a), trigamma(a), "
            .. "qbeta(p, a, b))",
            distributions.normal_tail(x), distributions.t_tail(x, df),
            distributions.t_quantile(tail, df), distributions.t_quantile(tail, math.huge),
            distributions.f_tail(math.abs(x), df2, df), special.digamma(a), special.trigamma(a),
            core.beta_quantile(tail, a, b))
         local y = special.trigamma_inverse(a)
         assert_near(a, special.trigamma(y), "trigamma_inverse")
      end
      check()
   end)

   it("limma's prior of variances, squeezed variances and moderated t", function()
      if has_program "Rscript" and run_r "show(requireNamespace('limma', quietly = TRUE))"[1][1]
         ~= 1 then
         pending "no limma: apt-get install r-bioc-limma"
      end
      for _ = 1, 20 do
         local d, count = math.random(2, 18), math.random(10, 200)
         local variances, logarithms, mean, squares = {}, {}, 0.0, 0.0
         for i = 1, count do
            variances[i] = ("%.6g"):format(math.exp(4 * math.random() + 4 * math.random())) + 0
            logarithms[i] = math.log(variances[i])
            mean = mean + logarithms[i] / count
         end
         for _, value in ipairs(logarithms) do
            squares = squares + (value - mean) ^ 2
         end
         local scale, df = prior.of_logarithms(mean, squares / (count - 1), d)
         local squeezed = prior.squeezed(variances[1], d, scale, df)
         local difference = 20 * math.random()
         expect(("v <- %s; f <- limma::fitFDist(v, %d); s <- limma::squeezeVar(v, %d); "
            .. "show(f$scale, f$df2, s$var.post[1], 2 * pt(-%.17g / sqrt(s$var.post[1]), "
            .. "%d + s$df.prior))"):format(vector(variances), d, d, difference, d),
            scale, df, squeezed, tests.two_sided(difference / math.sqrt(squeezed), d + df))
      end
      check()
   end)
end)
