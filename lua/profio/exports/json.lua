-- Rows as json.

return require("profio.exports.row_export").export("json",
   "one JSON array of objects")
