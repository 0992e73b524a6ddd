-- Merged epochs: each image and event with its samples of all epochs.

local dcpi = require "profio.reports.dcpi.shares"
local epoch_order = require "profio.formats.dcpi.epoch_order"

local epochs = {
   name = "epochs",
   help = "DCPI: images and events with the samples of all epochs; --merge writes them",
   unit = "s",
   columns = {
      { name = "platform", help = "the machine" },
      { name = "image", help = "identifier of the image" },
      { name = "name", help = "its short name" },
      { name = "event", help = "the counted event" },
      { name = "epochs", help = "number of epochs with samples" },
      { name = "first", help = "the earliest of them" },
      { name = "last", help = "the latest" },
      { name = "count", help = "samples of all epochs" },
      { name = "count_share", help = "share of all samples of all events" },
      { name = "error", help = "the standard error of count, its square root" },
      { name = "seconds", help = "for cycles: samples * period / clock" },
      { name = "spent", help = "the same in ns" },
   },
   shown = { "count", "error", "count_share", "seconds", "event", "epochs", "first", "last",
      "platform", "name", "image" },
   names = false,
   fits = dcpi.fits,
}

-- Key of groups by which epochs are sorted; none where no epoch is stated.
local in_time = { function(epoch)
   return epoch and epoch_order.key(epoch)
end, "epoch", name = "key", type = "name" }

---@param context profio.Context
---@return userdata
function epochs.reader(context)
   local sums = { "count = sum(count)", "timed = sum(timed)", "time = sum(time)" }
   return context.trace.samples:group("platform", "image", "name", "event", "epoch")
      :aggregate { "count = sum(count)", "timed = count(spent)", "time = sum(spent)" }
      :group("platform", "image", "name", "event", "epoch", in_time):aggregate(sums)
      :sort "key":group("platform", "image", "name", "event")
      :aggregate { "epochs = distinct(key)", "first = first(epoch)", "last = last(epoch)",
         table.unpack(sums) }
      :sort "-count":derive { "error = sqrt(count)", "count_share = count / total(count)",
         "spent = time + 0 // timed" }:derive { "seconds = spent / 1000000000" }:reader()
end

return epochs
