-- The commands of `profio store`. To add one, add a file beside this one and its name to this list.
-- A command is a table as a verb is: see profio.cli.verbs.

local verbs = require "profio.cli.verbs"

return verbs.listed({ "add", "ls", "labels", "trend", "changes", "top", "label", "drop", "merge",
   "export" }, "profio.cli.store")
