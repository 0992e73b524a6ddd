-- Lists of formats, reports, exports and verbs: modules that are loaded when they are first used,
-- because a command needs one or two of them. They are plug-ins: a list has their names as data and
-- says what each of them has. Only this file loads a module whose name is computed.

local catalogue = {}

---Loads a module of a list.
---@param folder string "profio.formats"
---@param name string of the module below it
---@return table
function catalogue.load(folder, name)
   return require(folder .. "." .. name)
end

---Returns the functions find, named, all and names of a list.
---@param word "report"|"export"|"verb"
---@param files string[] modules below the folder, in the order of listings; the last part of each
---is its name on the command line
---@param aliases table<string, string> further names
---@param check fun(entry: table) called when an entry is loaded
---@param folder string|nil of the modules; default: profio.reports or profio.exports
---@return table
function catalogue.list(word, files, aliases, check, folder)
   local list, file_of, names, loaded = {}, {}, {}, {}
   folder = folder or ("profio.%ss"):format(word)
   for i, file in ipairs(files) do
      names[i] = file:match "[^.]+$"
      file_of[names[i]] = file
   end

   -- Returns the entry of a name, or nil.
   function list.find(name)
      name = aliases[name] or name
      if file_of[name] and not loaded[name] then
         local entry = catalogue.load(folder, file_of[name])
         assert(entry.name == name and type(entry.help) == "string", file_of[name])
         check(entry)
         loaded[name] = entry
      end
      return loaded[name]
   end

   -- Returns the entry of a name; raises if there is none.
   function list.named(name)
      return list.find(name) or error(("no %s '%s'; there are: %s"):format(word, tostring(name),
         list.names()), 0)
   end

   -- Returns all entries in order.
   function list.all()
      local all = {}
      for i, name in ipairs(names) do
         all[i] = list.find(name)
      end
      return all
   end

   -- Returns their names for messages: "csv, tsv, ...".
   function list.names()
      return table.concat(names, ", ")
   end

   return list
end

return catalogue
