-- Failures of engines. An engine raises them; the functions of a store return nil, message, code.

local problem = {}

local Problem = { __name = "profio.store problem" }

function Problem:__tostring()
   return self.message
end

---Raises a failure of an engine.
---@param message string
---@param code string io, format, truncated, unsupported or limit
function problem.raise(message, code)
   error(setmetatable({ message = message, code = code }, Problem), 0)
end

---Returns the results of a call; raises a failure if the first one is nil.
---@generic T
---@param result T|nil
---@param message string|nil
---@param code string|nil
---@return T
function problem.check(result, message, code, ...)
   if result == nil then
      problem.raise(message, code)
   end
   return result, message, code, ...
end

local function results(done, ...)
   if done then
      return ...
   end
   local raised = ... -- by problem.raise, or by the native module
   if type(raised) == "table" and raised.message and raised.code then
      return nil, raised.message, raised.code
   end
   error(raised, 0)
end

---Calls a function and returns its results, or nil, message, code of a failure of an engine. Other
---errors are raised again.
---@param f function
---@param ... any
---@return any ...
function problem.caught(f, ...)
   return results(pcall(f, ...))
end

return problem
