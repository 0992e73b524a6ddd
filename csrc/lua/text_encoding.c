/*
** text_encoding.c - core.utf8_of: converts a text from a code page;
** core.base64: writes bytes as a text.
**
** Called by lua/profio/reports/br/, for sources, and for pages by exports/html/
** and internal/markup.lua. The result is in a userdata until it is returned.
*/

#include "lua/arguments.h"
#include "model/base/charset.h"


/* core.utf8_of(text, page): the text as UTF-8. A text that is UTF-8 already,
   and all texts if the page is "raw", are returned unchanged. Bytes that are no
   character become U+FFFD. nil if no code page has this name. */
static int core_utf8_of (lua_State *L) {
  const pf_bytes text = l_text_check(L, 1);
  pf_charset *const charset = l_scratch(L, 1, sizeof *charset);
  pf_converter converter;
  const char *const page = luaL_checkstring(L, 2);
  if (!pf_charset_open(charset, page))
    return luaL_pushfail(L), 1;
  if (pf_is_same_in_utf8(charset, text) || pf_is_utf8(text))
    return lua_pushvalue(L, 1), 1;
  uint8_t *const out = l_scratch(L, pf_converted_max(charset, text.size), 1);
  const pf_status status = pf_converter_open(&converter, charset);
  if (status == PF_ENOMEM)
    l_no_memory(L);
  if (status != PF_OK)
    return luaL_pushfail(L), 1;
  const size_t size = pf_convert(&converter, text, out);
  pf_converter_close(&converter);
  lua_pushlstring(L, (const char *)out, size);
  return 1;
}


/* core.base64(bytes): the bytes in base64 (RFC 4648), with padding. */
static int core_base64 (lua_State *L) {
  static const char digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const pf_bytes bytes = l_text_check(L, 1);
  char *const out = l_scratch(L, bytes.size / 3 + 1, 4);
  char *at = out;
  for (size_t i = 0; i < bytes.size; i += 3) {
    const size_t count = bytes.size - i < 3 ? bytes.size - i : 3;
    uint32_t bits = 0;
    for (size_t n = 0; n < count; n++)
      bits |= (uint32_t)bytes.at[i + n] << (16 - 8 * n);
    for (size_t n = 0; n < 4; n++)
      *at++ = n > count ? '=' : digits[bits >> (18 - 6 * n) & 63];
  }
  lua_pushlstring(L, out, (size_t)(at - out));
  return 1;
}


void l_open_text_encoding (lua_State *L) {
  L_ADD(L, {"utf8_of", core_utf8_of}, {"base64", core_base64});
}
