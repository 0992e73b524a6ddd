-- Rows as json.

return require("profio.internal.exporting.row_export").export("json",
   "one JSON array of objects")
