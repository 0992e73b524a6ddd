/*
** header_dbf.c - reads and scores the header of a table, and finds the records
** after it. Numbers are little-endian.
**
** dBASE III and IV, FoxPro, Visual FoxPro, Clipper, Xbase++:
**   0    1   version
**   1    3   last change: year (less 1900 or modulo 100), month, day
**   4    4   number of records
**   8    2   offset of the first record
**   10   2   bytes of a record, with its delete flag
**   15   1   1: the records are encrypted (dBASE IV)
**   28   1   1 structural index, 2 memo, 4 container
**   29   1   code page
**   32   32  descriptors, up to a byte 0x0D (0x0D 0x00 by Clipper and Xbase++'s
**            DBFDBE; other writers end with 0x00 or 0x0A, or with nothing):
**              0   11  name, ends with NUL unless it has 11 bytes
**              11  1   type
**              12  4   offset in the record: Visual FoxPro only, and often 0.
**                      Not used: offsets are sums of sizes
**              16  1   size
**              17  1   decimals; of a long C field the size's high byte
**              18  1   flags: 1 system, 2 nullable, 4 no conversion, 12 counts
**              19  5   next value and step of an autoincrement field
**   then 263 bytes of Visual FoxPro: the path of its container, or zeros
**
** dBASE 7 (0x04, 0x8C): the name of its language driver at 32; descriptors of
** 48 bytes from 68 on: name 32, type, size, decimals.
**
** FoxBASE (0x02): records 2 bytes at 1, date 3, bytes of a record 2 at 6, 32
** descriptors of 16 bytes from 8 on (name 11, type, size, address 2, decimals);
** records begin at 521.
**
** Sources: Microsoft's description of the table structure, and public files. It
** is not known what the versions 0x43, 0x63 and 0xCB change.
**
** dbf_open is called by open_dbf.c and xpp/fields.c, which own the dbf_file.
*/

#include <stdlib.h>
#include <string.h>
#include <stdio.h>

#include "bytes/cursor.h"
#include "formats/dbf/internal.h"
#include "model/dictionary/names.h"

#define MAX_FIELDS 2046 /* maximum in a header of 65,535 bytes */
#define ENCRYPTION 15   /* offset of the mark of encrypted tables */

static const struct {
  uint8_t byte;
  const char *name;
} versions[] = {
    {0x02, "FoxBASE"},
    {0x03, "dBASE III"},
    {0x04, "dBASE 7"},
    {0x05, "dBASE 5"},
    {0x07, "Visual Objects"},
    {0x30, "Visual FoxPro"},
    {0x31, "Visual FoxPro with autoincrement"},
    {0x32, "Visual FoxPro with varchar"},
    {0x43, "dBASE IV SQL table"},
    {0x63, "dBASE IV SQL system file"},
    {0x7B, "dBASE IV with memo"},
    {0x83, "dBASE III with memo"},
    {0x87, "Visual Objects with memo"},
    {0x8B, "dBASE IV with memo"},
    {0x8C, "dBASE 7 with memo"},
    {0x8E, "dBASE IV with SQL table"},
    {0xCB, "dBASE IV SQL table with memo"},
    {0xE5, "Clipper SIX with memo"},
    {0xF5, "FoxPro 2 with memo"},
    {0xFB, "FoxBASE+ with memo"},
};


const char *dbf_version_name (uint8_t byte) {
  for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
    if (versions[i].byte == byte)
      return versions[i].name;
  return NULL;
}


const dbf_layout *dbf_layout_of (uint8_t version) {
  static const dbf_layout usual = {32, 32, 11, 11, 16, 17, 18, 0};
  static const dbf_layout seven = {68, 48, 32, 32, 33, 34, 0, 0};
  static const dbf_layout foxbase = {8, 16, 11, 11, 12, 15, 0, 521};
  return version == 0x02 ? &foxbase : dbf_is_seven(version) ? &seven : &usual;
}


/* Returns the stated offset of the first record. The header must be
   complete. */
