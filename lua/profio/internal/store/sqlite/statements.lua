-- Runs statements in the database of a store, and raises their failures.

local problem = require "profio.internal.store.problem"

local statements = {}

---Runs a statement.
---@param self profio.SqliteEngine
---@param sql string
---@param ... string|integer|number|nil values of its parameters
---@return integer count of changed rows
function statements.run(self, sql, ...)
   return problem.check(self.db:run(sql, ...))
end

---Iterates over the rows of a query, whose first column is never NULL.
---@param self profio.SqliteEngine
---@param sql string
---@param ... string|integer|number|nil values of its parameters
function statements.rows(self, sql, ...)
   return problem.check(self.db:rows(sql, ...))
end

---Returns the first column of the first row of a query; nil: it has no rows.
---@param self profio.SqliteEngine
---@param sql string
---@param ... string|integer|number|nil values of its parameters
function statements.value(self, sql, ...)
   local found
   for first in statements.rows(self, sql, ...) do
      found = found == nil and first or found
   end
   return found
end

return statements
