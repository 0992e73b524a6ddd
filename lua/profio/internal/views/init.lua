-- Views, for the other modules of the library: those of lazy_view.lua, whose methods are in
-- view_methods.lua. It is loaded when one of them is called, since most reports only need a reader.

local later = require "profio.internal.later"
local lazy_view = require "profio.internal.views.lazy_view"

local views = { over = lazy_view.over, is_one = lazy_view.is_one }

---The module with the methods of views, in its field `methods`.
views.all = later "profio.internal.views.view_methods"

lazy_view.take_methods(views.all)

return views
