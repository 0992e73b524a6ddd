--- Writes a trace as a database: a new directory in which the profiles of one image, event, label
--- and machine are added up in one file. The naming of the files of a database was never
--- documented, since their headers identify them; ours are called EPOCH/PLATFORM/NAME-IMAGE-EVENT.

local core = require "profio.core"
local epoch_order = require "profio.formats.dcpi.epoch_order"
local texts = require "profio.internal.texts"

local merge = {}

-- {====== Groups of profiles ======

-- Returns the header fields of a file by name; `events` names all its events.
local function header_of(part)
   local header, events = {}, {}
   part:add_info(header, {})
   for i, row in ipairs(core.rows(part:reader "profiles", { "event" })) do
      events[i] = row.event or "?"
   end
   header.events = table.concat(events, "+")
   return header
end

-- Returns the groups in the order of the files: { parts =, paths =, header = of the first file,
-- epoch = the earliest one }.
local function groups_of(state, keeps_epochs)
   local list, by_key = {}, {}
   for i, part in ipairs(state.parts) do
      local header = header_of(part)
      local key = table.concat({ header.platform or "", header.image or "", header.label or "",
         header.events, keeps_epochs and epoch_order.key(header.epoch) or "" }, "\n")
      local group = by_key[key]
      if not group then
         group = { parts = {}, paths = {}, header = header, epoch = header.epoch }
         by_key[key], list[#list + 1] = group, group
      end
      table.insert(group.parts, part)
      table.insert(group.paths, state.paths[i])
      if epoch_order.key(header.epoch) < epoch_order.key(group.epoch) then
         group.epoch = header.epoch
      end
   end
   return list
end

-- Give all groups the earliest epoch.
local function join_epochs(groups)
   local earliest = groups[1].epoch
   for _, group in ipairs(groups) do
      if epoch_order.key(group.epoch) < epoch_order.key(earliest) then
         earliest = group.epoch
      end
   end
   for _, group in ipairs(groups) do
      group.epoch = earliest
   end
end

-- }======

-- {====== Files ======

local function safe(text)
   return (tostring(text):gsub("[^%w._+-]", "_"):gsub("^%.", "_"))
end

-- Returns a path that no other group has.
local function path_of(group, directory, taken)
   local header = group.header
   local name = tostring(header.name or texts.base_name(header.path or ""))
   local words = { safe(name), safe(header.image or "unknown"), safe(header.events) }
   words[#words + 1] = header.label and safe(header.label)
   local folder = ("%s/%s/%s"):format(directory, safe(group.epoch or "epoch"),
      safe(header.platform or "platform"))
   local path, number = folder .. "/" .. table.concat(words, "-"), 1
   while taken[path] do
      number = number + 1
      path = folder .. "/" .. table.concat(words, "-") .. "-" .. number
   end
   taken[path] = true
   return path
end

-- Create the missing folders of a path and append them to `folders`.
local function make_folders(path, folders)
   for at in path:gmatch "()/" do
      local folder = path:sub(1, at - 1)
      if folder ~= "" and core.kind(folder) ~= "folder" then
         local made, message, code = core.make_folder(folder)
         if not made then
            return nil, message, code
         end
         folders[#folders + 1] = folder
      end
   end
   return true
end

-- Remove files, then folders in reverse order.
local function remove(files, folders)
   for _, path in ipairs(files) do
      core.remove(path)
   end
   for i = #folders, 1, -1 do
      core.remove_folder(folders[i])
   end
end

-- Create a temporary folder in the directory, whose name begins with a dot, so that readers of the
-- database skip it. Returns its path.
local function make_stage(directory, folders)
   local made, message
   for attempt = 0, 99 do
      local number = (os.time() + attempt) * 40503 & 0xffffffff
      local stage = ("%s/.profio-%08x"):format(directory, number)
      made, message = core.make_folder(stage)
      if made then
         folders[#folders + 1] = stage
         return stage
      elseif core.kind(stage) == nil then
         break
      end
   end
   return nil, message, "io"
end

-- Move the folders from the temporary folder to their places, all or none, and remove it.
local function settle(stage, directory)
   local names, message, code = core.names_in(stage)
   for i, name in ipairs(names or {}) do
      local done
      done, message = core.move(stage .. "/" .. name, directory .. "/" .. name)
      if not done then
         for k = 1, i - 1 do
            core.move(directory .. "/" .. names[k], stage .. "/" .. names[k])
         end
         return nil, message, "io"
      end
   end
   if not names then
      return nil, message, code
   end
   core.remove_folder(stage)
   return true
end

-- Checks that a directory is empty or does not exist; else nil, message, code.
local function check_empty(directory)
   if core.kind(directory) ~= "folder" then
      return true
   end
   local names, message, code = core.names_in(directory)
   if names and names[1] then
      return nil, ("%s: dcpi: a database is written into an empty directory, and %s is in this one")
         :format(directory, names[1]), "io"
   end
   return names ~= nil, message, code
end

-- }======

-- Write one file for each group into the stage. `made` collects what was created.
local function write_groups(state, groups, stage, given, save, made)
   local taken, bytes = {}, 0
   for _, group in ipairs(groups) do
      local path = path_of(group, stage, taken)
      local epoch = group.epoch and ("epoch %s\n"):format(group.epoch) or ""
      local options = { header = epoch .. (given.header or "") }
      for name, value in pairs(given) do
         options[name] = options[name] or value
      end
      local part = setmetatable({ parts = group.parts, paths = group.paths },
         { __index = state })
      local done, message, code = make_folders(path, made.folders)
      if done then
         done, message, code = save(part, path, options)
      end
      if not done then
         return nil, message, code
      end
      made.files[#made.files + 1] = path
      bytes = bytes + done
   end
   return bytes
end

-- Create the directory if necessary, write the groups into a stage in it, and move them out.
local function write_all(state, groups, directory, given, save, made)
   local ok, message, code = make_folders(directory .. "/", made.folders)
   if not ok then
      return nil, message, code
   end
   local stage, bytes
   stage, message, code = make_stage(directory, made.folders)
   if not stage then
      return nil, message, code
   end
   bytes, message, code = write_groups(state, groups, stage, given, save, made)
   if not bytes then
      return nil, message, code
   end
   ok, message, code = settle(stage, directory)
   return ok and bytes or nil, message, code
end

---Write the profiles of a trace as a database. It appears in the directory when it is complete;
---after a failure everything that was created is removed again.
---@param state table of the trace
---@param directory string an empty directory, or a path that does not exist
---@param given table options of writing; epochs = "merged" | "kept"
---@param save fun(state: table, path: string, given: table): integer|nil, string|nil, string|nil
---@return integer|nil bytes
---@return string|nil message
---@return string|nil code
function merge.save(state, directory, given, save)
   directory = directory:gsub("(.)/+$", "%1")
   local is_free, problem, kind = check_empty(directory)
   if not is_free then
      return nil, problem, kind
   end
   local groups, made = groups_of(state, given.epochs == "kept"), { files = {}, folders = {} }
   if given.epochs ~= "kept" then
      join_epochs(groups)
   end
   local called, bytes, message, code = pcall(write_all, state, groups, directory, given, save,
      made)
   if not (called and bytes) then
      remove(made.files, made.folders)
   end
   if not called then
      error(bytes, 0)
   end
   return bytes, message, code
end

return merge
