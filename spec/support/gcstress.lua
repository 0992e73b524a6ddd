-- A busted helper that never lets the collector rest: a new cycle begins where
-- the last one ended, and each is over after a fraction of the heap, so an
-- object that something still needs but nothing holds is soon gone.

collectgarbage("incremental", 1, 400, 1)
