-- Names in the text of perf script. Lines are split as csrc/formats/perfscript/lines_perfscript.c
-- splits them.

local masks = require "profio.internal.anonymising.masks"

local sampled_lines = {}

-- Modules in brackets that are no names of the user.
local MODULES <const> = { ["[kernel.kallsyms]"] = true, ["[guest.kernel.kallsyms]"] = true,
   ["[unknown]"] = true, ["[vdso]"] = true, ["[vsyscall]"] = true, ["[heap]"] = true,
   ["[stack]"] = true, ["inlined"] = true, ["[anon]"] = true }

-- Systems of tracepoints of Linux.
local TRACEPOINTS <const> = {}
for system in ([[
   alarmtimer block bpf_trace bridge btrfs cgroup compaction cpuhp devlink dma_fence drm
   exceptions ext4 fib filelock filemap fs_dax gpio hugetlbfs hwmon i2c iomap iommu io_uring
   irq irq_vectors jbd2 kmem kvm kvmmmu mce migrate mmap module msr napi neigh net netlink nmi
   nvme oom page_isolation pagemap percpu power printk qdisc random ras raw_syscalls rcu
   regmap rpm rseq sched scsi signal skb smbus sock spi sunrpc swiotlb syscalls task tcp
   thermal timer tlb udp vmscan vsyscall watchdog workqueue writeback x86_fpu xdp xen xfs
   xhci-hcd]]):gmatch "%S+" do
   TRACEPOINTS[system] = true
end

