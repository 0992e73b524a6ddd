-- The terminal output of busted, and a closing line "N passed, N failed, N skipped".

return function(options)
   local busted = require "busted"
   local handler = require "busted.outputHandlers.plainTerminal"(options)
   busted.subscribe({ "exit" }, function()
      io.write(("\n%d passed, %d failed, %d skipped\n"):format(
         handler.successesCount, handler.failuresCount + handler.errorsCount,
         handler.pendingsCount))
      return nil, true
   end, { priority = 1 })
   return handler
end
