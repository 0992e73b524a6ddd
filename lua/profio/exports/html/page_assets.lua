-- The style sheet and the scripts of the report: files .css in this folder and .js in its folder
-- scripts and below, which the export builds into the page.

local markup = require "profio.internal.markup"
local resources = require "profio.internal.resources"

local assets = {}

---The scripts that run before the page is drawn.
assets.head_scripts = { "scheme.js" }

---The scripts in the order in which the page runs them. The call graph is before search.js, which
---lists the sections that are not hidden.
assets.scripts = { "texts.js", "model.js", "colors.js", "frames.js", "filters/patterns.js",
   "state.js", "profile.js", "surface.js", "gestures.js", "graph_layout.js", "call_graph.js",
   "search.js", "functions.js", "details.js", "call_values.js", "timeline/activity.js",
   "timeline/contexts.js", "timeline/samples.js", "timeline/tracks.js", "timeline/ranges.js",
   "timeline/chosen_call.js", "timeline/pictures.js", "timeline/lanes.js", "timeline/timeline.js",
   "timeline/distributions.js", "flames.js", "filters/filters.js", "filters/filter_row.js",
   "copying.js", "printing.js", "keys.js", "start.js" }

-- Returns the text of one of the files; after a failure to read it, `out` fails.
local function read(out, name)
   local text, reason = resources.read("exports/html/" .. name)
   if not text then
      out.failure = out.failure or { "cannot read " .. reason, "io" }
   end
   return text and (text:gsub("\r\n", "\n")) or "" -- as browsers read it before they hash it
end

---The texts of a page that are not its data.
---@class profio.PageAssets
---@field style string element
---@field head_program string element of scripts, for the head
---@field program string element of scripts, after the data
---@field policy string element, the first one of the head

-- Returns a script without the indentation, and without comments that have lines of their own: they
-- are for those who read the files.
local function brief(text)
   return (("\n" .. text):gsub("\n[ ]*/%*.-%*/[ ]*(\n)", "%1"):gsub("\n[ ]*//[^\n]*", "")
      :gsub("\n%s+", "\n"):sub(2))
end

-- Returns the text of scripts; each file is a function that is called at once.
local function program(out, names, has)
   local texts = {}
   for _, name in ipairs(names) do
      local part = name:match "^timeline/(samples)%." or name:match "^(timeline)/"
      if not part or has[part] then
         texts[#texts + 1] = brief(read(out, "scripts/" .. name))
      end
   end
   return "\n" .. table.concat(texts)
end

---Returns the style sheet, the scripts, and the policy that permits only these.
---@param out table of lanes.out
---@param has { timeline: boolean, samples: boolean } what the page shows beside profiles; samples
---require a timeline
---@return profio.PageAssets
function assets.all(out, has)
   local style = "\n" .. read(out, "page.css")
   local first, rest = program(out, assets.head_scripts, has), program(out, assets.scripts, has)
   return { style = "<style>" .. style .. "</style>\n",
      head_program = "<script>" .. first .. "</script>\n",
      program = "<script>" .. rest .. "</script>\n",
      policy = markup.policy { scripts = { first, rest }, styles = { style } } }
end

return assets
