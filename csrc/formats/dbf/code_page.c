/*
** code_page.c - code pages of tables, by the mark in the header or by a .cpg
** file. The marks are those of dBASE and FoxPro. Used by header_dbf.c,
** open_dbf.c and encode_dbf.c. Returned names are constants.
*/

#include <string.h>

#include "bytes/text.h"
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


bool dbf_open_cpg (pf_trace *trace, pf_charset *charset, pf_error *error) {
  const pf_source *const cpg = pf_source_of(trace, "cpg");
  if (cpg == NULL)
    return false;
  const char *name = NULL;
  pf_bytes text = cpg->bytes;
  const uint8_t *const end =
      text.size > 1 ? memchr(text.at + 1, 0, text.size - 1) : NULL;
  if (end != NULL) {
    name =
        text.at[0] != 0 ? dbf_code_page(text.at[0]) : (const char *)text.at + 1;
    text.size -= (size_t)(end + 1 - text.at);
    text.at = end + 1;
  }
  if (name != NULL && name[0] != '\0' && pf_charset_open(charset, name))
    return true;
  memset(charset, 0, sizeof *charset);
  (void)pf_warn(trace, PF_NOTE, "dbf-cpg", PF_EUNSUPPORTED, PF_NO_OFFSET, error,
                "%s: a code page expected, found \"%.*s\": the mark of the "
                "table counts",
                cpg->path, (int)(text.size < 40 ? text.size : 40),
                (const char *)text.at);
  return false;
}


uint8_t dbf_code_page_mark (const char *name) {
  for (size_t i = 0; i < PAGES; i++)
    if (pf_is_alike(pages[i].name, name))
      return (uint8_t)pages[i].marks[0];
  return 0;
}
