std = "lua54"
max_line_length = 100
files["spec"].std = "+busted"
files["lua/profio/meta"] = { ignore = { "212", "241" } } -- descriptions, without bodies
exclude_files = { "build" }
