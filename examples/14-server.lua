-- A server that is always sampled, and gives its profile as servers in Go do:
--
--    lua5.4 14-server.lua 8080 &
--    go tool pprof -top 'http://127.0.0.1:8080/debug/pprof/profile?seconds=5'

local recorder = require "profio.recorder"
local socket = require "socket"

assert(recorder.start { mode = "sampled", keep = "60s", clock = "wall" })

local function respond(client)
   local path, body = client:receive():match "^GET (%S+)", ("Lua "):rep(200000):upper()
   if path:find("/debug/pprof/profile", 1, true) then
      local seconds = path:match "seconds=(%d+)" or "30"
      local stop = socket.gettime() + seconds
      repeat coroutine.yield(false) until socket.gettime() >= stop
      recorder.dump(function(bytes) body = bytes end, { last = seconds .. "s" })
   end
   client:send("HTTP/1.0 200 OK\r\nContent-Length: " .. #body .. "\r\n\r\n" .. body)
   client:close()
   return true
end

local server, running = assert(socket.bind("127.0.0.1", arg[1] or 8080)), {}
server:settimeout(0.01)
while true do
   local client = server:accept()
   running[#running + 1] = client and coroutine.wrap(function() return respond(client) end)
   for i = #running, 1, -1 do
      if running[i]() then table.remove(running, i) end
   end
end
