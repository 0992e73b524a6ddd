-- Views: tables seen through stages. view.over(open, pin) makes one of a reader of the core;
-- `methods` has the methods that every view has. See profio help lua-api.

return require "profio.internal.views.view_methods"
