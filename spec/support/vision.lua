-- Distances of colours as people see them: CIEDE2000, also for people without one kind of cones
-- (Machado, Oliveira and Fernandes 2009, severity 1).

local vision = {}

-- Linear red, green and blue as people see them, by rows.
local simulations = {
   normal = { 1, 0, 0, 0, 1, 0, 0, 0, 1 },
   protanopia = { 0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882,
      -0.048116, 1.051998 },
   deuteranopia = { 0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820,
      0.042940, 0.968881 },
   tritanopia = { 1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733,
      0.691367, 0.303900 },
}

-- sRGB to XYZ with the white point D65.
local to_xyz = { 0.4124564, 0.3575761, 0.1804375, 0.2126729, 0.7151522, 0.0721750, 0.0193339,
   0.1191920, 0.9503041 }
local white = { 0.95047, 1, 1.08883 }

local function product(matrix, vector)
   local result = {}
   for row = 0, 2 do
      result[row + 1] = matrix[3 * row + 1] * vector[1] + matrix[3 * row + 2] * vector[2]
         + matrix[3 * row + 3] * vector[3]
   end
   return result
end

local function linear(value)
   value = value / 255
   return value <= 0.04045 and value / 12.92 or ((value + 0.055) / 1.055) ^ 2.4
end

---Returns the kinds of vision.
---@return string[]
function vision.kinds()
   local list = {}
   for name in pairs(simulations) do
      list[#list + 1] = name
   end
   table.sort(list)
   return list
end

---Returns L*, a* and b* of a colour as people of a kind see it.
---@param color number[] red, green, blue, 0 to 255
---@param kind string of vision.kinds
---@return number[]
function vision.lab(color, kind)
   local seen = product(simulations[kind], { linear(color[1]), linear(color[2]),
      linear(color[3]) })
   for i, value in ipairs(seen) do
      seen[i] = math.max(0, math.min(1, value))
   end
   local f = {}
   for i, value in ipairs(product(to_xyz, seen)) do
      local part = value / white[i]
      f[i] = part > 216 / 24389 and part ^ (1 / 3) or (24389 / 27 * part + 16) / 116
   end
   return { 116 * f[2] - 16, 500 * (f[1] - f[2]), 200 * (f[2] - f[3]) }
end

local function chroma(a, b)
   return math.sqrt(a * a + b * b)
end

-- Returns the weight of high chroma.
local function saturation(value)
   return math.sqrt(value ^ 7 / (value ^ 7 + 25 ^ 7))
end

-- Returns the difference of two hues and their mean, in degrees.
local function hues(one, other)
   local step, mean = other - one, (one + other) / 2
   if math.abs(step) > 180 then
      mean = mean + (one + other < 360 and 180 or -180)
      step = step + (step < 0 and 360 or -360)
   end
   return step, mean
end

local function hue(a, b)
   return a == 0 and b == 0 and 0 or math.deg(math.atan(b, a)) % 360
end

---Returns the distance CIEDE2000 of two colours.
---@param one number[] L*, a*, b*
---@param other number[]
---@return number
function vision.distance(one, other)
   local stretch = 1 + 0.5 * (1 - saturation((chroma(one[2], one[3])
      + chroma(other[2], other[3])) / 2))
   local a, b = one[2] * stretch, other[2] * stretch
   local c1, c2 = chroma(a, one[3]), chroma(b, other[3])
   local step, h = hues(hue(a, one[3]), hue(b, other[3]))
   if c1 * c2 == 0 then
      step, h = 0, hue(a, one[3]) + hue(b, other[3])
   end
   local c, l = (c1 + c2) / 2, (one[1] + other[1]) / 2 - 50
   local function cos(degrees)
      return math.cos(math.rad(degrees))
   end
   local t = 1 - 0.17 * cos(h - 30) + 0.24 * cos(2 * h) + 0.32 * cos(3 * h + 6)
      - 0.2 * cos(4 * h - 63)
   local turn = -2 * saturation(c) * math.sin(math.rad(60 * math.exp(-((h - 275) / 25) ^ 2)))
   local dl = (other[1] - one[1]) / (1 + 0.015 * l * l / math.sqrt(20 + l * l))
   local dc = (c2 - c1) / (1 + 0.045 * c)
   local dh = 2 * math.sqrt(c1 * c2) * math.sin(math.rad(step / 2)) / (1 + 0.015 * c * t)
   return math.sqrt(dl * dl + dc * dc + dh * dh + turn * dc * dh)
end

---Returns the contrast of two colours as WCAG defines it, 1 to 21.
---@param one number[] red, green, blue, 0 to 255
---@param other number[]
---@return number
function vision.contrast(one, other)
   local function light(color)
      return 0.2126 * linear(color[1]) + 0.7152 * linear(color[2]) + 0.0722 * linear(color[3])
   end
   local a, b = light(one) + 0.05, light(other) + 0.05
   return math.max(a, b) / math.min(a, b)
end

return vision