static uint32_t stated_start (pf_bytes bytes) {
  const dbf_layout *const layout = dbf_layout_of(bytes.at[0]);
  return layout->fixed_end != 0 ? layout->fixed_end
                                : pf_load16(bytes.at + 8, false);
}


static uint32_t stated_record (pf_bytes bytes) {
  return pf_load16(bytes.at + (bytes.at[0] == 0x02 ? 6 : 10), false);
}


uint64_t dbf_header_count (const dbf_file *file, pf_bytes bytes) {
  if (bytes.size < 8)
    return 0;
  return file->version == 0x02 ? pf_load16(bytes.at + 1, false)
                               : pf_load32le(bytes.at + 4);
}


uint64_t dbf_complete_records (const dbf_file *file, pf_bytes bytes) {
  return bytes.size < file->start ? 0
                                  : (bytes.size - file->start) / file->record;
}


dbf_run dbf_available (const dbf_file *file, pf_bytes bytes, uint64_t first,
                       size_t maximum) {
  const uint64_t complete = dbf_complete_records(file, bytes);
  const uint64_t counted = dbf_header_count(file, bytes);
  const uint64_t sure = counted < complete ? counted : complete;
  if (first >= complete)
    return (dbf_run){NULL, 0, 0};
  const uint64_t offset = file->start + first * file->record;
  dbf_run run = {bytes.at + offset, 0, offset};
  if (first < sure)
    run.count = sure - first < maximum ? (size_t)(sure - first) : maximum;
  while (run.count < maximum && run.count < complete - first &&
         dbf_is_flag(run.at[run.count * file->record]))
    run.count++;
  return run;
}


static bool begins_name (uint8_t byte) {
  return byte >= 0x21 && byte != 0x7F;
}


/* Returns the number of complete descriptors; *end is the offset after them. */
static size_t count_descriptors (pf_bytes bytes, uint32_t limit,
                                 uint32_t *end) {
  const dbf_layout *const layout = dbf_layout_of(bytes.at[0]);
  const uint64_t last = limit < bytes.size ? limit : bytes.size;
  size_t count = 0;
  uint64_t at = layout->first;
  while (at + layout->size <= last && begins_name(bytes.at[at]) &&
         count < MAX_FIELDS) {
    at += layout->size;
    count++;
  }
  *end = (uint32_t)at;
  return count;
}


/* The end of the bytes that can hold descriptors: the stated start of records,
   or the file size (at most 65,536) if that start is impossibly small. */
static uint32_t descriptor_limit (pf_bytes bytes) {
  const uint32_t start = stated_start(bytes);
  const dbf_layout *const layout = dbf_layout_of(bytes.at[0]);
  const bool bare = stated_record(bytes) == 1 && start > layout->first;
  if (bare || start >= layout->first + layout->size)
    return start;
  return bytes.size < 65536 ? (uint32_t)bytes.size : 65536;
}


static pf_status check_end (pf_trace *trace, const dbf_file *file,
                            pf_error *error) {
  const pf_bytes bytes = trace->sources[0].bytes;
  const uint32_t limit = descriptor_limit(bytes);
  const uint32_t end = file->descriptors_end;
  const bool cut = end < limit && bytes.size < limit &&
                   (bytes.size <= end || begins_name(bytes.at[end]));
  if (end < bytes.size && bytes.at[end] == 0x0D)
    return PF_OK;
  static const char cut_short[] =
      "a header of %u bytes expected, the file ends after %zu";
  if (cut && file->nfields == 0)
    return pf_fail(error, PF_ETRUNCATED, end, cut_short, limit, bytes.size);
  if (cut)
    return pf_warn(trace, PF_DAMAGE, "dbf-truncated", PF_ETRUNCATED, end, error,
                   cut_short, limit, bytes.size);
  return pf_warn(trace, PF_NOTE, "dbf-no-terminator", PF_EFORMAT, end, error,
                 "0x0D expected after the last of %zu field descriptors",
                 file->nfields);
}


