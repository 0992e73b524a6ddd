-- The style sheet and the scripts of the report: files .css in this folder and .js in its folder
-- scripts, which the export builds into the page.

local resources = require "profio.internal.resources"

local assets = {}

---The scripts that run before the page is drawn.
assets.head_scripts = { "scheme.js" }

---The scripts in the order in which the page runs them. The call graph is before search.js, which
---lists the sections that are not hidden.
assets.scripts = { "texts.js", "model.js", "colors.js", "frames.js", "state.js", "profile.js",
   "surface.js", "gestures.js", "graph_layout.js", "call_graph.js", "search.js", "functions.js",
   "details.js", "call_values.js", "activity.js", "tracks.js", "ranges.js", "chosen_call.js",
   "pictures.js", "timeline.js", "distributions.js", "flames.js", "copying.js", "keys.js",
   "start.js" }

-- Returns the text of one of the files; after a failure to read it, `out` fails.
local function read(out, name)
   local text, reason = resources.read("exports/html/" .. name)
   if not text then
      out.failure = out.failure or { "cannot read " .. reason, "io" }
   end
   return text or ""
end

---Returns the style sheet as an element.
---@param out table of lanes.out
---@return string
function assets.style(out)
   return "<style>\n" .. read(out, "page.css") .. "</style>\n"
end

---Returns scripts as an element; each file is a function that is called at once.
---@param out table of lanes.out
---@param names string[]
---@return string
function assets.program(out, names)
   local texts = {}
   for i, name in ipairs(names) do
      texts[i] = read(out, "scripts/" .. name)
   end
   return "<script>\n" .. table.concat(texts) .. "</script>\n"
end

return assets
