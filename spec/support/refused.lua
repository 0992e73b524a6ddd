-- Writes records in specs that expect errors: a raised error is returned.

---Writes a record; if that raises, returns nil, the message and "unsupported".
---@param writer profio.Writer
---@param ... any arguments of writer:write
---@return boolean|nil
---@return string|nil message
---@return string|nil code
return function(writer, ...)
   local called, ok, message, code = pcall(writer.write, writer, ...)
   if not called then
      return nil, ok, "unsupported"
   end
   return ok, message, code
end
