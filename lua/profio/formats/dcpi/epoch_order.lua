--- The order of epochs. They are digits of a time, from which early tools leave out the century.

local epoch_order = {}

---Returns an epoch as 14 digits, YYYYMMDDHHMMSS, whose order as a text is that of time; a missing
---epoch and one that is no time are after all others. C: dcpi_epoch in header_line.c.
---@param epoch string|nil as the header states it: 10, 12 or 14 digits
---@return string
function epoch_order.key(epoch)
   local digits = tostring(epoch or ""):match "^%d+$" or ""
   if #digits == 10 then
      digits = (digits < "70" and "20" or "19") .. digits
   end
   if #digits ~= 12 and #digits ~= 14 then
      return "~" .. (epoch or "")
   end
   return digits .. ("0"):rep(14 - #digits)
end

---Returns whether an epoch comes before another one; spellings of one time are ordered as texts.
---@param one string
---@param other string
---@return boolean
function epoch_order.is_before(one, other)
   local left, right = epoch_order.key(one), epoch_order.key(other)
   return left < right or left == right and one < other
end

---Returns whether two epochs are the same minute.
---@param one string
---@param other string
---@return boolean
function epoch_order.is_same(one, other)
   local key = epoch_order.key(one)
   return one == other
      or key:sub(1, 1) ~= "~" and key:sub(1, 12) == epoch_order.key(other):sub(1, 12)
end

return epoch_order