-- {====== Frames ======

-- Returns a text and `+0x24` at its end.
local function without_offset(text)
   local name, offset = text:match "^(.*)(%+0x%x+)$"
   return name or text, offset or ""
end

-- Returns the position of the bracket that the last byte of a text closes; nil: none is a module.
local function module_start(text)
   local depth, last = 0, nil
   for i = #text, 1, -1 do
      local sign = text:sub(i, i)
      local is_start = sign == "(" and (i == 1 or text:sub(i - 1, i - 1) == " ")
      depth = depth + (sign == ")" and 1 or 0)
      if is_start and i > 1 and text:sub(1, i - 2):find "%+0x%x+$" then
         return i
      end
      last = last or is_start and depth == 1 and i or nil
      if sign == "(" and depth > 0 then
         depth = depth - 1
         if depth == 0 and not last then
            return nil
         end
      end
   end
   return last
end

local function module_of(context, text)
   local path, offset = without_offset(text)
   local name, mark = path:match "^(.*)( %(deleted%))$"
   name = name or path
   return (MODULES[name] and name or context.names:path(name, "m")) .. (mark or "") .. offset
end

-- Returns a symbol and a module: `leaf+0x10 (/opt/prog)`.
local function symbol_of(context, text)
   return masks.inner(text, function(inner)
      local at = inner:find "%)$" and module_start(inner)
      local symbol = inner:sub(1, (at or #inner + 1) - 1)
      local tail = at and "(" .. module_of(context, inner:sub(at + 1, -2)) .. ")" or ""
      return masks.inner(symbol, function(name)
         local plain, offset = without_offset(name)
         return (plain == "[unknown]" and plain or context.names:of(plain, "f")) .. offset
      end) .. tail
   end)
end

local function frame_line(context, line)
   local front, text = line:match "^(%s*%x+%s?)(.*)$"
   return front and front .. symbol_of(context, text) or masks.text(line)
end

-- }======

-- {====== Samples ======

local function is_ids(word)
   return word:find "^%d+$" or word:find "^%-?%d+/%-?%d+$" or word:find "^%[%d+%]$"
end

-- Returns what stands in front of the time: comm, pid/tid, [cpu], misc. Words are taken from the
-- end.
local function lane_of(context, text)
   local last = #text
   local function take(accepts)
      local from, word, to = text:sub(1, last):match "()(%S+)()%s*$"
      if from and accepts(word, text:sub(1, from - 1)) then
         last = from - 1
         return to
      end
   end
   take(function(word, before)
      local ids = before:match "(%S+)%s*$"
      return #word <= 4 and word:find "^[KUHGgMESp]+$" and ids and is_ids(ids)
   end)
   take(function(word)
      return word:find "^%[%d+%]$"
   end)
   take(function(word)
      return word:find "^%d+$" or word:find "^%-?%d+/%-?%d+$"
   end)
   return masks.inner(text:sub(1, last), function(comm)
      return context.names:of(comm, "t")
   end) .. text:sub(last + 1)
end

-- Returns where the frame of a sample in one line begins: at the last address that is right-aligned
-- in a column of 16 bytes; nil: it has none.
local function frame_in(text)
   local stop, start = 0, nil
   for at, word, after in text:gmatch "()(%S+)()" do
      local is_hex = #word <= 16 and not word:find "%X"
      local is_column = is_hex and after - 1 - stop >= 17
      local is_long = is_hex and #word >= 6 and stop == 0 and text:find "%)%s*$"
      if stop == 0 and not is_column and not is_long then
         return nil
      elseif (is_column or is_long) and text:find("%S", after) then
         start = at
      end
      stop = after - 1
   end
   return start
end

-- Returns what follows an event: numbers and a frame, or the fields of a tracepoint.
local function detail_of(context, text)
   local at = frame_in(text)
   if not at then
      return masks.text(text)
   end
   local front = text:sub(1, at - 1)
   return (front:find "^[%x%s]*$" and front or masks.text(front))
      .. frame_line(context, text:sub(at))
end

-- Returns an event. Probes in programs and modules have names of the user; events of the hardware
-- and of the kernel have none.
local function event_of(context, event)
   local name = event:sub(1, -2)
   local system = name:match "^([%w_]+):[%w_]+$"
   local is_modifier = name:find "^[%w_./-]+:[ukhGHpPSDWIe]+$"
   if name:find "[^%w_:/,.=*-]" or name:find "name=" or name:find "^r?%x*probe"
      or not is_modifier and name:find(":", 1, true) and not TRACEPOINTS[system]
   then
      return context.names:of(name, "n") .. ":"
   end
   return event
end

-- Returns what follows the time.
local function after_time(context, text)
   local front, word, rest = text:match "^(%s*)(%S+)(.*)$"
   if not front then
      return text
   elseif word:find "^PERF_RECORD_" then
      return front .. word .. masks.text(rest)
   end
   local period, event, behind = text:match "^(%s*%d+%s+)(%S+)(.*)$"
   if not period then
      period, event, behind = front, word, rest
   end
   if not event:find "^.+:$" then
      return masks.text(text)
   end
   return period .. event_of(context, event) .. detail_of(context, behind)
end

-- Returns where the lane of a line ends; nil: there is nothing after it.
local function lane_end(line)
   local before = ""
   for at, word, after in line:gmatch "()(%S+)()" do
      if word:find "^%d+%.?%d*:$" then
         return after
      elseif word:find "^.+:$" and is_ids(before) then
         local shorter = line:sub(1, at - 1):match "^(.-)%S+%s*$"
         local ids = shorter and shorter:match "(%S+)%s*$"
         return before:find "^%d+$" and ids and is_ids(ids) and #shorter + 1 or at
      elseif word:find "^PERF_RECORD_" and before:find "^%-?%d+$" then
         return at
      end
      before = word
   end
end

local function sample_line(context, line)
   local stop = lane_end(line)
   if not stop then
      return lane_of(context, line)
   end
   local front = line:sub(1, stop - 1)
   local lane, time = front:match "^(.-%s?)(%S+:)$"
   if not lane or not time:find "^%d+%.?%d*:$" then
      lane, time = front, ""
   end
   return lane_of(context, lane) .. time .. after_time(context, line:sub(stop))
end

-- }======

local LONGEST_LINE <const> = 65536 -- bytes; a longer one is hidden

---@param context table
---@return fun(kind: string, bytes: string): string
function sampled_lines.start(context)
   return function(kind, bytes)
      local line, ending = masks.line(bytes)
      if #line > LONGEST_LINE then
         line = masks.text(line)
      elseif kind == "sample" or kind == "record" then
         line = sample_line(context, line)
      elseif kind == "frame" then
         line = frame_line(context, line)
      elseif kind == "source" then
         local path, number = line:match "^(.*)(:%d+)$"
         line = masks.inner(path or line, function(inner)
            return context.names:path(inner, "p")
         end) .. (number or "")
      elseif kind ~= "blank" then
         line = masks.text(line)
      end
      return line .. ending
   end
end

return sampled_lines
