-- The style sheet and the scripts of the report: files .css and .js in this folder, which the
-- export builds into the page.

local assets = {}

-- This folder, from the path of this file.
local folder = debug.getinfo(1, "S").source:match "^@(.*)page_assets%.lua$"

---The scripts in the order in which the page runs them.
assets.scripts = { "model.js", "frames.js", "state.js", "surface.js", "search.js", "functions.js",
   "details.js", "tracks.js",
   "pictures.js", "timeline.js", "distributions.js", "flames.js", "start.js" }

---Returns the text of one of the files.
---@param name string
---@return string
function assets.read(name)
   local file <close> = assert(io.open(folder .. name, "rb"))
   return file:read "a"
end

---Writes the style sheet as an element.
---@param out table of lanes.out
function assets.write_style(out)
   out:write("<style>\n", assets.read "page.css", "</style>\n")
end

---Writes the scripts as an element; each file is a function that is called at once.
---@param out table of lanes.out
function assets.write_scripts(out)
   out:write "<script>\n"
   for _, name in ipairs(assets.scripts) do
      out:write(assets.read(name))
   end
   out:write "</script>\n"
end

return assets
