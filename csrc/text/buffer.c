/*
** buffer.c - the text buffer, and texts that are safe for a terminal. Used by
** the row formats of this folder, by lua/row_text.c and by the exports of
** lua/profile, which own the buffers and free row_text.at.
*/

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "model/base/memory.h"
#include "os/os.h"
#include "text/rows.h"

#define FLUSH_SIZE (256u * 1024)


pf_status row_grow (row_text *text, size_t more) {
  return pf_grow(&text->at, &text->size, text->used + more) ? PF_OK : PF_ENOMEM;
}


/* Writes a text to the target and empties it. */
static pf_status write_out (row_job *job, row_text *text) {
  const row_target *const to = &job->target;
  const size_t size = text->used;
  text->used = 0;
  job->errnum = to->errnum;
  if (job->errnum != 0)
    return PF_EIO;
  if (size == 0)
    return PF_OK;
  if (to->write != NULL)
    return to->write(to->context, to->arg, text->at, size, &job->errnum)
               ? PF_OK
               : PF_EIO;
  if (os_write(to->fd, text->at, size, OS_HERE))
    return PF_OK;
  job->errnum = errno;
  return PF_EIO;
}


pf_status row_flush (row_job *job, bool all) {
  if (!row_has_target(&job->target))
    return job->max_size > 0 && job->text.used > job->max_size ? PF_ELIMIT
                                                               : PF_OK;
  if (!all && job->text.used < FLUSH_SIZE)
    return PF_OK;
  const pf_status status = write_out(job, &job->text);
  const row_target *const to = &job->target;
  if (status != PF_OK || !all || to->write == NULL)
    return status;
  return to->write(to->context, to->arg, NULL, 0, &job->errnum) ? PF_OK
                                                                : PF_EIO;
}


pf_status row_put_text (row_job *job, row_text *text) {
  if (!row_has_target(&job->target))
    return row_put(&job->text, text->at, text->used);
  const pf_status status = write_out(job, &job->text);
  return status == PF_OK ? write_out(job, text) : status;
}


/* Returns the character of 2 or 3 bytes of UTF-8 if a terminal shows nothing of
   it, or shows others in another order (the default-ignorable and bidirectional
   format characters of Unicode, and its line separators), else 0. */
static uint32_t hidden_character (const uint8_t *at, size_t size) {
  const uint32_t code = size == 2   ? (at[0] & 0x1fu) << 6 | (at[1] & 0x3fu)
                        : size == 3 ? (at[0] & 0xfu) << 12 |
                                          (at[1] & 0x3fu) << 6 | (at[2] & 0x3fu)
                                    : 0;
  const bool is_hidden = code == 0x61c || code == 0x180e || code == 0xfeff ||
                         (code >= 0x200b && code <= 0x200f) ||
                         (code >= 0x2028 && code <= 0x202e) ||
                         (code >= 0x2060 && code <= 0x206f);
  return is_hidden ? code : 0;
}


/* Appends a text that is not printable ASCII. */
static void put_escaped (row_text *text, pf_bytes bytes, size_t *width) {
  for (size_t i = 0; i < bytes.size;) {
    const uint8_t *const at = bytes.at + i;
    const size_t plain = row_copy_plain(text->at + text->used,
                                        (pf_bytes){at, bytes.size - i}, 0, 0);
    if (plain > 0) {
      text->used += plain;
      *width += plain;
      i += plain;
      continue;
    }
    const size_t size = pf_utf8(at, bytes.size - i);
    char *const to = text->at + text->used;
    const bool is_control = at[0] < 0x20 || at[0] == 0x7f || /* C0, DEL, C1 */
                            (size == 2 && at[0] == 0xc2 && at[1] < 0xa0);
    const uint32_t hidden = hidden_character(at, size);
    if (hidden != 0) {
      snprintf(to, 7, "\\u%04x", (unsigned)hidden);
      text->used += 6;
      *width += 6;
      i += size;
      continue;
    }
    if (size > 0 && !is_control) {
      memcpy(to, at, size);
      text->used += size;
      *width += 1;
      i += size;
      continue;
    }
    const uint8_t byte = size == 2 ? at[1] : at[0];
    to[0] = '\\';
    to[1] = 'x';
    to[2] = "0123456789abcdef"[byte >> 4];
    to[3] = "0123456789abcdef"[byte & 15];
    text->used += 4;
    *width += 4;
    i += size == 0 ? 1 : size;
  }
}


pf_status row_put_printable (row_text *text, pf_bytes bytes, size_t *width) {
  if (bytes.size > SIZE_MAX / 4 || row_reserve(text, bytes.size) != PF_OK)
    return PF_ENOMEM;
  *width = bytes.size;
  if (row_copy_ascii(text->at + text->used, bytes, 0, 0)) {
    text->used += bytes.size;
    return PF_OK;
  }
  *width = 0;
  if (row_reserve(text, 4 * bytes.size) != PF_OK)
    return PF_ENOMEM;
  put_escaped(text, bytes, width);
  return PF_OK;
}
