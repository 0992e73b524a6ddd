-- Rows as csv.

return require("profio.exports.rows").export("csv",
   "comma-separated values with a header row, quoted as RFC 4180 says")
