-- profio store label: sets, changes and removes labels of runs that are in a store.

local failure = require "profio.internal.command.failure"
local plain = require "profio.internal.plain"
local target = require "profio.cli.store.target"
local texts = require "profio.internal.texts"

local label = {
   name = "label",
   of = "store",
   help = "set, change or remove labels of runs",
   description = "Set labels of runs that are in a store: a run that has the label gets the new "
      .. "value. All selected runs are changed, or none.",
   usage = "profio store label --run COND... --label KEY=VALUE... STORE",
   options = { "--run", { "--all", false, "change all runs" },
      { "--label", "KEY=VALUE", "set this label", many = true },
      { "--remove", "KEY", "remove the label of this name", many = true } },
   argument = { "STORE", "a store" },
   examples = {
      { "profio store label --run host=h7 --label region=eu fleet.db",
         "the runs of a host get a label" },
      { "profio store label --run run=0f3ac8 --label version=v3 --remove old fleet.db",
         "one run, by the first digits of its hash" },
   },
}

-- Returns the labels that are set, and false for those that are removed.
local function changes_of(given)
   local labels = target.labels(given)
   for _, key in ipairs(given.remove) do
      if labels[key] then
         failure.use("label '%s' is set and removed", key)
      elseif key == "" or key:find("=", 1, true) then
         failure.use("--remove expects the name of a label, got '%s'", key)
      end
      labels[key] = false
   end
   if next(labels) == nil then
      failure.use "profio store label expects --label KEY=VALUE or --remove KEY"
   end
   return labels
end

---@param given table
---@return integer status
function label.run(given)
   local path = target.one(given)
   local labels, where = changes_of(given), target.some(given, "--run COND or --all")
   local store <close> = target.open(path, "write")
   local count = failure.check(store:label(labels, where))
   io.stdout:write(plain(path), ": ", texts.counted(count, "run"), " labelled",
      count == 0 and "; profio store ls shows the runs, and profio store labels the labels" or "",
      "\n")
   return count > 0 and failure.READ or failure.NOTHING
end

return label
