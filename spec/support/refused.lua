-- Writing in specs that expect refusals: what raises is answered.

---Write a record; where that raises nil, the words and "unsupported".
---@param writer profio.Writer
---@param ... any what writer:write takes
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
