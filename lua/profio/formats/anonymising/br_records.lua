-- Names in the records of Business Rules!: modules and functions.

local br_records = {}

-- The name that profio's recorder writes for the first module: none of the user.
local RECORDER <const> = "^profio%.recorder: mode %l+, clock [%l%d_]+"

local function is_recorder(name)
   return name:find(RECORDER .. "$") or name:find(RECORDER .. ", interval %d+ ns$")
end

-- Returns what remains of bytes that are no record: of a record that is cut its numbers, of another
-- type its first byte.
local function rest_of(bytes, note)
   local fixed = ({ [1] = 5, [3] = 8, [4] = 9, [5] = 8, [7] = 2 })[bytes:byte()] or 1
   if not bytes:find "[^\0]" then
      return bytes
   elseif #bytes > fixed then
      note("anonymised-dropped", ("%d bytes that are no record are left out: they may hold names")
         :format(#bytes - fixed))
   end
   return bytes:sub(1, fixed)
end

---@param context table
---@return fun(kind: string, bytes: string): string
function br_records.start(context)
   local names = context.names
   return function(kind, bytes)
      if kind == "module" and not is_recorder(bytes:sub(6)) then
         local name = names:path(bytes:sub(6), "m")
         return bytes:sub(1, 3) .. (">s2"):pack(name)
      elseif kind == "function" then
         return bytes:sub(1, 1) .. ("s1"):pack(names:of(bytes:sub(3), "f"))
      elseif kind == "rest" then
         return rest_of(bytes, context.note)
      end
      return bytes
   end
end

return br_records
