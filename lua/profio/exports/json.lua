-- Rows as json.

return require("profio.exports.rows").export("json",
   "one JSON array of objects")
