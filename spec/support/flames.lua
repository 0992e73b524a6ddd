-- Reads a flame graph: the data for its script, and the picture, which must agree.

local flames = {}

local entities = { amp = "&", lt = "<", gt = ">", quot = '"' }

local function block(svg, name)
   local list = {}
   local text = svg:match('<metadata class="' .. name .. '">(.-)</metadata>') or ""
   for line in text:gmatch "([^\n]*)\n" do
      list[#list + 1] = line:gsub("&(%l+);", entities)
   end
   return list
end

-- Returns the rectangles of each path as "x width", with the colour of the path.
local function drawn(svg)
   local list = {}
   for color, path in svg:gmatch '<path fill="(#%x+)" d="([^"]*)"/>' do
      local boxes = { color = color }
      for x, y, width in path:gmatch "M([%d.]+) ([%d.]+)h([%d.]+)v16h%-[%d.]+z" do
         boxes[#boxes + 1] = ("%.1f %d %.1f"):format(x, y, width)
      end
      table.sort(boxes)
      list[#list + 1] = boxes
   end
   return list
end

---Returns the frames in depth-first order. Raises if the picture is not that of the data.
---@param svg string
---@return table[] { name, depth, x, width, color, total, self, before } x and width: parts of the
---root; before: nil unless it is a difference
function flames.read(svg)
   local names, list, expected = block(svg, "names"), {}, {}
   local paths = drawn(svg)
   local wide, edge = svg:match ' width="(%d+)"', svg:match ' data%-edge="(%d+)"'
   local inner = (wide - 2 * edge) * svg:match ' data%-scale="([%d.e+-]+)"'
   local root, row, up = svg:match ' data%-root="(%d+)"', svg:match ' data%-row="(%d+)"',
      svg:find(' data-upward="true"', 1, true)
   for _, line in ipairs(block(svg, "frames")) do
      local depth, x, width, name, path, total, self, before = line:match
         "^(%d+) (%d+) (%d+) (%d+) (%d+) (%-?%d+) (%-?%d+) ?(%-?%d*)$"
      depth, x, width = tonumber(depth), x / 1e7, width / 1e7
      list[#list + 1] = { name = names[name + 1], depth = depth, x = x, width = width,
         color = paths[path + 1].color, total = math.tointeger(total),
         self = math.tointeger(self), before = math.tointeger(before) }
      local boxes = expected[path + 1] or { color = paths[path + 1].color }
      expected[path + 1] = boxes
      local pixels = width * inner
      boxes[#boxes + 1] = ("%.1f %d %.1f"):format(edge + x * inner, up and root - (depth + 1) * row
         or root + depth * row, pixels < 2 and pixels or pixels - 0.5) -- the border
   end
   for i, boxes in ipairs(expected) do
      table.sort(boxes)
      for k, box in ipairs(boxes) do -- both are rounded
         local x, y, width = box:match "(%S+) (%S+) (%S+)"
         local found_x, found_y, found_width = paths[i][k]:match "(%S+) (%S+) (%S+)"
         assert(math.abs(x - found_x) < 0.2 and y == found_y
            and math.abs(width - found_width) < 0.2, "a frame is drawn elsewhere")
      end
      assert(#boxes == #paths[i], "a path has other frames than the data")
   end
   return list
end

return flames
