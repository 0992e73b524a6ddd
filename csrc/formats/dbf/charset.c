/*
** charset.c - the code pages of tables.
**
** The marks are those of dBASE and FoxPro. Three code pages are not among
** those that iconv knows: Kamenicky (Czech) and Mazovia (Polish) differ from
** code page 437 in 0x80 to 0xAF, the Greek of the Macintosh is written out.
*/

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "bytes/cursor.h"
#include "formats/dbf/charset.h"

#define NOT_A_CHARACTER 0xFFFDu

typedef struct page_mark {
  uint8_t mark;
  const char *name;
} page_mark;

/* Of several marks of one code page, the one to be written comes first. */
static const page_mark marks[] = {
    {0x00, ""},
    {0x01, "CP437"},
    {0x02, "CP850"},
    {0x03, "CP1252"},
    {0x04, "MACINTOSH"},
    {0x08, "CP865"},
    {0x09, "CP437"},
    {0x0A, "CP850"},
    {0x0B, "CP437"},
    {0x0D, "CP437"},
    {0x0E, "CP850"},
    {0x0F, "CP437"},
    {0x10, "CP850"},
    {0x11, "CP437"},
    {0x12, "CP850"},
    {0x7B, "CP932"},
    {0x13, "CP932"},
    {0x14, "CP850"},
    {0x15, "CP437"},
    {0x16, "CP850"},
    {0x17, "CP865"},
    {0x18, "CP437"},
    {0x19, "CP437"},
    {0x1A, "CP850"},
    {0x1B, "CP437"},
    {0x1C, "CP863"},
    {0x1D, "CP850"},
    {0x64, "CP852"},
    {0x1F, "CP852"},
    {0x22, "CP852"},
    {0x23, "CP852"},
    {0x24, "CP860"},
    {0x25, "CP850"},
    {0x65, "CP866"},
    {0x26, "CP866"},
    {0x37, "CP850"},
    {0x40, "CP852"},
    {0x7A, "CP936"},
    {0x4D, "CP936"},
    {0x79, "CP949"},
    {0x4E, "CP949"},
    {0x78, "CP950"},
    {0x4F, "CP950"},
    {0x7C, "CP874"},
    {0x50, "CP874"},
    {0x57, "CP1252"},
    {0x58, "CP1252"},
    {0x59, "CP1252"},
    {0x66, "CP865"},
    {0x67, "CP861"},
    {0x68, "KAMENICKY"},
    {0x69, "MAZOVIA"},
    {0x6A, "CP737"},
    {0x6B, "CP857"},
    {0x6C, "CP863"},
    {0x7D, "CP1255"},
    {0x7E, "CP1256"},
    {0x86, "CP737"},
    {0x87, "CP852"},
    {0x88, "CP857"},
    {0x96, "MAC-CYRILLIC"},
    {0x97, "MAC-CENTRALEUROPE"},
    {0x98, "MACGREEK"},
    {0xC8, "CP1250"},
    {0xC9, "CP1251"},
    {0xCA, "CP1254"},
    {0xCB, "CP1253"},
    {0xCC, "CP1257"},
};

#define MARKS (sizeof marks / sizeof marks[0])

