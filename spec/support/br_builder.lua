-- Builds Business Rules! profiles for specs, byte by byte, with string.pack, independently of the
-- decoder.
--
--    br():module(1, "A.BR"):line(1, 100, 0):main():time(1500):stop():bytes()

local Builder = {}
Builder.__index = Builder

function Builder:raw(bytes)
   self[#self + 1] = bytes
   return self
end

function Builder:module(number, name)
   return self:raw((">I1I2s2"):pack(1, number, name))
end

function Builder:line(module, line, clause)
   return self:raw((">I1I2I4I1"):pack(3, module, line, clause or 0))
end

function Builder:time(spent)
   return self:raw((">I1I8"):pack(4, spent))
end

function Builder:back(module, line, clause)
   return self:raw((">I1I2I4I1"):pack(5, module, line, clause or 0))
end

function Builder:stop()
   return self:raw "\6"
end

function Builder:fn(name)
   return self:raw((">I1s1"):pack(7, name))
end

function Builder:gosub()
   return self:raw "\8"
end

function Builder:main()
   return self:raw "\9"
end

function Builder:bytes()
   return table.concat(self)
end

local function new()
   return setmetatable({}, Builder)
end

return new
