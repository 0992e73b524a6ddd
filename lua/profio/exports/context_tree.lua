-- Contexts of a profile as lists, for exports that write each of them: core.context_tree with what
-- those exports share. 100,000 contexts take about 0.1 s.

local core = require "profio.core"

local context_tree = {}

---@class profio.ContextTree
---@field names string[] of the frames, which are ordered by name, file and line
---@field files (string|false)[]
---@field lines integer[] 0: unknown
---@field frames integer[] of the contexts, in preorder
---@field depths integer[] from 1
---@field nodes integer[] in the order in which they were added
---@field weights integer[][] by metric; that of rows without a stack is at 0
---@field units string[] of the metrics
---@field totals integer[] of the metrics, limited to the range of integers

---Returns the tree of contexts.
---@param contexts profio.core.Contexts
---@param metrics string[] names; empty: the usual one
---@return profio.ContextTree
function context_tree.of(contexts, metrics)
   local usual = contexts:usual()
   local names = metrics[1] and metrics or { usual }
   local tree, known = core.context_tree(contexts, names), {}
   for _, metric in ipairs(contexts:metrics()) do
      known[metric.name] = metric
   end
   tree.units, tree.totals = {}, {}
   for i, name in ipairs(names) do
      tree.units[i], tree.totals[i] = known[name].unit, known[name].total
   end
   return tree
end

---Returns the contexts with one frame for each function, which is known by name and file and begins
---at the smallest line of its frames; the same contexts if none changes.
---@param contexts profio.core.Contexts
---@return profio.core.Contexts
function context_tree.by_function(contexts)
   local frames, lines, renamed = contexts:frames(), {}, {}
   for _, frame in ipairs(frames) do
      local file = frame.file or false
      local of_file = lines[file] or {}
      lines[file] = of_file
      local known = of_file[frame["function"]]
      if not known or (frame.line or known) < known then
         of_file[frame["function"]] = frame.line
      end
   end
   for _, frame in ipairs(frames) do
      local line = lines[frame.file or false][frame["function"]]
      if line ~= frame.line then
         frame.line, renamed[frame.number] = line, frame
      end
   end
   return next(renamed) and assert(contexts:rename(renamed, true)) or contexts
end

---Returns a message if a weight is below 0: the export cannot show it.
---@param tree profio.ContextTree
---@param message string
---@return string|nil
function context_tree.refused(tree, message)
   for _, weights in ipairs(tree.weights) do
      for i = 0, #weights do
         if weights[i] < 0 then
            return message
         end
      end
   end
   return nil
end

---Returns texts as JSON strings.
---@param list string[]
---@return string[]
function context_tree.json(list)
   local rows, result = {}, {}
   for i, text in ipairs(list) do
      rows[i] = { text }
   end
   local text = core.write_listing(core.rows_reader({ { "text", "name" } }, rows),
      { template = "{text:json}\n" })
   for line in text:gmatch "[^\n]+" do
      result[#result + 1] = line
   end
   return result
end

---Returns the results of a function for each text of a list.
---@param list string[]
---@param f fun(text: string, ...): string
---@param ... any
---@return string[]
function context_tree.each(list, f, ...)
   local result = {}
   for i, text in ipairs(list) do
      result[i] = f(text, ...)
   end
   return result
end

---Returns a text with some of its characters replaced, bytes that are not UTF-8 as U+FFFD, and
---control characters as blanks.
---@param text string
---@param replaced table<string, string>|nil
---@return string
function context_tree.plain(text, replaced)
   local parts, at = {}, 1
   local count, bad = utf8.len(text)
   while not count do
      parts[#parts + 1] = text:sub(at, bad - 1) .. "\u{fffd}"
      at = bad + 1
      count, bad = utf8.len(text, at)
   end
   parts[#parts + 1] = text:sub(at)
   text = table.concat(parts)
   text = replaced and text:gsub("[ ;]", replaced) or text
   return (text:gsub("[\0-\31\127]", " "))
end

return context_tree
