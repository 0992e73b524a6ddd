/*
** code_pages.c - code pages by iconv.
*/

#include "os/os.h"

#include <iconv.h>
#include <string.h>

bool os_code_page_open (os_code_page *page, const char *name, bool to_utf8) {
  const iconv_t converter =
      iconv_open(to_utf8 ? "UTF-8" : name, to_utf8 ? name : "UTF-8");
  const bool done = converter != (iconv_t)-1;
  *page = (os_code_page){done ? converter : NULL, to_utf8};
  return done;
}


void os_code_page_close (os_code_page *page) {
  if (page->converter != NULL)
    iconv_close(page->converter);
  page->converter = NULL;
}


/* A copy of the text after the output is converted, because iconv takes a
   pointer that is not const. The last call writes a character that iconv holds
   because a combining one might follow. */
size_t os_code_page_convert (os_code_page *page, const char *text, size_t size,
                             char *out, size_t room, bool *complete) {
  size_t left = size, capacity = room - size;
  char *to = out, *from = out + capacity;
  memcpy(from, text, size);
  iconv(page->converter, NULL, NULL, NULL, NULL);
  *complete = true;
  while (left > 0 &&
         iconv(page->converter, &from, &left, &to, &capacity) == (size_t)-1) {
    *complete = false;
    if (!page->to_utf8 || capacity < 16 || left == 0)
      break;
    memcpy(to, "\xEF\xBF\xBD", 3);
    to += 3, capacity -= 3;
    from++, left--;
  }
  if (iconv(page->converter, NULL, NULL, &to, &capacity) == (size_t)-1)
    *complete = false;
  return (size_t)(to - out);
}
