-- The names of all exports of profiles and traces. Specs that try every export take them from here,
-- so that they try a new one, too.

local exports = require "profio.internal.exporting.export_list"

local kinds = {}

for _, export in ipairs(exports.all()) do
   kinds[#kinds + 1] = export.takes ~= "rows" and export.name or nil
end

return kinds
