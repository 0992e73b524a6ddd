-- Ends the command early: an error object that carries the exit status.

local failure = {}

---@class profio.Failure
---@field status integer
---@field message string|nil
local Failure = { __name = "profio.failure" }
Failure.__index = Failure

function Failure:__tostring()
   return self.message or ""
end

---The exit statuses.
failure.READ, failure.NOTHING, failure.USE, failure.DAMAGE, failure.EXCEEDED = 0, 1, 2, 3, 4

---@param status integer
---@param message string|nil for standard error
---@return profio.Failure
function failure.new(status, message)
   return setmetatable({ status = status, message = message }, Failure)
end

---Ends the command with a status.
---@param status integer
---@param message string|nil for standard error
function failure.raise(status, message)
   error(failure.new(status, message), 0)
end

---Ends the command with a usage error: status 2.
---@param message string
---@param ... any for message:format
function failure.use(message, ...)
   failure.raise(failure.USE, select("#", ...) > 0 and message:format(...) or message)
end

---Passes on the result of a call that returns nil, message, code on failure; a failure ends the
---command.
---@generic T
---@param result T
---@param message string|nil
---@param code string|nil
---@return T
function failure.check(result, message, code)
   if result == nil then
      failure.raise(failure.NOTHING, message or code)
   end
   return result
end

---@param value any
---@return boolean
function failure.is(value)
   return getmetatable(value) == Failure
end

return failure