static pf_status read_descriptors (pf_trace *trace, dbf_file *file,
                                   pf_error *error) {
  const pf_bytes bytes = trace->sources[0].bytes;
  const dbf_layout *const layout = dbf_layout_of(file->version);
  file->nfields =
      count_descriptors(bytes, descriptor_limit(bytes), &file->descriptors_end);
  file->fields = calloc(file->nfields + 1, sizeof *file->fields);
  if (file->fields == NULL)
    return pf_no_memory(error);
  for (size_t i = 0; i < file->nfields; i++) {
    dbf_field *const field = &file->fields[i];
    field->descriptor_at = layout->first + i * layout->size;
    const uint8_t *const p = bytes.at + field->descriptor_at;
    field->type = (char)p[layout->type];
    field->size = field->stated = p[layout->length];
    field->decimals = p[layout->decimals];
    field->null_bit = field->length_bit = -1;
    /* in other versions than Visual FoxPro the flags may be garbage */
    field->flags = dbf_is_visual(file->version) ? p[layout->flags] : 0;
  }
  return check_end(trace, file, error);
}


/* Get the code page of a dBASE 7 language driver: DB852CZ0, DBWINUS0. NULL for
   other versions and drivers. */
static const char *driver_page (const dbf_file *file, pf_bytes bytes,
                                char *page) {
  const uint8_t *const name = bytes.at + 32;
  if (!dbf_is_seven(file->version) || bytes.size < 40)
    return NULL;
  if (memcmp(name, "DBWINUS0", 8) == 0 || memcmp(name, "DBWINWE0", 8) == 0 ||
      memcmp(name, "DBWINES0", 8) == 0)
    return "CP1252";
  for (int i = 2; i < 5; i++)
    if (memcmp(name, "DB", 2) != 0 || name[i] < '0' || name[i] > '9')
      return NULL;
  memcpy(page, "CP", 2);
  memcpy(page + 2, name + 2, 3);
  page[5] = '\0';
  return page;
}


/* Select the code page: the option, else the .cpg file, else the header. */
static pf_status select_charset (pf_trace *trace, dbf_file *file,
                                 pf_error *error) {
  pf_bytes given;
  char name[32] = "";
  if (pf_option_text(trace, "code_page", &given) &&
      !pf_option_is(trace, "code_page", "auto"))
    return pf_charset_open_given(&file->charset, given, error);
  if (dbf_open_cpg(trace, &file->charset, error))
    return PF_OK;
  const char *page = dbf_code_page(file->mark);
  if (page == NULL)
    (void)pf_warn(trace, PF_NOTE, "dbf-code-page", PF_EUNSUPPORTED, 29, error,
                  "no code page has the mark 0x%02x: text passes through as "
                  "it is; give one with code_page = NAME",
                  file->mark);
  else if (page[0] == '\0')
    page = driver_page(file, trace->sources[0].bytes, name);
  if (page == NULL || pf_charset_open(&file->charset, page))
    return PF_OK;
  memset(&file->charset, 0, sizeof file->charset);
  return pf_warn(trace, PF_NOTE, "dbf-code-page", PF_EUNSUPPORTED, 29, error,
                 "this system cannot convert %s: text passes through as it is",
                 page);
}


static pf_status read_head (pf_trace *trace, dbf_file *file, pf_error *error) {
  const pf_bytes bytes = trace->sources[0].bytes;
  const uint32_t minimum =
      bytes.size > 0 ? dbf_layout_of(bytes.at[0])->first : 32;
  if (bytes.size < minimum)
    return pf_fail(error, PF_ETRUNCATED, bytes.size,
                   "a header of at least %u bytes expected, the file ends "
                   "after %zu",
                   minimum, bytes.size);
  file->version = bytes.at[0];
  if (file->version != 0x02 && bytes.at[ENCRYPTION] == 1)
    return pf_fail(
        error, PF_EUNSUPPORTED, ENCRYPTION,
        "the table is encrypted: copy it without encryption in the "
        "program that wrote it (dBASE: SET ENCRYPTION OFF, COPY TO)");
  file->mark = file->version == 0x02 ? 0 : bytes.at[29];
  file->start = stated_start(bytes);
  file->record = stated_record(bytes);
  if (dbf_version_name(file->version) != NULL)
    return PF_OK;
  return pf_warn(trace, PF_NOTE, "dbf-version", PF_EUNSUPPORTED, 0, error,
                 "version 0x%02x is not known: read as dBASE III",
                 file->version);
}


