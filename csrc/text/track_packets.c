/*
** track_packets.c - rows as track events of Perfetto, in its protobuf format: a
** packet for each begin or end of a slice, value of a counter, or instant. The
** packets of a job are a sequence, whose first packet, with the descriptors of
** the tracks and the clocks, is written by lua/profio/exports/perfetto.lua.
**
**   TracePacket  8 timestamp, 58 timestamp_clock_id, 10
**                trusted_packet_sequence_id, 13 sequence_flags, 11 track_event,
**                12 interned_data
**   TrackEvent   9 type, 10 name_iid, 11 track_uuid, 30 counter_value, 44
**                double_counter_value, 47 flow_ids, 4 debug_annotations
**
** A name is written once in a sequence, a time as the difference to the latest
** one before, and the uuid of the only track never. lua/row_text.c calls the
** format through row_format; the job owns the table of names.
*/

#include "bytes/cursor.h"
#include "text/rows.h"

#define MAX_EVENT  512u /* bytes of a packet without names of slices */
#define MAX_FLAGS  200u /* bytes of the text of flags */
#define SIZE_BYTES 5u   /* of the size of a message that is not known before */

/* Keys of fields: the number of the field and how its value is stored. */
#define VARINT(field) ((uint64_t)(field) << 3)
#define FIXED(field)  ((uint64_t)(field) << 3 | 1)
#define LENGTH(field) ((uint64_t)(field) << 3 | 2)

#define ABSOLUTE_CLOCK 6 /* BUILTIN_CLOCK_BOOTTIME */
#define NEEDS_STATE    2 /* SEQ_NEEDS_INCREMENTAL_STATE */


static uint8_t *put_varint (uint8_t *p, uint64_t key, uint64_t value) {
  return pf_save_varint(pf_save_varint(p, key), value);
}


static uint8_t *put_fixed (uint8_t *p, uint64_t key, uint64_t value) {
  p = pf_save_varint(p, key);
  pf_save64le(p, value);
  return p + 8;
}


static uint8_t *put_bytes (uint8_t *p, uint64_t key, const void *bytes,
                           size_t size) {
  p = put_varint(p, key, size);
  memcpy(p, bytes, size);
  return p + size;
}


/* Returns the value of a hex digit; 16: it is none. */
static unsigned digit (uint8_t c) {
  return c >= '0' && c <= '9'   ? c - (unsigned)'0'
         : c >= 'A' && c <= 'F' ? c - (unsigned)'A' + 10
                                : 16;
}


/* Appends a name, in which %XX is the byte XX if `is_escaped`. */
static pf_status put_plain (row_text *text, pf_bytes name, bool is_escaped) {
  if (row_reserve(text, name.size) != PF_OK)
    return PF_ENOMEM;
  for (size_t i = 0; i < name.size; i++) {
    const bool is_hex = is_escaped && name.at[i] == '%' && name.size - i > 2 &&
                        digit(name.at[i + 1]) < 16 &&
                        digit(name.at[i + 2]) < 16;
    const unsigned byte =
        is_hex ? digit(name.at[i + 1]) << 4 | digit(name.at[i + 2])
               : name.at[i];
    text->at[text->used++] = (char)byte;
    i += is_hex ? 2 : 0;
  }
  return PF_OK;
}


/* Appends a text as UTF-8: other bytes become U+FFFD. */
static pf_status put_utf8 (row_text *text, pf_bytes bytes) {
  if (bytes.size > SIZE_MAX / 4 || row_reserve(text, 3 * bytes.size) != PF_OK)
    return PF_ENOMEM;
  for (size_t i = 0; i < bytes.size;) {
    const size_t size = pf_utf8(bytes.at + i, bytes.size - i);
    memcpy(text->at + text->used,
           size == 0 ? (const uint8_t *)"\xef\xbf\xbd" : bytes.at + i,
           size == 0 ? 3 : size);
    text->used += size == 0 ? 3 : size;
    i += size == 0 ? 1 : size;
  }
  return PF_OK;
}


/* Begins a field that is a message; its size is written by end_message, in five
   bytes. Returns its position. Space is reserved. */
static size_t begin_message (row_text *text, uint64_t key) {
  uint8_t *const at = (uint8_t *)text->at;
  text->used = (size_t)(pf_save_varint(at + text->used, key) - at) + SIZE_BYTES;
  return text->used;
}


