-- The templates of core.write_listing that make the text of gprof from the rows of listings
-- (csrc/kernels/listing/): by report, then by kind of row.

-- A row with a name has four kinds: whether the function is of a cycle, and has an entry.
local function named(list, kind, text)
   list[kind] = text .. "{name} [{reference}]\n"
   list[kind .. "_hidden"] = text .. "{name} ({reference})\n"
   list[kind .. "_in_cycle"] = text .. "{name} <cycle {cycle}> [{reference}]\n"
   list[kind .. "_in_cycle_hidden"] = text .. "{name} <cycle {cycle}> ({reference})\n"
end

local function graph()
   local seconds = "{self_seconds:7.2} {children_seconds:7.2} "
   local entry, blank = "{label:-6.6} {percent:5.1} " .. seconds, (" "):rep(13)
   local whole = " <cycle {cycle} as a whole> [{reference}]\n"
   local times, inner = blank .. seconds, blank .. (" "):rep(16) .. "{count:7}" .. (" "):rep(13)
   local list = {
      cycle = entry .. "{count:7} {of:-7}" .. whole,
      cycle_recursive = entry .. "{count:7}+{of:-7}" .. whole,
      spontaneous = blank .. (" "):rep(36) .. "<spontaneous>\n",
      outside = times .. "{count:7}/{of:-7}     <spontaneous>\n",
      separator = ("-"):rep(47) .. "\n",
   }
   named(list, "member", times .. "{count:7} {of:-7}     ")
   named(list, "member_recursive", times .. "{count:7}+{of:-7}     ")
   named(list, "caller", times .. "{count:7}/{of:-7}     ")
   named(list, "caller_inner", inner)
   named(list, "function", entry .. "{count:7} {of:-7} ")
   named(list, "function_recursive", entry .. "{count:7}+{of:-7} ")
   named(list, "callee", times .. "{count:7}/{of:-7}     ")
   named(list, "callee_inner", inner)
   return list
end

---@type table<"flat"|"graph"|"index", table<string, string>>
return {
   flat = {
      ["function"] = "{percent:6.2} {cumulative_seconds:9.2} {self_seconds:8.2} {calls:8} "
         .. "{self_per_call:8.2} {total_per_call:8.2}  {function}\n",
   },
   graph = graph(),
   index = {
      cell = "{pad} {label} {name}",
      cell_file = "{pad} {label} {name} ({file})",
      row_end = "\n",
   },
}