#define MAX_BYTES  32                   /* of a name in a descriptor */
#define MAX_SUFFIX 8                    /* bytes of _2046 or longer, NUL too */
#define NAME_SIZE  (5 * MAX_BYTES + 24) /* in UTF-8 with a suffix */

/* The columns that profio adds. Their names are the first ones in file->names,
   those of the fields follow. */
static const char *const added[] = {"record", "deleted"};

#define ADDED (sizeof added / sizeof *added)


/* Name a field: the bytes up to the first NUL, without blanks at the end. A
   name in use gets a suffix, with a note. suffixes[id] is the number of
   suffixes tried for the name `id`; the first one is _2. */
static pf_status name_field (pf_trace *trace, dbf_file *file, size_t number,
                             unsigned *suffixes, pf_converter *converter,
                             pf_error *error) {
  dbf_field *const field = &file->fields[number];
  const size_t maximum = dbf_layout_of(file->version)->name;
  pf_bytes stored = {trace->sources[0].bytes.at + field->descriptor_at, 0};
  char name[NAME_SIZE];
  while (stored.size < maximum && stored.at[stored.size] != 0)
    stored.size++;
  while (stored.size > 0 && stored.at[stored.size - 1] == ' ')
    stored.size--;
  size_t size = stored.size;
  if (pf_is_same_in_utf8(converter->charset, stored))
    memcpy(name, stored.at, size);
  else
    size = pf_convert(converter, stored, (uint8_t *)name);
  const size_t most = NAME_SIZE - MAX_SUFFIX - 1;
  name[size < most ? size : most] = '\0';
  const uint32_t other = pf_find_name(file->names, pf_bytes_of(name));
  char *const end = name + strlen(name);
  while (pf_find_name(file->names, pf_bytes_of(name)) != PF_NO_NAME)
    snprintf(end, MAX_SUFFIX, "_%u", ++suffixes[other] + 1); /* _2, _3, ... */
  const uint32_t id = pf_intern_text(file->names, name);
  if (id == PF_NO_NAME)
    return pf_no_memory(error);
  field->name = (const char *)pf_name(file->names, id).at;
  if (other == PF_NO_NAME)
    return PF_OK;
  return pf_warn(
      trace, PF_NOTE, "dbf-field-name", PF_EFORMAT, field->descriptor_at, error,
      "the name of field %zu is in use: it is called %s", number + 1, name);
}


pf_status dbf_converter_open (pf_converter *converter, const dbf_file *file,
                              pf_error *error) {
  const pf_status status = pf_converter_open(converter, &file->charset);
  if (status == PF_OK)
    return PF_OK;
  return pf_fail(error, status, PF_NO_OFFSET,
                 "the code page %s is no longer available", file->charset.name);
}


static pf_status name_fields (pf_trace *trace, dbf_file *file,
                              pf_error *error) {
  unsigned *const suffixes = calloc(file->nfields + ADDED, sizeof *suffixes);
  pf_converter converter;
  pf_status status = dbf_converter_open(&converter, file, error);
  file->names = pf_dictionary_new();
  if (status == PF_OK && (suffixes == NULL || file->names == NULL))
    status = pf_no_memory(error);
  if (status == PF_OK) {
    uint32_t ids[ADDED]; /* only that the names are in use counts */
    status = pf_intern_texts(file->names, added, ADDED, ids, error);
  }
  for (size_t i = 0; i < file->nfields && status == PF_OK; i++)
    status = name_field(trace, file, i, suffixes, &converter, error);
  pf_converter_close(&converter);
  free(suffixes);
  return status;
}


pf_status dbf_open (pf_trace *trace, dbf_file **made, pf_error *error) {
  dbf_file *const file = calloc(1, sizeof *file);
  *made = file;
  if (file == NULL)
    return pf_no_memory(error);
  pf_status status = read_head(trace, file, error);
  if (status == PF_OK)
    status = select_charset(trace, file, error);
  if (status == PF_OK)
    status = read_descriptors(trace, file, error);
  if (status == PF_OK)
    status = dbf_derive_fields(trace, file, error);
  if (status == PF_OK)
    status = name_fields(trace, file, error);
  if (status == PF_OK)
    status = dbf_memo_open(trace, file, error);
  return status;
}


