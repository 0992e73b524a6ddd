-- profio view: the page of --export html in a temporary file, opened by the browser.

local failure = require "profio.internal.command.failure"
local core = require "profio.core"
local messages = require "profio.cli.messages"
local verbs = require "profio.cli.verbs"

local view = {
   name = "view",
   help = "show a trace as a page in the browser",
   description = "Write the page of --export html into a private temporary folder, and open it "
      .. "with xdg-open. Without xdg-open or a display the path of the page is printed.",
   usage = "profio view [options] FILE...",
   options = { "--diff", "--from", "--to", "--lane", "--focus", "--ignore", "--hide", "--metric",
      "--chain", "--source", "--exe", "--set" },
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

---Creates the folder of the page, which only this user can enter, and makes the page the output.
---@param given table
---@return table page its end removes the folder if the page was not written
function view.prepare_output(given)
   local folder, message = core.temporary_folder()
   if not folder then
      failure.raise(failure.NOTHING, "view: " .. message)
   end
   given.out = folder .. "/profio.html"
   return setmetatable({}, { __close = function()
      core.remove_folder(folder) -- if it is empty
   end })
end

---Opens the page, or prints its path.
---@param given table
---@param err file*
function view.finish(given, err)
   if core.open_page(given.out) then
      messages.say(err, "the page is " .. given.out)
   elseif not io.stdout:write(given.out, "\n") then
      failure.raise(failure.NOTHING, "cannot write the path of the page")
   end
end

return view
