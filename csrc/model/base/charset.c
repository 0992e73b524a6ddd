/*
** charset.c - code pages and the conversion of their text.
**
** Beside the tables of code_pages.c there are three that iconv does not know:
** Kamenicky (Czech) and Mazovia (Polish), which differ from code page 437 in
** 0x80 to 0xAF, and Greek of the Macintosh.
*/

#include <errno.h>
#include <string.h>

#include "bytes/text.h"
#include "model/base/charset.h"
#include "model/base/code_pages.h"
#include "os/os.h"

/* clang-format off */
static const pf_code_page others[] = {
    {"KAMENICKY", 0x80,
     "ČüéďäĎŤčěĚĹÍľĺÄÁÉžŽôöÓůÚýÖÜŠĽÝŘťáíó"
     "úňŇŮÔšřŕŔ¼§«»░▒▓│┤╡╢╖╕╣║╗╝╜╛"
     "┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒"
     "╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±"
     "≥≤⌠⌡÷≈°∙·√ⁿ²■ "},
    {"MAZOVIA", 0x80,
     "ÇüéâäàąçêëèïîćÄĄĘęłôöĆûùŚÖÜ¢Ł¥śƒŹŻó"
     "ÓńŃźż¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜"
     "╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘"
     "╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡"
     "±≥≤⌠⌡÷≈°∙·√ⁿ²■ "},
    {"MACGREEK", 0x80,
     "Ä¹²É³ÖÜ΅àâä΄¨çéèêë£™îï•½‰ôö¦€ùûü†"
     "ΓΔΘΛΞΠß®©ΣΪ§≠°·Α±≤≥¥ΒΕΖΗΙΚΜΦΫΨΩάΝ¬"
     "ΟΡ≈Τ«»… ΥΧΆΈœ–―“”‘’÷ΉΊΌΎέήίόΏύα"
     "βψδεφγηιξκλμνοπώρστθωςχυζϊϋΐΰ­"},
    {NULL, 0, NULL}};
/* clang-format on */


/* Copies a name in capitals without punctuation, and what code pages are also
   called as they are called in the tables. */
static void normalise (const char *name, char to[32]) {
  static const struct {
    const char *also, *known;
  } beginnings[] = {{"IBM", "CP"},
                    {"WINDOWS", "CP"},
                    {"LATIN1", "ISO88591"},
                    {"LATIN2", "ISO88592"},
                    {"LATIN9", "ISO885915"}};
  size_t size = 0;
  for (; *name != '\0' && size < 20; name++) {
    const char c = *name;
    if (c >= 'a' && c <= 'z')
      to[size++] = (char)(c - 'a' + 'A');
    else if (c != '-' && c != '_' && c != ' ')
      to[size++] = c;
  }
  to[size] = '\0';
  for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
    const size_t length = strlen(beginnings[i].also);
    const size_t known = strlen(beginnings[i].known);
    if (strncmp(to, beginnings[i].also, length) == 0) {
      memmove(to + known, to + length, strlen(to + length) + 1);
      memcpy(to, beginnings[i].known, known);
    }
  }
}


/* Returns the table of a name; NULL: there is none. */
static const pf_code_page *find_page (const char *name) {
  static const pf_code_page *const lists[] = {pf_code_pages, others};
  char wanted[32], known[32];
  normalise(name, wanted);
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
    for (const pf_code_page *page = lists[i]; page->name != NULL; page++) {
      normalise(page->name, known);
      if (strcmp(wanted, known) == 0)
        return page;
    }
  return NULL;
}


/* Fills the table of a charset from that of a page. */
static void use_page (pf_charset *charset, const pf_code_page *page) {
  const uint8_t *at = (const uint8_t *)page->characters;
  charset->kind = PF_TEXT_BY_TABLE;
  for (uint32_t byte = 0; byte < page->first; byte++)
    charset->utf8[byte] =
        byte < 0x80 ? byte | 1u << 24 : 0xC2u | byte << 8 | 2u << 24;
  for (unsigned byte = page->first; byte < 256; byte++) {
    const size_t size = pf_utf8(at, 4);
    uint32_t packed = (uint32_t)size << 24;
    for (size_t i = 0; i < size; i++)
      packed |= (uint32_t)at[i] << 8 * i;
    charset->utf8[byte] = packed;
    at += size;
  }
}


/* Whether the system knows a code page that contains ASCII, except 1A, 1C and
   7F, which code pages of IBM exchange. */
static bool ask_system (pf_charset *charset) {
  os_code_page page;
  char converted[32];
  bool is_ascii = os_code_page_open(&page, charset->name, true), complete;
  for (char c = 0; is_ascii && c < 0x7F; c++)
    if (c != 0x1A && c != 0x1C)
      is_ascii = os_code_page_convert(&page, &c, 1, converted, sizeof converted,
                                      &complete) == 1 &&
                 complete && converted[0] == c;
  os_code_page_close(&page);
  charset->kind = PF_TEXT_BY_SYSTEM;
  return is_ascii;
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
  const pf_code_page *const page = find_page(name);
  if (page == NULL)
    return ask_system(charset);
  use_page(charset, page);
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
                                 const pf_charset *charset, bool to_utf8) {
  *converter = (pf_converter){.charset = charset};
  if (charset->kind != PF_TEXT_BY_SYSTEM ||
      os_code_page_open(&converter->page, charset->name, to_utf8))
    return PF_OK;
  return errno == ENOMEM ? PF_ENOMEM : PF_EUNSUPPORTED;
}


pf_status pf_converter_open (pf_converter *converter,
                             const pf_charset *charset) {
  return open_converter(converter, charset, true);
}


pf_status pf_converter_open_back (pf_converter *converter,
                                  const pf_charset *charset) {
  return open_converter(converter, charset, false);
}


void pf_converter_close (pf_converter *converter) {
  os_code_page_close(&converter->page);
}


size_t pf_converted_max (const pf_charset *charset, size_t size) {
  return charset->kind == PF_TEXT_BY_SYSTEM ? PF_CONVERTED_MAX(size) : 3 * size;
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


size_t pf_convert (pf_converter *converter, pf_bytes text, uint8_t *out) {
  bool complete;
  if (converter->charset->kind == PF_TEXT_BY_SYSTEM)
    return os_code_page_convert(&converter->page, (const char *)text.at,
                                text.size, (char *)out,
                                PF_CONVERTED_MAX(text.size), &complete);
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
  if (converter->charset->kind != PF_TEXT_BY_SYSTEM)
    return back_by_table(converter->charset, text, out, size);
  if (converter->page.converter != NULL)
    *size = os_code_page_convert(&converter->page, (const char *)text.at,
                                 text.size, (char *)out,
                                 PF_CONVERTED_MAX(text.size), &complete);
  return complete;
}