void dbf_close (dbf_file *file) {
  if (file == NULL)
    return;
  free(file->fields);
  pf_dictionary_free(file->names);
  free(file);
}


/* Whether a descriptor has a valid name and a known type. */
static bool is_descriptor (const uint8_t *at, const dbf_layout *layout) {
  size_t size = 0;
  while (size < layout->name && at[size] != 0) {
    const uint8_t c = at[size++];
    if (c < 0x20 || c == 0x7F || (size == 1 && c >= '0' && c <= '9'))
      return false;
  }
  return size > 0 && at[layout->type] != 0 &&
         strchr("CNFLDIBYTMGPWVQ0O@+X", at[layout->type]) != NULL;
}


/* Whether a header has no fields: 33 or 34 bytes, or with a backlink. */
static bool is_bare (pf_bytes head) {
  return stated_record(head) == 1 &&
         (stated_start(head) == 33 || stated_start(head) == 34 ||
          stated_start(head) == 33 + DBF_BACKLINK) &&
         head.size > 32 && head.at[32] == 0x0D;
}


/* Whether a name consists of letters, digits and underscores and ends with a
   NUL before its last byte, as most short names do. */
static bool is_well_named (const uint8_t *at, const dbf_layout *layout) {
  size_t size = 0;
  while (size + 1 < layout->name &&
         (at[size] == '_' || (at[size] >= '0' && at[size] <= '9') ||
          ((at[size] | 0x20) >= 'a' && (at[size] | 0x20) <= 'z')))
    size++;
  return size > 0 && at[size] == 0;
}


/* Whether at least three of four descriptors are valid, and they are complete:
   0x0D follows, their sizes add up to the record size, or the file is truncated
   inside them. */
static bool are_descriptors (pf_bytes head, size_t count, uint32_t end) {
  const dbf_layout *const layout = dbf_layout_of(head.at[0]);
  size_t valid = 0;
  uint64_t sum = 1, long_sum = 1;
  for (size_t i = 0; i < count; i++) {
    const uint8_t *const at = head.at + layout->first + i * layout->size;
    valid += is_descriptor(at, layout);
    sum += at[layout->length];
    long_sum += at[layout->length];
    if (at[layout->type] == 'C')
      long_sum += (uint64_t)at[layout->decimals] << 8;
  }
  const uint32_t record = stated_record(head);
  const bool is_ended = end < head.size && head.at[end] == 0x0D;
  const bool is_cut = head.size < stated_start(head) && valid == count &&
                      head.size - end < layout->size;
  return valid * 4 >= count * 3 &&
         (is_ended || is_cut || sum == record || long_sum == record);
}


int dbf_score (pf_bytes head, uint64_t size) {
  if (head.size < 33 || dbf_version_name(head.at[0]) == NULL)
    return 0;
  const dbf_layout *const layout = dbf_layout_of(head.at[0]);
  const uint8_t *const date = head.at + (head.at[0] == 0x02 ? 3 : 1);
  const bool dated =
      (date[1] >= 1 && date[1] <= 12 && date[2] >= 1 && date[2] <= 31) ||
      (date[0] == 0 && date[1] == 0 && date[2] == 0);
  if (!dated || stated_start(head) < layout->first + 1 ||
      head.size < layout->first + layout->size)
    return dated && is_bare(head) ? 60 : 0;
  if (!is_descriptor(head.at + layout->first, layout))
    return is_bare(head) ? 60 : 0;
  uint32_t end;
  const size_t count = count_descriptors(head, descriptor_limit(head), &end);
  if (!is_well_named(head.at + layout->first, layout) &&
      !are_descriptors(head, count, end))
    return 0;
  if (stated_record(head) < 2 || stated_start(head) > size)
    return 30; /* truncated, or with damaged sizes */
  return end < head.size && head.at[end] == 0x0D ? 90 : 60;
}
