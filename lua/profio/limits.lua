-- Limits: timing requirements, one per line. See profio help limits.

return require "profio.internal.limit_checks"
