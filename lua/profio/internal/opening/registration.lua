-- Formats of users: checks what profio.register gets.

local registration = {}

-- The types that columns of registered tables may have.
local types = { int = true, num = true, addr = true, handle = true, bool = true, name = true,
   area = true, bytes = true }

local function check_field(name, field)
   if type(field) ~= "table" or type(field[1]) ~= "string" or type(field[2]) ~= "string" then
      error(("register: a column of table '%s' must be { name, type }"):format(name), 0)
   elseif field[2] == "stack" then
      error(("register: column '%s' of table '%s': a decoder in Lua gives no stacks; give events, "
         .. "or texts 'main;f;g' and profile = { table = \"%s\", folded = \"%s\" }"):format(
         field[1], name, name, field[1]), 0)
   elseif not types[field[2]] then
      local names = {}
      for known in pairs(types) do
         names[#names + 1] = known
      end
      table.sort(names)
      error(("register: column '%s' of table '%s': no type '%s'; there are: %s"):format(field[1],
         name, field[2], table.concat(names, ", ")), 0)
   end
end

local function check_tables(format)
   if type(format.tables) ~= "table" or next(format.tables) == nil then
      error("register: 'tables' must be { name = { {column, type}, ... } }", 0)
   end
   for name, fields in pairs(format.tables) do
      if type(name) ~= "string" or type(fields) ~= "table" or #fields == 0 then
         error("register: table '" .. tostring(name) .. "' must be { {column, type}, ... }", 0)
      end
      local known = {}
      for _, field in ipairs(fields) do
         check_field(name, field)
         if known[field[1]] then
            error(("register: table '%s' has two columns '%s'"):format(name, field[1]), 0)
         end
         known[field[1]] = true
      end
   end
   if format.main ~= nil and not format.tables[format.main] then
      error(("register: main: no table '%s'"):format(tostring(format.main)), 0)
   end
end

-- The types that options of registered formats may have.
local option_types = { int = true, num = true, size = true, bool = true, text = true,
   choice = true, file = true }

local function check_options(list)
   for _, option in ipairs(list or {}) do
      if type(option) ~= "table" or type(option.name) ~= "string" or not option_types[option.type]
         or option.type == "choice" and type(option.choices) ~= "table" then
         error("register: an option must be { name =, type =, help = } with the type int, num, "
            .. "size, bool, text, file or, with choices = { ... }, choice", 0)
      end
   end
end

local function check_encoder(format)
   for _, name in ipairs { "encode", "check" } do
      if format[name] ~= nil and type(format[name]) ~= "function" then
         error(("register: '%s' must be a function"):format(name), 0)
      end
   end
   if (format.write_options or format.check) and not format.encode then
      error("register: write_options and check are those of encode, which is missing", 0)
   end
   check_options(format.write_options)
end

-- Checks a column that `profile` names; returns whether there is one.
local function check_profile_column(format, key)
   local profile = format.profile
   local wanted = profile[key]
   for _, field in ipairs(wanted and format.tables[profile.table] or {}) do
      if field[1] == wanted then
         local is_name = field[2] == "name"
         if key ~= "line" and not is_name then
            error(("register: profile: column '%s' must be of type name"):format(wanted), 0)
         end
         return true
      end
   end
   if wanted then
      error(("register: profile: table '%s' has no column '%s'"):format(profile.table,
         tostring(wanted)), 0)
   end
   return false
end

-- Checks the field `profile` of a format: the table and the columns from which a profile is built.
-- A function is not called here, because it needs an opened file.
local function check_profile(format)
   local profile = format.profile
   if profile == nil or type(profile) == "function" then
      return
   elseif type(profile) ~= "table" or not format.tables[profile.table] then
      error("register: profile must be { table = one of tables, metrics = ..., folded = ... }", 0)
   elseif type(profile.metrics) ~= "table" or #profile.metrics == 0 then
      error("register: profile: metrics must be { { name =, unit =, column = }, ... }", 0)
   end
   local has_stack = check_profile_column(format, "folded")
   local has_function = check_profile_column(format, "function")
   if not has_stack and not has_function then
      error("register: profile must have folded or function, a column of names", 0)
   end
   for _, key in ipairs { "caller", "file", "line" } do
      check_profile_column(format, key)
   end
end

---Checks the tables, the options and the profile of a format, and returns it for the registry.
---@param format table with a name, score and open
---@return table
function registration.entry(format)
   check_tables(format)
   check_options(format.options)
   check_encoder(format)
   check_profile(format)
   return {
      name = format.name,
      help = format.help or "registered format",
      options = format.options or {},
      warnings = format.warnings or {},
      score = format.score,
      open = format.open,
      encode = format.encode,
      check = format.check,
      write_options = format.encode and (format.write_options or {}),
      tables = format.tables,
      main = format.main,
      addresses = format.addresses,
      profile = format.profile,
      registered = true,
   }
end

return registration
