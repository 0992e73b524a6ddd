-- A busted helper that runs the collector all the time: a cycle begins when the
-- last one has ended, and takes the allocation of a fraction of the heap, so an
-- object that is still in use, but that nothing refers to, is soon collected.

collectgarbage("incremental", 1, 200, 1)
