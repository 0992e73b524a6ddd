/*
** code_pages.c - the code pages of two bytes, and UTF-8.
*/

#include "os/windows/wide.h"

#include <stdio.h>
#include <string.h>

bool os_code_page_open (os_code_page *page, const char *name, bool to_utf8) {
  static const struct {
    const char *name;
    UINT number;
  } pages[] = {{"CP932", 932}, {"CP936", 936},     {"GBK", 936},
               {"CP949", 949}, {"CP950", 950},     {"BIG5", 950},
               {"UHC", 949},   {"UTF-8", CP_UTF8}, {"UTF8", CP_UTF8}};
  for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
    if (_stricmp(pages[i].name, name) == 0 &&
        (pages[i].number == CP_UTF8 || IsValidCodePage(pages[i].number))) {
      *page = (os_code_page){(void *)(uintptr_t)pages[i].number, to_utf8};
      return true;
    }
  *page = (os_code_page){NULL, to_utf8};
  errno = EINVAL;
  return false;
}


void os_code_page_close (os_code_page *page) {
  page->converter = NULL;
}


static UINT number_of (const os_code_page *page) {
  return (UINT)(uintptr_t)page->converter;
}


/* Converts one character of `size` bytes; returns the bytes that are written;
   0: it is none, or the other side has none. */
static size_t convert_one (const os_code_page *page, const char *text, int size,
                           char *out) {
  const UINT from = page->to_utf8 ? number_of(page) : CP_UTF8;
  const UINT to = page->to_utf8 ? CP_UTF8 : number_of(page);
  wchar_t wide[4];
  BOOL is_replaced = FALSE;
  const int count =
      MultiByteToWideChar(from, MB_ERR_INVALID_CHARS, text, size, wide, 4);
  if (count <= 0)
    return 0;
  const int n = WideCharToMultiByte(
      to, to == CP_UTF8 ? 0 : WC_NO_BEST_FIT_CHARS, wide, count, out, 8, NULL,
      to == CP_UTF8 ? NULL : &is_replaced);
  return n > 0 && !is_replaced ? (size_t)n : 0;
}


/* The bytes of the character that begins with a byte, as far as it tells. */
static size_t size_of (const os_code_page *page, uint8_t byte) {
  if (page->to_utf8 && number_of(page) != CP_UTF8)
    return IsDBCSLeadByteEx(number_of(page), byte) ? 2 : 1;
  return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}


size_t os_code_page_convert (os_code_page *page, const char *text, size_t size,
                             char *out, size_t room, bool *complete) {
  char *to = out;
  (void)room; /* each byte becomes 3 at most */
  *complete = true;
  for (size_t i = 0; i < size;) {
    const size_t length = size_of(page, (uint8_t)text[i]);
    const size_t n =
        length > size - i ? 0 : convert_one(page, text + i, (int)length, to);
    to += n;
    i += n > 0 ? length : 1;
    if (n > 0)
      continue;
    *complete = false;
    if (!page->to_utf8)
      break;
    memcpy(to, "\xEF\xBF\xBD", 3);
    to += 3;
  }
  return (size_t)(to - out);
}
