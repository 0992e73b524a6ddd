--- Functions in Lua by which formats recognise files: internal/opening/registry.lua asks all of
--- them about each file, so they are apart from the formats, which are loaded when they are used.
---
---  main_of  function(path): the main file to which a file beside it belongs; nil or path: none
---  claims   function(path, size): whether a file belongs to a trace because of the files beside
---           it, though its bytes do not show it
---  is_open  function(path): whether a path must not be opened to detect its format
---  score    function(bytes, size, path): 0 to 100, as for profio.register
---  head     how many bytes `score` gets at most; default: 64 KiB

local later = require "profio.internal.later"
local lines = later "profio.formats.folded.stack_lines"
local packets = later "profio.formats.xpp.packets"
local pri = later "profio.formats.xpp.pri"

local recognition = {}

-- Returns whether a path may be that of a packet.
local function has_number(path)
   return path:find "%.%d+$" ~= nil
end

-- A binary timeline is written beside its mapping.
recognition[1] = { name = "winidea", main_of = function(path)
   return path:match "^(.+)%.BIN$"
end }

-- A packet of rows has no header, and the header packet of text may be empty. C recognises traces,
-- and `score` their settings.
recognition[2] = { name = "xpp", main_of = function(path)
   return has_number(path) and packets.base(path) or nil
end, claims = function(path, size)
   return (has_number(path) or size == 0) and packets.claims(path)
end, score = function(head)
   return head:upper():find("OPERATIONMODE", 1, true) and pri.score(head) or 0
end }

-- A store is a file of SQLite 3 with the application id of stores, at byte 68. One that is open in
-- this process is not opened again.
recognition[3] = { name = "store", head = 72, score = function(head)
   return head:sub(1, 16) == "SQLite format 3\0" and head:sub(69, 72) == "prfo" and 100 or 0
end, is_open = function(path)
   if path:find "^clickhouses?://" then
      return true -- an address of ClickHouse
   end
   local engines = package.loaded["profio.internal.store.engines"]
   return engines ~= nil and engines.has_open(path)
end }

-- Folded stacks: by their lines, else by the ending of the path.
recognition[4] = { name = "folded", head = 16384, score = function(head, size, path)
   local score = not head:find("\0", 1, true) and head:find(";", 1, true)
      and lines.score(head, size) or 0
   return math.max(score, (path:find "%.folded$" or path:find "%.folded%.gz$") and 1 or 0)
end }

return recognition
