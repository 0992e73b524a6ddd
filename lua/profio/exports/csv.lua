-- Rows as csv.

local rows = require "profio.internal.exporting.row_export"

return rows.export("csv", "comma-separated values with a header row, quoted as RFC 4180 says",
   rows.csv_options)