/* Characters that replace those of another code page from 0x80 on. */
typedef struct own {
  const char *name, *base; /* NULL: of 0x00 to 0x7F only */
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


const char *dbf_code_page (uint8_t mark) {
  for (size_t i = 0; i < MARKS; i++)
    if (marks[i].mark == mark)
      return marks[i].name;
  return NULL;
}


/* The code page that has a number: 1252, 65001, 28591, 88591. */
static void number_page (unsigned long number, char name[32]) {
  if (number == 65001)
    snprintf(name, 32, "UTF-8");
  else if (number > 28590 && number <= 28606)
    snprintf(name, 32, "ISO-8859-%lu", number - 28590);
  else if (number / 10 == 8859)
    snprintf(name, 32, "ISO-8859-%lu", number % 10);
  else if (number / 100 == 8859)
    snprintf(name, 32, "ISO-8859-%lu", number % 100);
  else
    snprintf(name, 32, "CP%lu", number);
}


/* Whether the letters of a word are those of `capitals`, which are not ended. */
static bool are_letters (const char *word, size_t size, const char *capitals) {
  return strlen(capitals) == size && strncasecmp(word, capitals, size) == 0;
}


/* The text of a .cpg file without blanks; false when it is no word. */
static bool read_word (pf_bytes text, char word[32]) {
  size_t n = 0;
  if (text.size >= 3 && memcmp(text.at, "\xef\xbb\xbf", 3) == 0)
    text = (pf_bytes){text.at + 3, text.size - 3};
  for (size_t i = 0; i < text.size; i++) {
    if (text.at[i] <= ' ')
      continue;
    if (text.at[i] >= 0x7f || n == 31)
      return false;
    word[n++] = (char)text.at[i];
  }
  word[n] = '\0';
  return n > 0;
}


/* The digits behind the letters of a word, without signs between; false when
   something else stands there. */
static bool read_digits (const char *word, char digits[32]) {
  size_t used = 0;
  for (; *word != '\0'; word++)
    if (*word >= '0' && *word <= '9')
      digits[used++] = *word;
    else if (strchr("-_/.:", *word) == NULL)
      return false;
  digits[used] = '\0';
  return used > 0 && used < 7;
}


bool dbf_cpg_page (pf_bytes text, char name[32]) {
  static const char *const vendors[] = {"",   "CP",      "ANSI", "OEM", "IBM",
                                        "MS", "WINDOWS", "ISO",  "DOS"};
  char digits[32];
  size_t letters = 0;
  if (!read_word(text, name))
    return false;
  while ((name[letters] | 0x20) >= 'a' && (name[letters] | 0x20) <= 'z')
    letters++;
  if (!read_digits(name + letters, digits))
    return true; /* a name of iconv's */
  const unsigned long number = strtoul(digits, NULL, 10);
  if (are_letters(name, letters, "LDID")) {
    const char *const page =
        number < 256 ? dbf_code_page((uint8_t)number) : NULL;
    snprintf(name, 32, "%s", page == NULL ? "" : page);
    return name[0] != '\0';
  }
  for (size_t i = 0; i < sizeof vendors / sizeof *vendors; i++)
    if (are_letters(name, letters, vendors[i])) {
      number_page(number, name);
      break;
    }
  return true;
}


uint8_t dbf_code_page_mark (const char *name) {
  for (size_t i = 0; i < MARKS; i++)
    if (strcasecmp(marks[i].name, name) == 0)
      return marks[i].mark;
  return 0;
}


/* {====== Tables ====== */

/* A character as UTF-8, its size in the highest byte. */
static uint32_t pack (uint32_t c) {
  if (c < 0x80)
    return c | 1u << 24;
  if (c < 0x800)
    return (0xC0u | c >> 6) | (0x80u | (c & 0x3F)) << 8 | 2u << 24;
  return (0xE0u | c >> 12) | (0x80u | (c >> 6 & 0x3F)) << 8 |
         (0x80u | (c & 0x3F)) << 16 | 3u << 24;
}


/* What iconv makes of one byte: packed, or 0 when it wants more bytes. */
static uint32_t convert_byte (iconv_t converter, uint8_t byte) {
  char in = (char)byte, out[8];
  char *from = &in, *to = out;
  size_t left = 1, room = sizeof out;
  iconv(converter, NULL, NULL, NULL, NULL);
  if (iconv(converter, &from, &left, &to, &room) == (size_t)-1)
    return errno == EINVAL ? 0 : pack(NOT_A_CHARACTER);
  const size_t size = sizeof out - room;
  if (size == 0 || size > 3)
    return pack(NOT_A_CHARACTER);
  uint32_t packed = (uint32_t)size << 24;
  for (size_t i = 0; i < size; i++)
    packed |= (uint32_t)(uint8_t)out[i] << 8 * i;
  return packed;
}


/* Fill the table through iconv; false when the name is unknown, or when plain
   letters are something else there. */
static bool ask_iconv (dbf_charset *charset, const char *name) {
  const iconv_t converter = iconv_open("UTF-8", name);
  if (converter == (iconv_t)-1)
    return false;
  charset->kind = DBF_BY_TABLE;
  bool plain = true;
  for (unsigned byte = 0; byte < 256; byte++) {
    charset->utf8[byte] = convert_byte(converter, (uint8_t)byte);
    if (charset->utf8[byte] == 0)
      charset->kind = DBF_BY_ICONV;
    if ((byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9'))
      plain = plain && charset->utf8[byte] == pack(byte);
  }
  iconv_close(converter);
  return plain;
}


static bool take_own (dbf_charset *charset, const own *page) {
  charset->kind = DBF_BY_TABLE;
  if (page->base != NULL && !ask_iconv(charset, page->base))
    return false;
  for (unsigned byte = 0; byte < 0x80; byte++)
    charset->utf8[byte] = pack(byte);
  for (size_t i = 0; i < page->count; i++)
    charset->utf8[0x80 + i] = pack(page->characters[i]);
  return true;
}


bool dbf_charset_open (dbf_charset *charset, const char *name) {
  memset(charset, 0, sizeof *charset);
  if (name[0] == '\0' || strcasecmp(name, "raw") == 0)
    return true;
  const size_t size = strlen(name);
  if (size >= sizeof charset->name)
    return false;
  memcpy(charset->name, name, size + 1);
  for (size_t i = 0; i < OWNS; i++)
    if (strcasecmp(owns[i].name, name) == 0)
      return take_own(charset, &owns[i]);
  return ask_iconv(charset, name);
}

/* }====== */


/* {====== Converting ====== */

pf_status dbf_converter_open (dbf_converter *converter,
                              const dbf_charset *charset) {
  *converter = (dbf_converter){charset, (iconv_t)-1};
  if (charset->kind != DBF_BY_ICONV)
    return PF_OK;
  converter->iconv = iconv_open("UTF-8", charset->name);
  if (converter->iconv != (iconv_t)-1)
    return PF_OK;
  return errno == ENOMEM ? PF_ENOMEM : PF_EUNSUPPORTED;
}


void dbf_converter_close (dbf_converter *converter) {
  if (converter->iconv != (iconv_t)-1)
    iconv_close(converter->iconv);
  converter->iconv = (iconv_t)-1;
}


/* iconv takes its input by a pointer that is not const, so a copy of it
   stands behind the output. */
size_t dbf_converted_room (const dbf_charset *charset, size_t size) {
  return charset->kind == DBF_BY_ICONV ? 5 * size + 16 : 3 * size;
}


bool dbf_is_plain (const dbf_charset *charset, pf_bytes text) {
  if (charset->kind == DBF_AS_BYTES)
    return true;
  uint64_t high = 0;
  size_t i = 0;
  for (; text.size - i >= 8; i += 8)
    high |= pf_load64le(text.at + i);
  for (; i < text.size; i++)
    high |= text.at[i];
  return (high & 0x8080808080808080u) == 0;
}


static size_t convert_by_table (const dbf_charset *charset, pf_bytes text,
                                uint8_t *out) {
  uint8_t *to = out;
  for (size_t i = 0; i < text.size; i++) {
    const uint32_t packed = charset->utf8[text.at[i]];
    to[0] = (uint8_t)packed;
    to[1] = (uint8_t)(packed >> 8);
    to[2] = (uint8_t)(packed >> 16);
    to += packed >> 24;
  }
  return (size_t)(to - out);
}


static size_t convert_by_iconv (const dbf_converter *converter, pf_bytes text,
                                uint8_t *out) {
  size_t room = 4 * text.size + 16, left = text.size;
  char *to = (char *)out, *from = (char *)out + room;
  memcpy(from, text.at, text.size);
  iconv(converter->iconv, NULL, NULL, NULL, NULL);
  while (left > 0 &&
         iconv(converter->iconv, &from, &left, &to, &room) == (size_t)-1) {
    if (room < 16 || left == 0)
      break;
    memcpy(to, "\xEF\xBF\xBD", 3);
    to += 3, room -= 3;
    from++, left--;
  }
  return (size_t)((uint8_t *)to - out);
}


size_t dbf_convert (dbf_converter *converter, pf_bytes text, uint8_t *out) {
  if (converter->charset->kind == DBF_BY_ICONV)
    return convert_by_iconv(converter, text, out);
  return convert_by_table(converter->charset, text, out);
}

/* }====== */
