-- The symbols by which the profile of a trace is built.

local later = require "profio.internal.later"
local symbols = later "profio.internal.symbols"

local trace_symbols = {}

-- Opens the symbols of a trace again, with another rule or to be split by line.
local function open_again(state, rule)
   if not state.symbols.packed then
      return assert(symbols.open {
         exe = state.options.exe, symbols = state.options.symbols, dictionary = state.dictionary,
         max_size = state.options.max_size, rule = rule,
      })
   elseif rule == "gprof" then
      error("gprof chooses symbols by other rules than those that are stored: give the executable "
         .. "(--exe)", 0)
   end
   return assert(symbols.unpack(state.symbols.packed, state.dictionary))
end

local function note_no_names(state)
   if state.noted_no_names then
      return
   end
   state.noted_no_names = true
   for _, note in ipairs(state.notes) do
      if note.code:match "^symbols%-" then
         return -- a note gives the reason already
      end
   end
   state.notes[#state.notes + 1] = { code = "symbols-no-executable", kind = "note",
      message = "no executable: addresses stand for functions; exe = PATH names it" }
end

---Returns the symbols of a trace for gprof's or exact arithmetic, by function or by line. Symbols
---other than those the trace was opened with are opened on demand and kept. Without an executable
---adds a note and returns nil.
---@param state table of the trace
---@param is_compat boolean
---@param by_line boolean|nil
---@return table|nil
function trace_symbols.picked(state, is_compat, by_line)
   if not state.symbols then
      note_no_names(state)
      return nil
   end
   local rule = is_compat and "gprof" or "exact"
   local opened = state.options.compat == "gprof" and "gprof" or "exact"
   if rule == opened and not by_line then
      return state.symbols
   end
   local key = by_line and rule .. " by line" or rule
   if not state.other_symbols[key] then
      local other = open_again(state, rule)
      if by_line then
         other.symbols:by_line()
      end
      state.other_symbols[key] = other
   end
   return state.other_symbols[key]
end

return trace_symbols
