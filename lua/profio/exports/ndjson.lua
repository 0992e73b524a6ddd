-- Rows as ndjson.

return require("profio.exports.rows").export("ndjson",
   "one JSON object on each line")
