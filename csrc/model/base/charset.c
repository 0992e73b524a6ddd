/*
** charset.c - code pages and the conversion of their text.
**
** It has tables for three code pages that iconv does not know: Kamenicky
** (Czech) and Mazovia (Polish), which differ from code page 437 in 0x80 to
** 0xAF, and Greek of the Macintosh.
*/

#include <errno.h>
#include <string.h>

#include "bytes/text.h"
#include "model/base/charset.h"

#define NOT_A_CHARACTER 0xFFFDu

/* A code page that iconv does not know: `characters`, from 0x80 on, replace
   those of `base`. */
typedef struct own {
  const char *name, *base; /* NULL: only ASCII */
  size_t count;
  const uint16_t *characters;
} own;

/* clang-format off */
static const uint16_t kamenicky[48] = {
    0x10C, 0xFC, 0xE9, 0x10F, 0xE4, 0x10E, 0x164, 0x10D,
    0x11B, 0x11A, 0x139, 0xCD, 0x13E, 0x13A, 0xC4, 0xC1,
    0xC9, 0x17E, 0x17D, 0xF4, 0xF6, 0xD3, 0x16F, 0xDA,
    0xFD, 0xD6, 0xDC, 0x160, 0x13D, 0xDD, 0x158, 0x165,
    0xE1, 0xED, 0xF3, 0xFA, 0x148, 0x147, 0x16E, 0xD4,
    0x161, 0x159, 0x155, 0x154, 0xBC, 0xA7, 0xAB, 0xBB};

static const uint16_t mazovia[48] = {
    0xC7, 0xFC, 0xE9, 0xE2, 0xE4, 0xE0, 0x105, 0xE7,
    0xEA, 0xEB, 0xE8, 0xEF, 0xEE, 0x107, 0xC4, 0x104,
    0x118, 0x119, 0x142, 0xF4, 0xF6, 0x106, 0xFB, 0xF9,
    0x15A, 0xD6, 0xDC, 0xA2, 0x141, 0xA5, 0x15B, 0x192,
    0x179, 0x17B, 0xF3, 0xD3, 0x144, 0x143, 0x17A, 0x17C,
    0xBF, 0x2310, 0xAC, 0xBD, 0xBC, 0xA1, 0xAB, 0xBB};

static const uint16_t mac_greek[128] = {
    0xC4, 0xB9, 0xB2, 0xC9, 0xB3, 0xD6, 0xDC, 0x385,
    0xE0, 0xE2, 0xE4, 0x384, 0xA8, 0xE7, 0xE9, 0xE8,
    0xEA, 0xEB, 0xA3, 0x2122, 0xEE, 0xEF, 0x2022, 0xBD,
    0x2030, 0xF4, 0xF6, 0xA6, 0x20AC, 0xF9, 0xFB, 0xFC,
    0x2020, 0x393, 0x394, 0x398, 0x39B, 0x39E, 0x3A0, 0xDF,
    0xAE, 0xA9, 0x3A3, 0x3AA, 0xA7, 0x2260, 0xB0, 0xB7,
    0x391, 0xB1, 0x2264, 0x2265, 0xA5, 0x392, 0x395, 0x396,
    0x397, 0x399, 0x39A, 0x39C, 0x3A6, 0x3AB, 0x3A8, 0x3A9,
    0x3AC, 0x39D, 0xAC, 0x39F, 0x3A1, 0x2248, 0x3A4, 0xAB,
    0xBB, 0x2026, 0xA0, 0x3A5, 0x3A7, 0x386, 0x388, 0x153,
    0x2013, 0x2015, 0x201C, 0x201D, 0x2018, 0x2019, 0xF7, 0x389,
    0x38A, 0x38C, 0x38E, 0x3AD, 0x3AE, 0x3AF, 0x3CC, 0x38F,
    0x3CD, 0x3B1, 0x3B2, 0x3C8, 0x3B4, 0x3B5, 0x3C6, 0x3B3,
    0x3B7, 0x3B9, 0x3BE, 0x3BA, 0x3BB, 0x3BC, 0x3BD, 0x3BF,
    0x3C0, 0x3CE, 0x3C1, 0x3C3, 0x3C4, 0x3B8, 0x3C9, 0x3C2,
    0x3C7, 0x3C5, 0x3B6, 0x3CA, 0x3CB, 0x390, 0x3B0, 0xAD};
/* clang-format on */

static const own owns[] = {
    {"KAMENICKY", "CP437", 48, kamenicky},
    {"MAZOVIA", "CP437", 48, mazovia},
    {"MACGREEK", NULL, 128, mac_greek},
};

#define OWNS (sizeof owns / sizeof owns[0])


/* Returns a character as an entry of pf_charset.utf8. */
static uint32_t pack (uint32_t c) {
  if (c < 0x80)
    return c | 1u << 24;
  if (c < 0x800)
    return (0xC0u | c >> 6) | (0x80u | (c & 0x3F)) << 8 | 2u << 24;
  return (0xE0u | c >> 12) | (0x80u | (c >> 6 & 0x3F)) << 8 |
         (0x80u | (c & 0x3F)) << 16 | 3u << 24;
}


