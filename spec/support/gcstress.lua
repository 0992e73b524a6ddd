-- A busted helper that never lets the collector rest: each allocation is paid
-- for with a good part of a cycle, so an object that something still needs but
-- nothing holds is gone at the very next step.

collectgarbage("incremental", 1, 1000, 1)
