-- profio view: the page of --export html in a temporary file, opened by the browser.

local failure = require "profio.internal.command.failure"
local lfs = require "lfs"
local messages = require "profio.cli.messages"
local verbs = require "profio.cli.verbs"

local view = {
   name = "view",
   help = "show a trace as a page in the browser",
   description = "Write the page of --export html into a private temporary folder, and open it "
      .. "with xdg-open. Without xdg-open or a display the path of the page is printed.",
   usage = "profio view [options] FILE...",
   options = { "--diff", "--from", "--to", "--lane", "--focus", "--ignore", "--hide", "--metric",
      "--source", "--exe", "--set" },
   argument = { "FILE", "traces of one format and their executable" },
   examples = {
      { "profio view program gmon.out", "functions, flame graph and hot lines" },
      { "profio view --diff old.pb.gz new.pb.gz", "what became slower" },
   },
}

view.more = verbs.joined({ "--compat" }, verbs.older, verbs.opening)

function view.prepare(given)
   given.export = "html"
end

-- Runs a line of shell; returns its first line, or nil if it fails.
local function answer_of(line)
   local pipe <close> = assert(io.popen(line .. " 2>/dev/null"))
   local text = pipe:read "l"
   return text ~= "" and text or nil
end

local function quoted(path)
   return "'" .. path:gsub("'", "'\\''") .. "'"
end

---Creates the folder and the empty file of the page, which only this user can read, and makes the
---file the output, which keeps its permissions.
---@param given table
---@return table page its end removes both if the page was not written
function view.prepare_output(given)
   local folder = answer_of('umask 077; page=$(mktemp -d "${TMPDIR:-/tmp}/profio-XXXXXXXX") && '
      .. ': >"$page/profio.html" && echo "$page"')
   if not folder then
      failure.raise(failure.NOTHING, "view: cannot create a folder in "
         .. (os.getenv "TMPDIR" or "/tmp"))
   end
   given.out = folder .. "/profio.html"
   return setmetatable({}, { __close = function()
      if lfs.attributes(given.out, "size") == 0 then
         os.remove(given.out)
         lfs.rmdir(folder)
      end
   end })
end

-- Returns whether the browser was started.
local function is_opened(path)
   local display = (os.getenv "DISPLAY" or "") .. (os.getenv "WAYLAND_DISPLAY" or "")
   return display ~= "" and os.execute "command -v xdg-open >/dev/null 2>&1"
      and os.execute(("xdg-open %s >/dev/null 2>&1 </dev/null &"):format(quoted(path))) ~= nil
end

---Opens the page, or prints its path.
---@param given table
---@param err file*
function view.finish(given, err)
   if is_opened(given.out) then
      messages.say(err, "the page is " .. given.out)
   elseif not io.stdout:write(given.out, "\n") then
      failure.raise(failure.NOTHING, "cannot write the path of the page")
   end
end

return view