static void end_message (row_text *text, size_t begin) {
  uint64_t size = text->used - begin;
  for (size_t i = SIZE_BYTES; i > 0; i--, size >>= 7)
    text->at[begin - i] = (char)(i > 1 ? size | 0x80 : size & 0x7f);
}


static void put_number (row_text *text, uint64_t key, uint64_t value) {
  uint8_t *const at = (uint8_t *)text->at;
  text->used = (size_t)(put_varint(at + text->used, key, value) - at);
}


/* Appends the packet that states the name of an id. */
static pf_status put_name (row_job *job, pf_bytes name, uint64_t id) {
  row_packets *const k = &job->packets;
  row_text *const text = &job->text;
  k->plain.used = 0;
  if (put_plain(&k->plain, name, k->is_escaped) != PF_OK ||
      row_reserve(text, MAX_EVENT) != PF_OK)
    return PF_ENOMEM;
  const size_t packet = begin_message(text, LENGTH(1));
  put_number(text, VARINT(10), k->sequence);
  put_number(text, VARINT(13), NEEDS_STATE);
  const size_t interned = begin_message(text, LENGTH(12));
  const size_t entry = begin_message(text, LENGTH(2));
  put_number(text, VARINT(1), id);
  const size_t string = begin_message(text, LENGTH(2));
  const pf_bytes plain = {(const uint8_t *)k->plain.at, k->plain.used};
  if (put_utf8(text, plain) != PF_OK)
    return PF_ENOMEM;
  end_message(text, string);
  end_message(text, entry);
  end_message(text, interned);
  end_message(text, packet);
  return PF_OK;
}


/* Sets *id to the id of the name of a row, from 1; a new one is written. */
static pf_status name_of (row_job *job, size_t row, uint64_t *id) {
  row_packets *const k = &job->packets;
  const pf_column *const column = &job->batch.columns[k->name];
  const uint32_t known = k->names.count;
  const uint64_t word = column->ids[row];
  uint32_t number;
  if (pf_id_table_words(&k->names, &word, 1, &number) != PF_OK)
    return PF_ENOMEM;
  *id = (uint64_t)number + 1;
  return number < known
             ? PF_OK
             : put_name(job, row_bytes(column, row, job->reader->dictionary),
                        *id);
}

/* Appends a packet with an event of `size` bytes at a time, in ns since the
   origin. A time before the latest one is written as a whole. */
static pf_status put_packet (row_job *job, int64_t time, const uint8_t *event,
                             size_t size) {
  row_packets *const k = &job->packets;
  const bool is_later = time >= k->last;
  uint8_t body[MAX_EVENT], *p = body;
  p = put_varint(p, VARINT(8),
                 is_later ? (uint64_t)time - (uint64_t)k->last
                          : (uint64_t)time);
  if (!is_later)
    p = put_varint(p, VARINT(58), ABSOLUTE_CLOCK);
  else
    k->last = time;
  p = put_varint(p, VARINT(10), k->sequence);
  p = put_bytes(p, LENGTH(11), event, size);
  p = put_varint(p, VARINT(13), NEEDS_STATE);
  row_text *const text = &job->text;
  if (row_reserve(text, 2 * MAX_EVENT) != PF_OK)
    return PF_ENOMEM;
  uint8_t *const at = (uint8_t *)text->at;
  text->used =
      (size_t)(put_bytes(at + text->used, LENGTH(1), body, (size_t)(p - body)) -
               at);
  return PF_OK;
}


/* Writes the value of a counter. */
static uint8_t *put_value (uint8_t *p, const pf_column *column, size_t row) {
  uint64_t bits;
  if (column->type != PF_NUM)
    return put_varint(p, VARINT(30), (uint64_t)column->ints[row]);
  memcpy(&bits, &column->nums[row], sizeof bits);
  return put_fixed(p, FIXED(44), bits);
}


/* Writes the net time of a call, and its flags, as arguments of its end; their
   names have the ids 1 and 2. */
