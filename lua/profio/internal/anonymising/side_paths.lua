-- The paths of files that are written beside an anonymised file: they lie to it as those of the
-- trace lie to their main file, so that they are found again.

local side_paths = {}

local function without_extension(path)
   return path:match "^(.+)%.[^./\\]*$" or path
end

-- Returns whether a text begins with another one, in any case of letters.
local function begins(text, head)
   return text:sub(1, #head):lower() == head:lower()
end

---Returns the path of a file beside an output.
---@param main string path of the main file of the trace
---@param side string path of the file beside it
---@param out string path of the output
---@return string|nil path
---@return string|nil message
function side_paths.of(main, side, out)
   local stem = without_extension(main)
   if begins(side, main) then -- x.txt and x.txt.BIN, x.prf and x.prf.000001
      return out .. side:sub(#main + 1)
   elseif begins(main, side) then -- x.txt.BIN and x.txt
      local ending = main:sub(#side + 1)
      if out:sub(-#ending):lower() == ending:lower() and #out > #ending then
         return out:sub(1, -#ending - 1)
      end
      return nil, ("%s: the trace has a file beside it, %s, which is found by the name: let -o OUT "
         .. "end in %s"):format(main, side, ending)
   elseif begins(side, stem .. ".") then -- x.prf and x.prv
      local path = without_extension(out) .. side:sub(#stem + 1)
      if path:lower() ~= out:lower() then
         return path
      end
   end
   return nil, ("%s: the trace has a file beside it, %s, for which no name follows from %s: let -o "
      .. "OUT end as the name of the trace does"):format(main, side, out)
end

return side_paths