/* Converts one byte by iconv. Returns an entry of pf_charset.utf8, or 0 if the
   byte is the begin of a multibyte character. */
static uint32_t convert_byte (iconv_t converter, uint8_t byte) {
  char in = (char)byte, out[8];
  char *from = &in, *to = out;
  size_t left = 1, capacity = sizeof out;
  iconv(converter, NULL, NULL, NULL, NULL);
  if (iconv(converter, &from, &left, &to, &capacity) == (size_t)-1)
    return errno == EINVAL ? 0 : pack(NOT_A_CHARACTER);
  /* Of CP1255 and CP1258 iconv holds a letter until it knows that no combining
     mark follows. */
  (void)iconv(converter, NULL, NULL, &to, &capacity);
  const size_t size = sizeof out - capacity;
  if (size == 0 || size > 3)
    return pack(NOT_A_CHARACTER);
  uint32_t packed = (uint32_t)size << 24;
  for (size_t i = 0; i < size; i++)
    packed |= (uint32_t)(uint8_t)out[i] << 8 * i;
  return packed;
}


/* Fills the table by means of iconv. False when iconv does not know the name,
   or when a byte of ASCII is another character in the code page, except 1A, 1C
   and 7F, which code pages of IBM exchange. */
static bool ask_iconv (pf_charset *charset, const char *name) {
  const iconv_t converter = iconv_open("UTF-8", name);
  if (converter == (iconv_t)-1)
    return false;
  charset->kind = PF_TEXT_BY_TABLE;
  bool plain = true;
  for (unsigned byte = 0; byte < 256; byte++) {
    charset->utf8[byte] = convert_byte(converter, (uint8_t)byte);
    if (charset->utf8[byte] == 0)
      charset->kind = PF_TEXT_BY_ICONV;
    if (byte < 0x7F && byte != 0x1A && byte != 0x1C)
      plain = plain && charset->utf8[byte] == pack(byte);
  }
  iconv_close(converter);
  return plain;
}


/* Returns CP932 for the names of Shift_JIS. They mean it in practice: the bytes
   5C and 7E are those of ASCII, and not a yen sign and an overline. */
static const char *usual_name (const char *name) {
  static const char *const shift_jis[] = {"SHIFT_JIS", "SHIFT-JIS", "SJIS",
                                          "MS_KANJI"};
  for (size_t i = 0; i < sizeof shift_jis / sizeof *shift_jis; i++)
    if (pf_is_alike(name, shift_jis[i]))
      return "CP932";
  return name;
}


bool pf_charset_open (pf_charset *charset, const char *name) {
  name = usual_name(name);
  memset(charset, 0, sizeof *charset);
  if (name[0] == '\0' || pf_is_alike(name, "raw"))
    return true;
  const size_t size = strlen(name);
  if (size >= sizeof charset->name)
    return false;
  memcpy(charset->name, name, size + 1);
  const own *page = owns;
  while (page < owns + OWNS && !pf_is_alike(page->name, name))
    page++;
  if (page == owns + OWNS)
    return ask_iconv(charset, name);
  charset->kind = PF_TEXT_BY_TABLE;
  if (page->base != NULL && !ask_iconv(charset, page->base))
    return false;
  for (unsigned byte = 0; byte < 0x80; byte++)
    charset->utf8[byte] = pack(byte);
  for (size_t i = 0; i < page->count; i++)
    charset->utf8[0x80 + i] = pack(page->characters[i]);
  return true;
}


pf_status pf_charset_open_given (pf_charset *charset, pf_bytes name,
                                 pf_error *error) {
  char text[sizeof charset->name];
  if (name.size < sizeof text) {
    memcpy(text, name.at, name.size);
    text[name.size] = '\0';
    if (pf_charset_open(charset, text))
      return PF_OK;
  }
  return pf_refuse(error, "this system knows no code page %.*s with ASCII",
                   (int)(name.size < 40 ? name.size : 40),
                   (const char *)name.at);
}


static pf_status open_converter (pf_converter *converter,
                                 const pf_charset *charset, const char *to,
                                 const char *from) {
  *converter = (pf_converter){charset, (iconv_t)-1};
  if (charset->kind != PF_TEXT_BY_ICONV)
    return PF_OK;
  converter->iconv = iconv_open(to, from);
  if (converter->iconv != (iconv_t)-1)
    return PF_OK;
  return errno == ENOMEM ? PF_ENOMEM : PF_EUNSUPPORTED;
}


pf_status pf_converter_open (pf_converter *converter,
                             const pf_charset *charset) {
  return open_converter(converter, charset, "UTF-8", charset->name);
}


pf_status pf_converter_open_back (pf_converter *converter,
                                  const pf_charset *charset) {
  return open_converter(converter, charset, charset->name, "UTF-8");
}


