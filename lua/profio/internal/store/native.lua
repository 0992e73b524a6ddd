-- The module profio.store, which is built only where its libraries are.

---Returns the module, or nil and what to do.
---@return profio.store|nil
---@return string|nil message
return function()
   local done, native = pcall(require, "profio.store")
   if done then
      return native
   elseif native:find("module 'profio.store' not found", 1, true) then
      return nil, "this profio was built without stores: install libsqlite3-dev, libxxhash-dev and "
         .. "then run make again"
   end
   return nil, "the module profio.store cannot be loaded: " .. native
end
