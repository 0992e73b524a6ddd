-- Rows as ndjson.

return require("profio.internal.exporting.row_export").export("ndjson",
   "one JSON object on each line")
