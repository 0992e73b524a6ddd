-- Modules that a short command does not need are loaded at their first use: reading and parsing one
-- takes 0.05 to 0.3 ms, `profio --version` 5 ms, a report of a small file 10 ms. All others are
-- required at the top of the files that use them; if the modules below were, too, both would take
-- 28 ms. Only these may be given to `later` (spec/support/lua_layers.lua), each with the commands
-- that need it:
--
--    profio.cli.actions                      only exports, checks, merges and scripts
--    profio.cli.conflicts                    --version and --help have no other options
--    profio.cli.empty_hints                  only if nothing is shown
--    profio.cli.follow                       only --follow
--    profio.cli.help.format_list             only --list-formats
--    profio.cli.help.pager                   only a terminal
--    profio.cli.help.word_hints              only misspelt command lines
--    profio.cli.limits.mode                  only --limits
--    profio.cli.mcp.server                   only if the library that it needs is there
--    profio.cli.messages                     only errors
--    profio.cli.narrowing                    only --focus, --ignore, --hide and --group-by
--    profio.cli.script                       only --script and --load
--    profio.cli.session                      --version and --help open no file
--    profio.cli.verbs                        only a verb
--    profio.formats.anonymising.br_records   only profio anonymise
--    profio.formats.anonymising.prf_fields   only profio anonymise
--    profio.formats.anonymising.gmon_segments only profio anonymise
--    profio.formats.anonymising.dcpi_lines   only profio anonymise
--    profio.formats.anonymising.export_rows   only profio anonymise
--    profio.formats.anonymising.span_members only profio anonymise
--    profio.formats.anonymising.node_members only profio anonymise
--    profio.formats.anonymising.cost_lines   only profio anonymise
--    profio.formats.anonymising.task_lines   only profio anonymise
--    profio.formats.anonymising.folded_frames only profio anonymise
--    profio.formats.anonymising.sampled_lines only profio anonymise
--    profio.formats.anonymising.profile_strings only profio anonymise
--    profio.formats.folded.stack_lines       only texts with a semicolon
--    profio.formats.gmon.profile_notes       only profiles of gmon.out
--    profio.formats.gmon.program             only an executable
--    profio.formats.xpp.packets              only names with a number
--    profio.formats.xpp.pri                  only settings of Xbase++
--    profio.internal.anonymising             only profio anonymise
--    profio.internal.bodies.algebra          only profiles that are computed from others
--    profio.internal.bodies.contexts_body    only stacks and timelines
--    profio.internal.bodies.grouped_contexts only folded stacks
--    profio.internal.bodies.picks            only functions that are named
--    profio.internal.bodies.profile_methods  only profiles
--    profio.internal.bodies.sums_body        only sums, and exports of graphs
--    profio.internal.bodies.uncalled         only functions that were never called
--    profio.internal.calls                   only timelines
--    profio.internal.calls.event_chains      only --chain and trace:chains
--    profio.internal.calls.event_methods     only timelines
--    profio.internal.calls.os_states         only tasks
--    profio.internal.calls.task_jobs         only tasks
--    profio.internal.command.selection       only --from, --to and --lane
--    profio.internal.command.text_file       only --chain
--    profio.internal.command.values          only options with values to be parsed
--    profio.internal.compare                 only profio.compare
--    profio.internal.explain.call_groups     only explain, of timelines
--    profio.internal.exporting               only trace:export and profile:export
--    profio.internal.exporting.row_export    only rows
--    profio.internal.opening.open            `require "profio"` alone opens nothing
--    profio.internal.opening.registration    only formats of users
--    profio.internal.opening.registry        `require "profio"` alone opens nothing
--    profio.internal.opening.ring_parts      only rings
--    profio.internal.opening.side_files      only formats with files beside a trace
--    profio.internal.opening.unknown_format  only errors
--    profio.internal.options                 only exports and formats with options
--    profio.internal.writing.script_part             only formats in Lua
--    profio.internal.several.adding          only many files
--    profio.internal.several.chained_readers only several files
--    profio.internal.several.joined_runs     only several files that are written as one
--    profio.internal.sources                 only sources
--    profio.internal.store                   only profio.store
--    profio.internal.store.selecting         only --run
--    profio.internal.suggestions             only errors
--    profio.internal.symbols                 only an executable
--    profio.internal.times                   only options with times
--    profio.internal.views.view_methods      most reports only need a reader
--    profio.internal.writing.writer                  only files that are written

---Returns a table that stands for a module of functions, and loads it when a field is first read.
---@param name string of the list above
---@return table
local function later(name)
   return setmetatable({}, { __index = function(self, key)
      local value = require(name)[key]
      self[key] = value
      return value
   end })
end

return later
