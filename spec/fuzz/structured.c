/*
** structured.c - a custom mutator (LLVMFuzzerCustomMutator) for all targets
** that are linked with it. It knows the structure of the formats: an input that
** is changed in one field of one record gets past the checks of the header,
** inputs with random bytes seldom do.
*/

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

size_t LLVMFuzzerMutate (uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator (uint8_t *data, size_t size, size_t max_size,
                                unsigned int seed);

/* An input that is being changed. */
typedef struct input {
  uint8_t *data;
  size_t size, max_size;
  uint64_t random;
} input;

/* A segment of an input. */
typedef struct span {
  size_t start, end;
} span;


/* Returns a random number below `limit`, by xorshift64* (Vigna 2016). */
static size_t below (input *in, size_t limit) {
  in->random ^= in->random >> 12;
  in->random ^= in->random << 25;
  in->random ^= in->random >> 27;
  return limit == 0 ? 0 : (in->random * 2685821657736338717u >> 16) % limit;
}


/* {====== Changes for all formats ====== */

/* Numbers at limits of types and arithmetic. */
static const uint64_t edges[] = {
    0,          1,          2,          7,          0x7f,
    0x80,       0xff,       0x100,      0x7fff,     0x8000,
    0xffff,     0x10000,    0x7fffffff, 0x80000000, 0xffffffff,
    1ull << 32, 1ull << 53, INT64_MAX,  1ull << 63, UINT64_MAX};


static uint64_t edge (input *in) {
  return edges[below(in, sizeof edges / sizeof edges[0])];
}


/* Write one of these numbers with `width` bytes, in either byte order. */
static void put_edge (input *in, size_t at, size_t width) {
  const uint64_t value = edge(in);
  const bool is_big = below(in, 4) == 0;
  for (size_t i = 0; i < width && at + i < in->size; i++)
    in->data[at + i] = (uint8_t)(value >> 8 * (is_big ? width - 1 - i : i));
}


/* Replace a segment by `count` bytes, if they fit. */
static void replace (input *in, span piece, const uint8_t *bytes,
                     size_t count) {
  const size_t tail = in->size - piece.end;
  if (piece.start + count + tail > in->max_size)
    return;
  memmove(in->data + piece.start + count, in->data + piece.end, tail);
  memcpy(in->data + piece.start, bytes, count);
  in->size = piece.start + count + tail;
}


/* Delete a segment, duplicate it, or copy it over another one. */
static void shuffle (input *in, span piece, span other) {
  static uint8_t copy[65536];
  size_t count = piece.end - piece.start;
  if (count > sizeof copy)
    count = sizeof copy;
  memcpy(copy, in->data + piece.start, count);
  const span after = {piece.end, piece.end};
  switch (below(in, 3)) {
    case 0: replace(in, piece, copy, 0); break;
    case 1: replace(in, after, copy, count); break;
    default: replace(in, other, copy, count); break;
  }
}

/* }====== */

/* {====== Texts ====== */

static bool is_separator (uint8_t c) {
  return c <= ' ' || c == ',' || c == ';' || c == '"' || c == '=' || c == ':' ||
         c == '(' || c == ')' || c == '<' || c == '>';
}


static span line_at (const input *in, size_t at) {
  span line = {at, at};
  while (line.start > 0 && in->data[line.start - 1] != '\n')
    line.start--;
  while (line.end < in->size && in->data[line.end] != '\n')
    line.end++;
  if (line.end < in->size)
    line.end++;
  return line;
}


static span word_at (const input *in, size_t at) {
  span word = {at, at};
  while (word.start > 0 && !is_separator(in->data[word.start - 1]))
    word.start--;
  while (word.end < in->size && !is_separator(in->data[word.end]))
    word.end++;
  return word;
}


/* Write the decimal digits of a number; returns how many. */
static size_t digits (uint64_t value, uint8_t *out) {
  uint8_t reversed[20];
  size_t count = 0;
  do {
    reversed[count++] = (uint8_t)('0' + value % 10);
    value /= 10;
  } while (value > 0);
  for (size_t i = 0; i < count; i++)
    out[i] = reversed[count - 1 - i];
  return count;
}


/* A random position, more often near the start, where headers are. */
static size_t place (input *in) {
  const size_t near = in->size < 512 ? in->size : 512;
  return below(in, below(in, 2) == 0 ? near : in->size);
}


static void change_text (input *in) {
  uint8_t number[20];
  const span word = word_at(in, place(in));
  switch (below(in, 4)) {
    case 0: replace(in, word, number, digits(edge(in), number)); break;
    case 1: shuffle(in, word, word_at(in, place(in))); break;
    default: shuffle(in, line_at(in, place(in)), line_at(in, place(in))); break;
  }
}


static bool is_text (const input *in) {
  const size_t count = in->size < 64 ? in->size : 64;
  for (size_t i = 0; i < count; i++)
    if (in->data[i] < ' ' && strchr("\t\n\r", in->data[i]) == NULL)
      return false;
  return true;
}

/* }====== */

/* {====== gmon.out, tables, protocol buffers ====== */

/* The end of a record of a 64-bit gmon.out. */
static size_t record_end (const input *in, size_t at) {
  uint32_t count = 0;
  switch (in->data[at]) {
    case 0:
      if (at + 41 <= in->size)
        memcpy(&count, in->data + at + 17, sizeof count);
      return at + 41 + 2 * (size_t)count;
    case 1: return at + 21;
    default:
      if (at + 5 <= in->size)
        memcpy(&count, in->data + at + 1, sizeof count);
      return at + 5 + 16 * (size_t)count;
  }
}


static span gmon_record (input *in) {
  span chosen = {20, in->size}, record = {20, 20};
  for (size_t seen = 0; seen < 1000 && record.start < in->size; seen++) {
    record.end = record_end(in, record.start);
    if (record.end > in->size)
      break;
    if (below(in, seen + 1) == 0)
      chosen = record;
    record.start = record.end;
  }
  return chosen;
}


static void change_gmon (input *in) {
  const span record = gmon_record(in);
  if (below(in, 2) == 0)
    shuffle(in, record, gmon_record(in));
  else
    put_edge(in, record.start + 1 + below(in, 6) * 4, 4u << below(in, 2));
}


/* Change a number of the header of a table, or of the description of a
   column. */
static void change_table (input *in) {
  static const uint8_t types[] = "CNFLDTIBYMGPVWQ@O+0";
  const size_t head = (size_t)(in->data[8] | in->data[9] << 8);
  const size_t columns = head > 64 && head < in->size ? head / 32 - 1 : 1;
  const size_t at = 32 * (1 + below(in, columns));
  switch (below(in, 5)) {
    case 0: put_edge(in, 4, 4); break;
    case 1: put_edge(in, 8 + 2 * below(in, 2), 2); break;
    case 2:
      if (at + 11 < in->size)
        in->data[at + 11] = types[below(in, sizeof types - 1)];
      break;
    case 3: put_edge(in, at + 16 + below(in, 2), 1); break;
    default:
      if (at + 32 <= in->size)
        shuffle(in, (span){at, at + 32},
                (span){32, in->size < 64 ? in->size : 64});
      break;
  }
}


static size_t read_varint (const input *in, size_t at, uint64_t *value) {
  *value = 0;
  for (unsigned int shift = 0; at < in->size && shift < 64; shift += 7) {
    *value |= (uint64_t)(in->data[at] & 127) << shift;
    if (in->data[at++] < 128)
      break;
  }
  return at;
}


static size_t write_varint (uint64_t value, uint8_t *out) {
  size_t count = 0;
  for (; value > 127; value >>= 7)
    out[count++] = (uint8_t)(value | 128);
  out[count++] = (uint8_t)value;
  return count;
}


/* Returns a random field of a message, and the offset of its value. */
static span message_field (input *in, size_t *value_at) {
  span chosen = {0, in->size}, field = {0, 0};
  for (size_t seen = 0; seen < 5000 && field.start < in->size; seen++) {
    uint64_t tag, value;
    size_t at = read_varint(in, field.start, &tag);
    field.end = read_varint(in, at, &value);
    if ((tag & 7) == 2 && value <= in->size - field.end) {
      at = field.end;
      field.end += value;
    }
    if (below(in, seen + 1) == 0) {
      chosen = field;
      *value_at = at;
    }
    field.start = field.end;
  }
  return chosen;
}


/* Move a field, or change a number in it; lengths stay right if the new number
   has as many bytes. */
static void change_message (input *in) {
  uint8_t number[10];
  size_t at = 0;
  const span field = message_field(in, &at);
  if (below(in, 2) == 0) {
    size_t other_at;
    shuffle(in, field, message_field(in, &other_at));
    return;
  }
  if (at < field.end)
    at += below(in, field.end - at);
  uint64_t old;
  const size_t end = read_varint(in, at, &old);
  const size_t count = write_varint(
      below(in, 2) == 0 ? edge(in) : old + below(in, 5) - 2, number);
  const size_t room = end - at;
  if (below(in, 4) == 0)
    replace(in, (span){at, end}, number, count);
  else if (at + count <= in->size && count <= room)
    memcpy(in->data + at, number, count);
}

/* }====== */


/* Whether the first byte is that of a dBASE table. */
static bool is_table (const input *in) {
  return in->size > 64 &&
         strchr("\x02\x03\x30\x31\x32\x43\x83\x8b\xf5\xfb", in->data[0]) !=
             NULL &&
         in->data[0] != 0;
}


static void change (input *in) {
  if (in->size >= 20 && memcmp(in->data, "gmon", 4) == 0)
    change_gmon(in);
  else if (is_table(in))
    change_table(in);
  else if (is_text(in))
    change_text(in);
  else
    change_message(in);
}


size_t LLVMFuzzerCustomMutator (uint8_t *data, size_t size, size_t max_size,
                                unsigned int seed) {
  input in = {data, size, max_size, seed * 0x9e3779b97f4a7c15u + 1};
  if (size == 0 || below(&in, 3) == 0)
    return LLVMFuzzerMutate(data, size, max_size);
  for (size_t left = 1 + below(&in, 3); left > 0 && in.size > 0; left--)
    change(&in);
  return in.size;
}
