-- Rows as tsv.

local rows = require "profio.internal.exporting.row_export"

return rows.export("tsv",
   "tab-separated values with a header row; \\t \\n \\r \\\\ stand for those bytes",
   rows.tsv_options)
