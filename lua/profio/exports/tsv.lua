-- Rows as tsv.

return require("profio.exports.rows").export("tsv",
   "tab-separated values with a header row; \\t \\n \\r \\\\ stand for those bytes")
