-- The HTTP client of profio.store against servers that answer with given bytes, and against
-- ClickHouse.
--
-- Long: many commands or rows, or programs that are compiled.
-- Costly: many commands.

local clickhouse = require "spec.support.clickhouse"
local command = require "spec.support.command"
local sqlite = require "spec.support.sqlite"
local core = require "profio.core"
local native = require "profio.store"

local folder = sqlite.folder "http"
local client = native.http()

-- Returns the first result of an answer with these bytes, or nil, message, code.
local function answered(bytes, request)
   local port, _ <close> = clickhouse.answering(folder, { bytes })
   request = request or {}
   request.url, request.label = ("http://127.0.0.1:%d/"):format(port), "server"
   local list, message, code = client:exchange { request }
   return list and list[1], message, code
end

describe("an answer", function()
   it("is complete with its size, or with the last chunk", function()
      assert.equal("abc", answered "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc")
      assert.equal("", answered "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
      assert.equal("abcd\0", answered("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
         .. "3\r\nabc\r\n2\r\nd\0\r\n0\r\n\r\n"))
   end)

   it("that ends early, or has no end, is no answer", function()
      for _, bytes in ipairs { "", "HTTP/1.1 200 OK\r\n",
         "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc",
         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab",
         "HTTP/1.1 200 OK\r\n\r\nabc" } do
         local got, message, code = answered(bytes)
         assert.is_nil(got)
         assert.matches("^server: the server's answer", message)
         assert.equal("truncated", code, bytes)
      end
   end)

   it("that is no answer of HTTP fails", function()
      for bytes, expected in pairs { ["SSH-2.0-OpenSSH\r\n"] = "io",
         ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"] = "truncated" } do
         local got, _, code = answered(bytes)
         assert.is_nil(got)
         assert.equal(expected, code)
      end
   end)

   it("with another status is a failure with the text of the server, in one line", function()
      local got, message, code = answered("HTTP/1.1 500 Error\r\nContent-Length: 17\r\n\r\n"
         .. "Code: 60.\n\27[1m\tX\n")
      assert.is_nil(got)
      assert.equal("server: the server refuses: Code: 60. [1m X", message)
      assert.equal("io", code)
      assert.matches("does not say why",
         select(2, answered "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"))
      assert.matches("server refuses: Moved", (select(2, answered("HTTP/1.1 302 Moved\r\n"
         .. "Location: http://127.0.0.1:1/\r\nContent-Length: 5\r\n\r\nMoved"))))
      assert.is_nil(answered("HTTP/1.1 200 OK\r\nX-ClickHouse-Exception-Code: 241\r\n"
         .. "Content-Length: 3\r\n\r\nabc"))
   end)

   it("has a time limit", function()
      local port, _ <close> = clickhouse.answering(folder, {})
      local got, message, code = client:exchange { { url = ("http://127.0.0.1:%d/"):format(port),
         timeout = 1 } }
      assert.is_nil(got)
      assert.matches("no answer in time.*timeout=SECONDS", message)
      assert.equal("io", code)
   end)
end)

describe("requests", function()
   it("are checked", function()
      for _, request in ipairs { {}, { url = "http://127.0.0.1:1/", timeout = 0 },
         { url = "http://127.0.0.1:1/", user = "a\r\nHost: b" },
         { url = "http://127.0.0.1:1/", files = { { data = "x" } } },
         { url = "http://127.0.0.1:1/", files = { { name = "x" } } }, 7 } do
         assert.has_error(function() client:exchange { request } end)
      end
      assert.same({}, client:exchange {})
      for _, url in ipairs { "file:///etc/passwd", "https://127.0.0.1:1/", "" } do
         assert.equal("io", select(3, client:exchange { { url = url } }))
      end
      assert.matches("^down: no answer: ",
         select(2, client:exchange { { url = "http://127.0.0.1:1/", label = "down" } }))
   end)

   it("fail together, by the one that has failed", function()
      local port, _ <close> = clickhouse.answering(folder,
         { "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc" })
      local good = { url = ("http://127.0.0.1:%d/"):format(port), label = "good" }
      assert.same({ "abc", "abc", "abc" }, client:exchange { good, good, good })
      assert.matches("^bad: ", select(2, client:exchange { good,
         { url = "http://127.0.0.1:1/", label = "bad" }, good }))
   end)

   it("may be sent while others wait, and end with their client", function()
      local port, _ <close> = clickhouse.answering(folder,
         { "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc" })
      local good = { url = ("http://127.0.0.1:%d/"):format(port), label = "good" }
      local sent = client:send { good, good }
      sent:step()
      assert.same({ "abc" }, client:exchange { good })
      assert.same({ "abc", "abc" }, sent:wait())
      assert.error_matches(function() sent:wait() end, "requests have ended")
      sent:step()
      assert.matches("^bad: no answer", select(2, client:send { good,
         { url = "http://127.0.0.1:1/", label = "bad" } }:wait()))
      local silent, _ <close> = clickhouse.answering(folder, {})
      local waiting = { url = ("http://127.0.0.1:%d/"):format(silent), body = ("x"):rep(1 << 20) }
      client:send { waiting }:close()
      local closing = native.http()
      local left = { closing:send { waiting, waiting }, closing:send { waiting } }
      left[1] = nil
      collectgarbage()
      closing:close()
      assert.matches("client was closed", select(2, left[2]:wait()))
      assert.same({ "abc" }, client:exchange { good })
   end)

   it("end soon after Ctrl-C, held back or not", function()
      local port, _ <close> = clickhouse.answering(folder, {})
      local request = { url = ("http://127.0.0.1:%d/"):format(port), label = "slow", timeout = 600 }
      local interrupt = core.interrupt()
      assert(io.popen "kill -INT $PPID"):close()
      local got, message, code = client:exchange { request }
      assert.is_true(interrupt:release())
      assert.is_nil(got)
      assert.equal("slow: interrupted by Ctrl-C", message)
      assert.equal("io", code)
      local _, ended_with = command.run(([[cd '%s' && LUA_PATH='%s' LUA_CPATH='%s' lua5.4 -e '
         require "profio.core"
         local client = require("profio.store").http()
         io.open("%s/begun", "w"):close()
         client:exchange { { url = "%s", timeout = 600 } }' >/dev/null 2>&1 & pid=$!
         wait_until "test -e '%s/begun'"; kill -INT $pid; wait $pid]]):format(
         command.root, package.path, package.cpath, folder, request.url, folder))
      assert.equal(1, ended_with)
   end)

   it("end after a Ctrl-C that the interpreter has handled just before them", function()
      local port, _ <close> = clickhouse.answering(folder, {})
      local interrupt <close> = core.interrupt()
      assert(io.popen "kill -INT $PPID"):close()
      assert.is_true(interrupt:wait(0)) -- the next one ends the process, as after that handler
      local hook, mask, count = debug.gethook()
      debug.sethook(function() end, "crl", 1) -- its hook
      local _, message = client:exchange { { url = ("http://127.0.0.1:%d/"):format(port),
         label = "slow", timeout = 5 } }
      debug.sethook(hook, mask, count)
      assert.equal("slow: interrupted by Ctrl-C", message)
   end)

   it("are not sent by a client that is closed", function()
      local closed = native.http()
      closed:close()
      closed:close()
      assert.error_matches(function() closed:exchange {} end, "client is closed")
   end)
end)

if not clickhouse.is_installed() then
   pending "requests to ClickHouse (needs clickhouse-server)"
   return
end

describe("ClickHouse", function()
   local server

   setup(function()
      server = clickhouse.servers("http", 1, { https = true })[1]
   end)

   teardown(function()
      server:close()
   end)

   local function ask(sql, request)
      request = request or {}
      request.url = ("%s://127.0.0.1:%d/?wait_end_of_query=1&query=%s%s"):format(
         request.is_encrypted and "https" or "http",
         request.is_encrypted and server.https or server.http, sql:gsub("%W", function(byte)
            return ("%%%02X"):format(byte:byte())
         end), request.more or "")
      request.user = request.user or "fleet"
      request.password = request.password or "secret"
      local list, message, code = client:exchange { request }
      return list and list[1], message, code
   end

   it("answers, also to tables in files", function()
      assert.equal("1\n", ask "SELECT 1")
      local any = "'\\\n\0{}\xff--"
      local rows = string.pack("s1", any) .. string.pack("<I1I1", 0x80, 8) .. ("x"):rep(1024)
      assert.equal("\2" .. string.pack("s1", any), (ask("SELECT toUInt8(count()), min(v) FROM t "
         .. "FORMAT RowBinary", { more = "&t_structure=v%20String&t_format=RowBinary",
         files = { { name = "t", data = rows } } })))
      assert.equal(3 + (1 << 20), #ask("SELECT arrayStringConcat(arrayMap(x -> 'x', "
         .. "range(1048576))) FORMAT RowBinary"))
   end)

   it("takes rows in the body", function()
      assert.equal("", ask "CREATE TABLE t (v UInt64) ENGINE = Memory")
      assert.equal("", ask("INSERT INTO t FORMAT RowBinary", { body = string.pack("<I8I8", 3, 4) }))
      assert.equal("7\n", server:ask "SELECT sum(v) FROM t")
      local got, message = ask("INSERT INTO t FORMAT RowBinary", { body = "abc" })
      assert.is_nil(got)
      assert.matches("server refuses: Code: 33", message)
   end)

   it("refuses wrong users and passwords", function()
      for _, request in ipairs { { password = "wrong" }, { user = "nobody" }, { password = "" } } do
         local got, message, code = ask("SELECT 1", request)
         assert.is_nil(got)
         assert.matches("wrong user or password %(PROFIO_STORE_PASSWORD", message)
         assert.equal("io", code)
      end
   end)

   it("reports errors that it finds late instead of rows", function()
      local got, message = ask "SELECT throwIf(number = 1000000) FROM numbers(2000000)"
      assert.is_nil(got)
      assert.matches("server refuses: Code: 395", message)
   end)

   it("must have a certificate that is trusted", function()
      local got, message, code = ask("SELECT 7", { is_encrypted = true })
      assert.is_nil(got)
      assert.matches("certificate is not trusted: .*ca=FILE", message)
      assert.equal("io", code)
      assert.equal("7\n", ask("SELECT 7", { is_encrypted = true,
         ca = server.folder .. "/cert.pem" }))
      clickhouse.certificate(folder)
      assert.matches("certificate is not trusted", select(2, ask("SELECT 7",
         { is_encrypted = true, ca = folder .. "/cert.pem" })))
   end)
end)
