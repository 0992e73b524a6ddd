--- Options and warnings of the format chrome: the Trace Event Format.
---
--- The decoder is in csrc/formats/chrome/.

local later = require "profio.internal.later"
local span_members = later "profio.formats.anonymising.span_members"

local chrome = {}

chrome.name = "chrome"
chrome.help = "trace events of Chrome, Node.js, clang's -ftime-trace, Bazel, PyTorch, ..."
chrome.extensions = { "json", "trace" }
chrome.anonymiser = span_members

chrome.options = {
   { name = "detail", type = "text", default = "",
     help = "a member of args whose value is added to the names of events; of clang: detail" },
}

-- The end of each call is recorded, so a call that ends before those in it shows a wrong stack.
chrome.records_ends = true

chrome.first = { "statistics", "rows" }

chrome.warnings = {
   ["chrome-cut"] = "the file ends before the end of its events",
   ["chrome-event"] = "an object is no event: ph, ts or (of X) dur is missing or no number",
   ["chrome-order"] = "the events are not in the order of their start, and are sorted",
   ["chrome-overlap"] = "an event overlaps another one of its thread without lying in it",
   ["chrome-rounded"] = "two events overlap by no more than times are rounded, and one is cut",
   ["chrome-samples"] = "the file has samples of a profiler, which are not read",
   ["chrome-syntax"] = "the text is no JSON at a place",
   ["chrome-truncated"] = "the file ends inside an event",
   ["chrome-unmatched"] = "an end without a name, or of work with an id, has no begin",
}

-- The remedy for each of them.
chrome.remedies = {
   ["chrome-cut"] = "none needed: writers may leave out the end; if the file was copied, copy it "
      .. "again",
   ["chrome-event"] = "report it to the program that wrote the file; all other events are read",
   ["chrome-order"] = "none needed: it takes time, and space in TMPDIR",
   ["chrome-overlap"] = "it is in a lane beside the thread, with a number behind its name, so the "
      .. "self time of the other one has its time too: let the program write such events with an "
      .. "id (b and e)",
   ["chrome-rounded"] = "none needed; let the program write times with fractions",
   ["chrome-samples"] = "save the profile as .cpuprofile; table entries has their events",
   ["chrome-syntax"] = "report it to the program that wrote the file; reading goes on at the next "
      .. "event",
   ["chrome-truncated"] = "copy the file again, or let the program end; all whole events are read",
   ["chrome-unmatched"] = "record from the beginning; the event is left out",
}

return chrome