static uint8_t *put_details (uint8_t *p, const row_job *job, size_t row) {
  const row_packets *const k = &job->packets;
  const pf_batch *const batch = &job->batch;
  uint8_t detail[MAX_FLAGS + 4 * PF_VARINT_SIZE];
  if (pf_has_value(batch, k->net, row)) {
    uint8_t *d = put_varint(detail, VARINT(1), 1);
    d = put_varint(d, VARINT(4), (uint64_t)batch->columns[k->net].ints[row]);
    p = put_bytes(p, LENGTH(4), detail, (size_t)(d - detail));
  }
  if (pf_has_value(batch, k->flags, row)) {
    const pf_bytes flags =
        row_bytes(&batch->columns[k->flags], row, job->reader->dictionary);
    uint8_t *d = put_varint(detail, VARINT(1), 2);
    d = put_bytes(d, LENGTH(6), flags.at,
                  flags.size < MAX_FLAGS ? flags.size : MAX_FLAGS);
    p = put_bytes(p, LENGTH(4), detail, (size_t)(d - detail));
  }
  return p;
}


/* Returns the track of a row; NULL: the row is skipped. */
static row_entry *track_of (const row_packets *k, const pf_batch *batch,
                            size_t row) {
  if (k->by == SIZE_MAX)
    return k->tracks;
  const uint32_t id =
      pf_has_value(batch, k->by, row)
          ? pf_id_table_find(&k->keys, batch->columns[k->by].ids[row])
          : PF_NO_ID;
  return id == PF_NO_ID ? NULL : &k->tracks[id];
}


/* Returns the type of the event of a row; 0: the row is skipped. */
static uint64_t type_of (const row_packets *k, const pf_batch *batch,
                         size_t row) {
  if (k->kind == SIZE_MAX)
    return k->value == SIZE_MAX ? ROW_INSTANT : ROW_COUNTER;
  for (size_t i = 0; i < k->nkinds && pf_has_value(batch, k->kind, row); i++)
    if (k->kinds[i].key == batch->columns[k->kind].ids[row])
      return k->kinds[i].value;
  return 0;
}


static pf_status put_row (row_job *job, size_t row) {
  row_packets *const k = &job->packets;
  const pf_batch *const batch = &job->batch;
  row_entry *const track = track_of(k, batch, row);
  const uint64_t type = track == NULL ? 0 : type_of(k, batch, row);
  const bool is_named =
      (type == ROW_BEGIN || type == ROW_INSTANT) && k->name != SIZE_MAX;
  uint64_t id = 0;
  uint8_t event[MAX_EVENT / 2], *p = put_varint(event, VARINT(9), type);
  if (type == 0 || !pf_has_value(batch, k->time, row))
    return PF_OK;
  if (is_named && name_of(job, row, &id) != PF_OK)
    return PF_ENOMEM;
  if (is_named)
    p = put_varint(p, VARINT(10), id);
  if (k->by != SIZE_MAX)
    p = put_varint(p, VARINT(11), track->value);
  if (type == ROW_BEGIN && k->has_flows)
    p = put_fixed(p, FIXED(47), id);
  if (type == ROW_COUNTER)
    p = put_value(p, &batch->columns[k->value], row);
  if (type == ROW_END)
    p = put_details(p, job, row);
  track->is_open = type == ROW_BEGIN;
  const int64_t time = batch->columns[k->time].ints[row];
  return put_packet(job, (int64_t)((uint64_t)time - (uint64_t)k->origin), event,
                    (size_t)(p - event));
}


static pf_status put_rows (row_job *job) {
  pf_status status = PF_OK;
  for (size_t row = 0; status == PF_OK && row < job->batch.rows; row++) {
    status = put_row(job, row);
    if (status == PF_OK)
      status = row_flush(job, false);
  }
  return status;
}


/* Ends the slices that are open on tracks that a column names. */
static pf_status end_slices (row_job *job) {
  row_packets *const k = &job->packets;
  pf_status status = PF_OK;
  for (size_t i = 0; k->by != SIZE_MAX && i < k->ntracks; i++) {
    uint8_t event[2 * PF_VARINT_SIZE];
    uint8_t *p = put_varint(event, VARINT(9), ROW_END);
    p = put_varint(p, VARINT(11), k->tracks[i].value);
    if (k->tracks[i].is_open && status == PF_OK)
      status = put_packet(job, k->stop, event, (size_t)(p - event));
  }
  return status;
}


const row_format row_track_packets = {
    .name = "packets", .rows = put_rows, .end = end_slices};
