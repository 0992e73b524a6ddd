-- Merged epochs: each image and event with its samples of all epochs.

local dcpi = require "profio.reports.dcpi.shares"

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
   fits = dcpi.fits,
}

---@param context profio.Context
---@return userdata
function epochs.reader(context)
   return context.trace.samples:group("platform", "image", "name", "event")
      :aggregate { "epochs = distinct(epoch)", "first = min(epoch)", "last = max(epoch)",
         "count = sum(count)", "timed = count(spent)", "time = sum(spent)" }
      :sort "-count":derive { "error = sqrt(count)", "count_share = count / total(count)",
         "spent = time + 0 // timed" }:derive { "seconds = spent / 1000000000" }:reader()
end

return epochs
