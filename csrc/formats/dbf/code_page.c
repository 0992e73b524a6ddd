/*
** code_page.c - code pages of tables, by the mark in the header or by the text
** of a .cpg file. The marks are those of dBASE and FoxPro. Used by
** header_dbf.c, open_dbf.c and encode_dbf.c. Returned names are constants.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "formats/dbf/internal.h"

/* The marks of each code page. The first one is written. */
static const struct {
  const char *name, *marks;
} pages[] = {
    {"CP437", "\x01\x09\x0B\x0D\x0F\x11\x15\x18\x19\x1B"},
    {"CP850", "\x02\x0A\x0E\x10\x12\x14\x16\x1A\x1D\x25\x37"},
    {"CP1252", "\x03\x57\x58\x59"},
    {"MACINTOSH", "\x04"},
    {"CP865", "\x08\x17\x66"},
    {"CP932", "\x7B\x13"},
    {"CP863", "\x1C\x6C"},
    {"CP852", "\x64\x1F\x22\x23\x40\x87"},
    {"CP860", "\x24"},
    {"CP866", "\x65\x26"},
    {"CP936", "\x7A\x4D"},
    {"CP949", "\x79\x4E"},
    {"CP950", "\x78\x4F"},
    {"CP874", "\x7C\x50"},
    {"CP861", "\x67"},
    {"KAMENICKY", "\x68"},
    {"MAZOVIA", "\x69"},
    {"CP737", "\x6A\x86"},
    {"CP857", "\x6B\x88"},
    {"CP1255", "\x7D"},
    {"CP1256", "\x7E"},
    {"MAC-CYRILLIC", "\x96"},
    {"MAC-CENTRALEUROPE", "\x97"},
    {"MACGREEK", "\x98"},
    {"CP1250", "\xC8"},
    {"CP1251", "\xC9"},
    {"CP1254", "\xCA"},
    {"CP1253", "\xCB"},
    {"CP1257", "\xCC"},
};

#define PAGES (sizeof pages / sizeof pages[0])


const char *dbf_code_page (uint8_t mark) {
  if (mark == 0)
    return "";
  for (size_t i = 0; i < PAGES; i++)
    if (strchr(pages[i].marks, mark) != NULL)
      return pages[i].name;
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
  for (size_t i = 0; i < PAGES; i++)
    if (strcasecmp(pages[i].name, name) == 0)
      return (uint8_t)pages[i].marks[0];
  return 0;
}
