-- SHA-256 (FIPS 180-4), for the policies of pages, which name their scripts by hashes.

local sha256 = {}

-- Returns 32 bits of the fraction of a root of the first `count` primes.
local function fractions(count, root)
   local list, number = {}, 2
   while #list < count do
      local is_prime = true
      for i = 2, number - 1 do
         is_prime = is_prime and number % i ~= 0
      end
      list[#list + 1] = is_prime and (number ^ (1 / root) % 1 * 2 ^ 32) // 1 | 0 or nil
      number = number + 1
   end
   return list
end

local begin, constants = fractions(8, 2), fractions(64, 3)

-- Returns the 16 words of a block, with the 48 that follow from them.
local function schedule(bytes, place)
   local w = { (">I4"):rep(16):unpack(bytes, place) }
   for i = 17, 64 do
      local a, b = w[i - 15], w[i - 2]
      a, b = a | a << 32, b | b << 32
      w[i] = w[i - 16] + ((a >> 7) ~ (a >> 18) ~ ((a & 0xffffffff) >> 3)) + w[i - 7]
         + ((b >> 17) ~ (b >> 19) ~ ((b & 0xffffffff) >> 10)) & 0xffffffff
   end
   return w
end

-- Adds a block to the state. Each word is doubled to 64 bits where it is rotated.
local function add(state, w)
   local a, b, c, d, e, f, g, h = table.unpack(state)
   for i = 1, 64 do
      local ee, aa = e | e << 32, a | a << 32
      local first = h + ((ee >> 6) ~ (ee >> 11) ~ (ee >> 25)) + (g ~ (e & (f ~ g)))
         + constants[i] + w[i]
      local second = ((aa >> 2) ~ (aa >> 13) ~ (aa >> 22)) + ((a & b) | (c & (a | b)))
      h, g, f, e, d, c, b, a = g, f, e, d + first & 0xffffffff, c, b, a,
         first + second & 0xffffffff
   end
   for i, value in ipairs { a, b, c, d, e, f, g, h } do
      state[i] = state[i] + value & 0xffffffff
   end
end

---Returns the SHA-256 of bytes, as 32 bytes.
---@param bytes string
---@return string
function sha256.digest(bytes)
   local state = table.move(begin, 1, 8, 1, {})
   local padded = bytes .. "\x80" .. ("\0"):rep((55 - #bytes) % 64) .. (">I8"):pack(8 * #bytes)
   for place = 1, #padded, 64 do
      add(state, schedule(padded, place))
   end
   return (">" .. ("I4"):rep(8)):pack(table.unpack(state))
end

return sha256
