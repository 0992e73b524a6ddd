-- Each system call of many commands fails once: with PROFIO_FAULTS=1 (`make torture-faults`) every
-- call with every fault, with PROFIO_FAULTS=N one of N such runs, else a few of them.
--
-- Extra: system calls of many commands fail, one at a time.
-- Unsanitized: LeakSanitizer does not run in a process that is traced.

local faults = require "spec.support.faults"

local asked = math.tointeger(tonumber(os.getenv "PROFIO_FAULTS"))
local every = asked or 211 -- a prime number, so that all faults come
local only = os.getenv "PROFIO_FAULTS_OF" or "" -- a pattern of names of commands

describe("a system call that fails", function()
   local cases, why = faults.cases()
   if not cases then
      pending("ends in an error or changes nothing: " .. why)
      return
   end
   teardown(faults.remove)

   local turn = 0

   it("leaves no part of a database, and says no success, when its last steps fail", function()
      for _, case in ipairs(cases) do
         local right = case.name == "database" and faults.run(case, "NONE", 0)
         for number = right and right.calls - 12 or 1, right and right.calls or 0 do
            assert.is_nil(faults.wrong(case, right, faults.run(case, "EIO", number)), number)
         end
      end
   end)

   for _, case in ipairs(cases) do
      if case.name:find(only) then
         it("ends in an error or changes nothing: " .. case.name, function()
            local right = faults.run(case, "NONE", 0)
            assert.is_true(right.status == 0 or right.status == 3, right.errors)
            local bad, runs = {}, 0
            for _, kind in ipairs(faults.kinds) do
               for number = 1, right.calls do
                  turn = turn + 1
                  if turn % every == 0 then
                     local got = faults.run(case, kind, number)
                     runs = runs + 1
                     if got.failed == "none" then
                        break -- fewer calls of this kind
                     end
                     local wrong = faults.wrong(case, right, got)
                     if wrong then
                        bad[#bad + 1] = ("%s of call %d, %s: %s: %s"):format(kind, number,
                           got.failed, wrong, got.errors:sub(1, 300))
                     end
                  end
               end
            end
            if asked then
               print(("%s: %d calls, %d runs, %d wrong"):format(case.name, right.calls, runs, #bad))
            end
            assert.same({}, bad)
         end)
      end
   end
end)
