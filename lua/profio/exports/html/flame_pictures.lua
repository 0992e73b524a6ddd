-- The flame graph of a page; of a difference three of them, of which a switch shows one: the
-- change, and both sides in one scale.

local compared = require "profio.exports.compared"
local svg = require "profio.exports.svg"

local pictures = {}

-- A picture is visible if its button is on. It has no width before, so it is drawn again then.
local style = [[
<style>.pictures>div{display:none}
.pictures>input{width:auto;margin:0 6px}.pictures>label{margin-right:16px}
#shown-change:checked~.change,#shown-before:checked~.before,#shown-after:checked~.after{
display:block}</style>
]]

local script = [[
<script>document.querySelector('.pictures').addEventListener('change', function () {
  window.dispatchEvent(new Event('resize'));
});</script>
]]

local words <const> = { "change", "before", "after" }

-- Returns the options of svg.write_element.
local function options_of(metric, widths, title, scale)
   return { metric = metric.name, width = 1200, rows = 120, min_width = 0.5, icicle = true,
      title = title, widths = widths, scale = scale }
end

local function put_three(out, profile, sides, metric, widths)
   out:write(style, '<div class="pictures" role="radiogroup" aria-labelledby="flames">\n')
   for _, word in ipairs(words) do
      out:write(('<input type="radio" name="shown" id="shown-%s"%s><label for="shown-%s">%s</label>'
         .. "\n"):format(word, word == "change" and " checked" or "", word, word))
   end
   out:write '<div class="change">'
   out:call(svg.write_element, profile, options_of(metric, widths, "change of " .. metric.name))
   out:write "</div>\n"
   for _, side in ipairs(sides) do
      out:write(('<div class="%s">'):format(side.word))
      out:call(svg.write_element, side.profile, options_of(metric, widths,
         ("%s: %s"):format(side.word, metric.name), side.scale))
      out:write "</div>\n"
   end
   out:write("</div>\n", script)
end

---Writes the flame graph, or the three of a difference.
---@param out table lanes.out
---@param profile profio.Profile
---@param metric { name: string }
---@param widths "new"|"both"|nil of a difference
function pictures.write(out, profile, metric, widths)
   local sides = compared.sides(profile, metric.name)
   out:write '<h2 id="flames">Flame graph</h2>\n'
   if sides then
      put_three(out, profile, sides, metric, widths)
   else
      out:call(svg.write_element, profile, options_of(metric, widths, metric.name))
   end
   out:write '<p class="note">Click a frame to zoom in.</p>\n'
end

return pictures