void pf_converter_close (pf_converter *converter) {
  if (converter->iconv != (iconv_t)-1)
    iconv_close(converter->iconv);
  converter->iconv = (iconv_t)-1;
}


/* The size for iconv includes a copy of the input after the output, because
   iconv takes a pointer that is not const. */
size_t pf_converted_max (const pf_charset *charset, size_t size) {
  return charset->kind == PF_TEXT_BY_ICONV ? PF_CONVERTED_MAX(size) : 3 * size;
}


/* Whether a character may begin with the bytes `first`, `next`: excludes
   overlong forms, surrogates and code points above U+10FFFF. */
static bool is_start (uint8_t first, uint8_t next) {
  switch (first) {
    case 0xe0: return next >= 0xa0;
    case 0xed: return next < 0xa0;
    case 0xf0: return next >= 0x90;
    case 0xf4: return next < 0x90;
    default: return first >= 0xc2 && first <= 0xf4;
  }
}


size_t pf_utf8 (const uint8_t *p, size_t left) {
  if (p[0] < 0x80)
    return 1;
  const size_t size = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
  if (left < size || !is_start(p[0], p[1]))
    return 0;
  for (size_t i = 1; i < size; i++)
    if ((p[i] & 0xc0) != 0x80)
      return 0;
  return size;
}


bool pf_is_utf8 (pf_bytes text) {
  for (size_t i = 0; i < text.size;) {
    const size_t size = pf_utf8(text.at + i, text.size - i);
    if (size == 0)
      return false;
    i += size;
  }
  return true;
}


bool pf_is_same_in_utf8 (const pf_charset *charset, pf_bytes text) {
  if (charset->kind == PF_TEXT_AS_BYTES)
    return true;
  uint64_t high = 0;
  size_t i = 0;
  for (; text.size - i >= 8; i += 8)
    high |= pf_load64le(text.at + i);
  for (; i < text.size; i++)
    high |= text.at[i];
  return (high & 0x8080808080808080u) == 0;
}


/* Convert by iconv. *complete is false if a byte or character has no
   equivalent: with `to_utf8` each such byte is replaced by U+FFFD, else the
   conversion stops there. The last call writes a character that iconv holds
   because a combining one might follow. */
static size_t convert_by_iconv (const pf_converter *converter, pf_bytes text,
                                bool to_utf8, uint8_t *out, bool *complete) {
  size_t capacity = 4 * text.size + 16, left = text.size;
  char *to = (char *)out, *from = (char *)out + capacity;
  memcpy(from, text.at, text.size);
  iconv(converter->iconv, NULL, NULL, NULL, NULL);
  *complete = true;
  while (left > 0 &&
         iconv(converter->iconv, &from, &left, &to, &capacity) == (size_t)-1) {
    *complete = false;
    if (!to_utf8 || capacity < 16 || left == 0)
      break;
    memcpy(to, "\xEF\xBF\xBD", 3);
    to += 3, capacity -= 3;
    from++, left--;
  }
  if (iconv(converter->iconv, NULL, NULL, &to, &capacity) == (size_t)-1)
    *complete = false;
  return (size_t)((uint8_t *)to - out);
}


size_t pf_convert (pf_converter *converter, pf_bytes text, uint8_t *out) {
  bool complete;
  if (converter->charset->kind == PF_TEXT_BY_ICONV)
    return convert_by_iconv(converter, text, true, out, &complete);
  uint8_t *to = out;
  for (size_t i = 0; i < text.size; i++) {
    const uint32_t packed = converter->charset->utf8[text.at[i]];
    to[0] = (uint8_t)packed;
    to[1] = (uint8_t)(packed >> 8);
    to[2] = (uint8_t)(packed >> 16);
    to += packed >> 24;
  }
  return (size_t)(to - out);
}


/* Converts UTF-8 to a single-byte code page by the table; false when a
   character is not in it. */
static bool back_by_table (const pf_charset *charset, pf_bytes text,
                           uint8_t *out, size_t *size) {
  *size = 0;
  for (size_t i = 0; i < text.size; (*size)++) {
    const uint8_t lead = text.at[i];
    const size_t count = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : 3;
    uint32_t packed = (uint32_t)count << 24;
    if (count > text.size - i)
      return false;
    for (size_t k = 0; k < count; k++)
      packed |= (uint32_t)text.at[i + k] << 8 * k;
    unsigned byte = count == 1 ? lead : 0x80;
    while (count > 1 && byte < 0x100 && charset->utf8[byte] != packed)
      byte++;
    if (byte == 0x100)
      return false;
    out[*size] = (uint8_t)byte;
    i += count;
  }
  return true;
}


bool pf_convert_back (pf_converter *converter, pf_bytes text, uint8_t *out,
                      size_t *size) {
  bool complete = false;
  if (converter->charset->kind != PF_TEXT_BY_ICONV)
    return back_by_table(converter->charset, text, out, size);
  if (converter->iconv != (iconv_t)-1)
    *size = convert_by_iconv(converter, text, false, out, &complete);
  return complete;
}
