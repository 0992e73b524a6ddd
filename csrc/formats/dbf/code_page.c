/*
** code_page.c - code pages of tables, by the mark in the header or by the
** text of a .cpg file. The marks are those of dBASE and FoxPro.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "formats/dbf/internal.h"

typedef struct page_mark {
  uint8_t mark;
  const char *name;
} page_mark;

/* Of several marks of a code page the first one is written. */
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


const char *dbf_code_page (uint8_t mark) {
  for (size_t i = 0; i < MARKS; i++)
    if (marks[i].mark == mark)
      return marks[i].name;
  return NULL;
}


/* Format the name of a code page with a number: 1252, 65001, 28591, 88591. */
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


/* Whether `size` bytes of a word equal `capitals`, ignoring case. */
static bool are_letters (const char *word, size_t size, const char *capitals) {
  return strlen(capitals) == size && strncasecmp(word, capitals, size) == 0;
}


/* Copy the text of a .cpg file without blanks. Returns false if it is not a
   word of up to 31 bytes. */
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


/* Copy the digits at the end of a word, without separators. Returns false if it
   has other characters. */
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
    return true; /* a name of iconv */
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
