-- Rows as ndjson.

return require("profio.exports.row_export").export("ndjson",
   "one JSON object on each line")
