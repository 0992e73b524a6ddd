-- Limits: timing requirements, one per line. See profio help limits.

return require "profio.internal.requirements.limit_checks"
