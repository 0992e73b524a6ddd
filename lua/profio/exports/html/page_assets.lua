-- The style sheet and the scripts of the report: files .css and .js in this folder, which the
-- export builds into the page.

local assets = {}

-- This folder, from the path of this file.
local folder = debug.getinfo(1, "S").source:match "^@(.*)page_assets%.lua$"

---The scripts in the order in which the page runs them.
assets.scripts = { "model.js", "frames.js", "state.js", "surface.js", "gestures.js", "search.js",
   "functions.js", "details.js", "tracks.js", "chosen_call.js",
   "pictures.js", "timeline.js", "distributions.js", "flames.js", "keys.js",
   "start.js" }

-- Writes the text of one of the files; after a failure to read it, `out` fails.
local function put(out, name)
   local file <close>, reason = io.open(folder .. name, "rb")
   local text
   if file then
      text, reason = file:read "a"
   end
   if text then
      out:write(text)
   else
      out.failure = out.failure or { ("cannot read %s%s: %s"):format(folder, name, reason), "io" }
   end
end

---Writes the style sheet as an element.
---@param out table of lanes.out
function assets.write_style(out)
   out:write "<style>\n"
   put(out, "page.css")
   out:write "</style>\n"
end

---Writes the scripts as an element; each file is a function that is called at once.
---@param out table of lanes.out
function assets.write_scripts(out)
   out:write "<script>\n"
   for _, name in ipairs(assets.scripts) do
      put(out, name)
   end
   out:write "</script>\n"
end

return assets
