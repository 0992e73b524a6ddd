/*
** kept.c - the request for a writer as bytes, and back.
*/

#include "model/kept.h"

#include <string.h>

#include "bytes/cursor.h"

/* Bytes being filled. */
typedef struct room {
  uint8_t *to;
  size_t left;
  bool is_full;
} room;


static void put (room *r, const void *bytes, size_t size) {
  r->is_full |= size > r->left;
  if (r->is_full)
    return;
  if (size > 0)
    memcpy(r->to, bytes, size);
  r->to += size;
  r->left -= size;
}


static void put_option (room *r, const pf_option *option) {
  uint8_t number[8];
  put(r, option->name, strlen(option->name) + 1);
  put(r, option->is_text ? "t" : "i", 1);
  pf_save(number, option->is_text ? 2 : 8, false,
          option->is_text ? option->text.size : (uint64_t)option->integer);
  put(r, number, option->is_text ? 2 : 8);
  if (option->is_text)
    put(r, option->text.at, option->text.size);
  r->is_full |= option->is_text && option->text.size > UINT16_MAX;
}


/* The option whose name comes next after that of `last`, or the first one. Names
   are given once, in any order; equal requests become equal bytes. */
static const pf_option *next_option (const pf_request *request,
                                     const pf_option *last) {
  const pf_option *next = NULL;
  for (size_t i = 0; i < request->noptions; i++) {
    const pf_option *const option = &request->options[i];
    if ((last == NULL || strcmp(option->name, last->name) > 0) &&
        (next == NULL || strcmp(option->name, next->name) < 0))
      next = option;
  }
  return next;
}


size_t pf_keep (uint8_t *to, size_t room_size, const pf_request *request) {
  room r = {to, room_size, request->noptions > PF_KEPT_OPTIONS};
  put(&r, request->format, strlen(request->format) + 1);
  for (size_t i = 0; i < request->nroles; i++)
    put(&r, request->roles[i], strlen(request->roles[i]) + 1);
  put(&r, "", 1);
  const pf_option *last = NULL;
  for (size_t i = 0; i < request->noptions; i++) {
    last = next_option(request, last);
    if (last == NULL)
      return 0; /* a name is given twice */
    put_option(&r, last);
  }
  return r.is_full ? 0 : room_size - r.left;
}


/* Take a text that ends in NUL; NULL: there is none. */
static const char *take_text (pf_cursor *cursor) {
  const uint8_t *const at = cursor->bytes.at + cursor->at;
  const size_t left = pf_left(cursor);
  const uint8_t *const nul = left == 0 ? NULL : memchr(at, 0, left);
  if (nul == NULL)
    return NULL;
  cursor->at += (size_t)(nul - at) + 1;
  return (const char *)at;
}


static bool take_option (pf_cursor *cursor, pf_option *option) {
  uint64_t type, number;
  *option = (pf_option){.name = take_text(cursor)};
  if (option->name == NULL || !pf_take_uint(cursor, 1, &type))
    return false;
  option->is_text = type == 't';
  if (!pf_take_uint(cursor, option->is_text ? 2 : 8, &number))
    return false;
  option->integer = (int64_t)number;
  return !option->is_text || pf_take(cursor, number, &option->text);
}


static bool take_roles (pf_cursor *cursor, pf_request *request) {
  const char *role;
  while ((role = take_text(cursor)) != NULL && role[0] != '\0')
    if (request->nroles == PF_KEPT_ROLES)
      return false;
    else
      request->roles[request->nroles++] = role;
  return role != NULL;
}


bool pf_kept (pf_bytes kept, pf_request *request) {
  pf_cursor cursor = pf_cursor_over(kept, false);
  *request = (pf_request){.format = take_text(&cursor)};
  if (request->format == NULL || !take_roles(&cursor, request))
    return false;
  while (pf_left(&cursor) > 0)
    if (request->noptions == PF_KEPT_OPTIONS ||
        !take_option(&cursor, &request->read[request->noptions++]))
      return false;
  request->options = request->read;
  return true;
}
