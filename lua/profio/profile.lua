-- Profiles: the cost of functions and of calls between them. profile.of_contexts(contexts, title)
-- makes one of contexts of the core; trace:profile() makes all others. See profio help lua-api.

return require "profio.internal.bodies.profile_methods"
