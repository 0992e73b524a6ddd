/*
** memo.c - reads memo files. The offset of a block is its number times the
** block size; the header has 512 bytes.
**
** FPT, PRV (FoxPro, Xbase++), big-endian:
**   0  4  number of the next free block      6  2  bytes of a block (0: 1)
**   block:  0  4  0 picture, 1 text, 2 object    4  4  length    8  the bytes
**
** DBT of dBASE III and Clipper: blocks of 512 bytes
**   0  4  number of the next free block, little-endian
**   block:  the bytes, up to a byte 0x1A
**
** DBT of dBASE IV and 7, little-endian:
**   0  4  number of the next free block      20  2  bytes of a block (0: 512)
**   block:  0  4  FF FF 08 00    4  4  length with these 8    8  the bytes
**
** dbf_open and xpp call dbf_memo_open, fill.c finds each memo. Memos point into
** the source; nothing is allocated.
*/

#include <string.h>

#include "bytes/cursor.h"
#include "formats/dbf/internal.h"

#define HEADER 512

const char *const dbf_memo_names[] = {"none", "fpt", "dbt3", "dbt4"};


/* Returns the format by the option, else the version, else the contents. */
static dbf_memo_form form_of (const pf_trace *trace, uint8_t version,
                              pf_bytes memo) {
  for (dbf_memo_form form = DBF_FPT; form <= DBF_DBT4; form++)
    if (pf_option_is(trace, "memo_form", dbf_memo_names[form]))
      return form;
  if (version == 0x83)
    return DBF_DBT3;
  if (memchr("\x7B\x8B\x8C\xCB", version, 4) != NULL)
    return DBF_DBT4;
  if (dbf_is_visual(version) || version == 0xF5)
    return DBF_FPT;
  /* FPT has a block size at 6, DBT has NUL there */
  if (pf_load16(memo.at + 6, true) != 0)
    return DBF_FPT;
  if (memo.size >= HEADER + 4 && pf_load32be(memo.at + HEADER) == 0xFFFF0800u)
    return DBF_DBT4;
  return memo.size >= 22 && pf_load16(memo.at + 20, false) != 0 ? DBF_DBT4
                                                                : DBF_DBT3;
}


pf_status dbf_memo_open (pf_trace *trace, dbf_file *file, pf_error *error) {
  const pf_source *const source = pf_source_of(trace, "memo");
  file->memo_block = HEADER;
  bool has_memos = false;
  for (size_t i = 0; i < file->nfields; i++)
    has_memos |= file->fields[i].kind == DBF_MEMO;
  if (source == NULL || !has_memos)
    return PF_OK;
  if (source->bytes.size < 8 && pf_option_int(trace, "live", 0) != 0)
    return PF_OK; /* the file will be created later */
  if (source->bytes.size < 8)
    return pf_warn(trace, PF_DAMAGE, "dbf-memo-file", PF_ETRUNCATED,
                   PF_NO_OFFSET, error,
                   "a memo file of at least 512 bytes expected, it has %zu",
                   source->bytes.size);
  file->memo = form_of(trace, file->version, source->bytes);
  if (file->memo == DBF_FPT)
    file->memo_block = pf_load16(source->bytes.at + 6, true);
  else if (file->memo == DBF_DBT4 && source->bytes.size >= 22)
    file->memo_block = pf_load16(source->bytes.at + 20, false);
  if (file->memo_block == 0)
    file->memo_block = file->memo == DBF_FPT ? 1 : HEADER;
  return PF_OK;
}


static bool fail (const char **problem, const char *words) {
  *problem = words;
  return false;
}


bool dbf_memo_find (const dbf_file *file, pf_bytes memo, uint64_t block,
                    pf_bytes *value, bool *is_text, const char **problem) {
  if (block > memo.size / file->memo_block ||
      block * file->memo_block >= memo.size)
    return fail(problem, "this is after the end of the memo file");
  const size_t at = (size_t)(block * file->memo_block);
  const pf_bytes rest = {memo.at + at, memo.size - at};
  if (at < HEADER)
    return fail(problem, "this is inside the header of the memo file");
  *is_text = true;
  if (file->memo == DBF_DBT3) {
    const uint8_t *const end = memchr(rest.at, 0x1A, rest.size);
    *value = rest;
    if (end != NULL)
      value->size = (size_t)(end - rest.at);
    return true;
  }
  if (rest.size < 8)
    return fail(problem, "the memo file ends inside this block");
  uint32_t size = pf_load32be(rest.at + 4);
  if (file->memo == DBF_FPT) {
    if (size > rest.size - 8)
      return fail(problem, "this block is longer than the memo file");
    *is_text = pf_load32be(rest.at) == 1;
  }
  else {
    if (pf_load32be(rest.at) != 0xFFFF0800u)
      return fail(problem, "no memo begins at this block");
    size = pf_load32le(rest.at + 4);
    if (size < 8 || size > rest.size)
      return fail(problem, "this block states an impossible size");
    size -= 8;
  }
  *value = (pf_bytes){rest.at + 8, size};
  return true;
}
