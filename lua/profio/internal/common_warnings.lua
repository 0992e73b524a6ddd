-- Warnings that belong to no format: of packed files, of rings, of names, of computed columns and
-- of profiles.

local common = {}

common.warnings = {
   ["anonymised-alone"] = "a file beside the trace is not written with it",
   ["anonymised-dropped"] = "bytes that cannot be read are left out of the anonymised file",
   ["anonymised-longer"] = "aliases are longer than their names",
   ["anonymised-masked"] = "text that cannot be read is hidden in the anonymised file",
   ["anonymised-no-names"] = "the format has no names",
   ["anonymised-unpacked"] = "the anonymised file is not packed",
   ["calls-overlap"] = "calls begin in other calls of their lane that do not make them",
   ["calls-unmatched"] = "many calls have no enter or no leave: more than 5 %, or crossed ones",
   ["derive-overflow"] = "a computed column has numbers that are too large: they are missing",
   ["diff-means"] = "two profiles of unequal numbers of runs are compared by the means of a run",
   ["diff-rates"] = "the samples of two profiles were taken at different rates",
   ["gzip-damaged"] = "a packed file cannot be unpacked whole",
   ["gzip-truncated"] = "a packed file ends before its data do",
   ["profile-no-stack"] = "samples have no stack: no function has their weight",
   ["profile-spontaneous"] = "no call is counted of functions that take much time",
   ["profile-uncounted"] = "functions that were never called are in code without counted calls",
   ["profile-uncounted-callers"] = "functions that were never called may have uncounted callers",
   ["profile-unlocated"] = "functions that were never called have no known source file",
   ["profile-overflow"] = "weights add up to more than 64 bits hold",
   ["ring-alive"] = "the file is being written",
   ["ring-damaged"] = "the ring of an unfinished recording cannot be read whole",
   ["ring-lost"] = "records were dropped or overwritten because the ring was full",
   ["ring-recovered"] = "the program that wrote the file has not closed it; its ring was read, too",
   ["ring-restarted"] = "the system was restarted before the file was closed",
   ["rows-unordered"] = "two views are joined whose rows are not in order",
   ["symbols-no-executable"] = "there is no executable: addresses stand for functions",
}

-- The remedy for each of them: a sentence that tells users how to proceed.
common.remedies = {
   ["anonymised-alone"] = "send the trace without it, or look through that file yourself",
   ["anonymised-dropped"] = "none needed: the file shows where the damage begins; if the fault is "
      .. "in what was left out, say so",
   ["anonymised-longer"] = "none needed, unless the fault depends on positions in the file",
   ["anonymised-masked"] = "none needed: its length and punctuation stay",
   ["anonymised-no-names"] = "none needed: send the output of nm only if names may be seen",
   ["anonymised-unpacked"] = "none needed: profio reads it as it is",
   ["calls-overlap"] = "give each task and core a lane: export %CONTEXT%, or use .BIN with "
      .. "--set context_area=VARIABLE (winIDEA)",
   ["calls-unmatched"] = "give each task and core a lane: export %CONTEXT%, or use .BIN with "
      .. "--set context_area=VARIABLE (winIDEA); events may also be lost, or errors leave calls",
   ["derive-overflow"] = "use numbers with decimals in the formula: 1.0 * a * b",
   ["diff-means"] = "none needed: profile:per_run() gives the means of one side",
   ["diff-rates"] = "compare a metric of time; do not compare counts of samples",
   ["gzip-damaged"] = "transfer the file again; what could be unpacked is read",
   ["gzip-truncated"] = "transfer the file again; what could be unpacked is read",
   ["profile-no-stack"] = "none needed: shares refer to the whole, which contains them",
   ["profile-spontaneous"] = "none needed for callbacks and threads; else compile the callers "
      .. "with -pg; profio help gprof-questions",
   ["profile-uncounted"] = "compile and link every file with -g -pg; profio help gprof-questions",
   ["profile-uncounted-callers"] = "look at the callers in the source; -O0 keeps inlined calls, "
      .. "-static counts those by libraries",
   ["profile-unlocated"] = "compile and link every file with -g -pg; those of the C library stay",
   ["profile-overflow"] = "choose another metric, or fewer files",
   ["ring-alive"] = "none needed: --follow shows more records as they come",
   ["ring-damaged"] = "the records before the damage are read; a ring of another version or "
      .. "byte order can be read by that version, or on such a machine",
   ["ring-lost"] = "record with a larger ring, or with full = \"block\"",
   ["ring-recovered"] = "none needed: nothing that was committed is lost",
   ["ring-restarted"] = "record with fsync = true if a power failure may come",
   ["rows-unordered"] = "sort both views by the column first: view:sort \"time\"",
   ["symbols-no-executable"] = "give the program beside the trace, or --exe PROGRAM",
}

return common
