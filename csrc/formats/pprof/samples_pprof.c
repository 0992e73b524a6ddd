/*
** samples_pprof.c - reads the samples one by one: their values and frames.
**
** The outer locations of a sample are mostly those of the sample before. Their
** ids are the last bytes of a packed field, so that equal bytes at the end of
** two fields are not read again, and the frames stay.
**
** Used by rows_pprof.c, stacks_pprof.c and the merge. The caller owns the
** pprof_samples; pprof_samples_close frees their arrays.
*/

#include <stdlib.h>
#include <string.h>

#include "formats/pprof/pprof.h"
#include "model/base/memory.h"


pf_status pprof_warn_no_location (pf_trace *trace, uint64_t id, size_t offset,
                                  pf_error *error) {
  return pf_warn(trace, PF_DAMAGE, "pprof-no-location", PF_EFORMAT, offset,
                 error, "there is no location %llu", (unsigned long long)id);
}


bool pprof_read_values (pprof_values *values, const pprof_field *field) {
  pprof_numbers numbers = pprof_numbers_of(field);
  for (uint64_t value; pprof_next_number(&numbers, &value); values->count++) {
    if (values->count >= PPROF_MAX_TYPES)
      continue;
    if (!pf_grow(&values->at, &values->capacity, values->count + 1))
      return false;
    values->at[values->count] = (int64_t)value;
  }
  values->is_damaged |= !pprof_numbers_end(&numbers);
  return true;
}


pf_status pprof_check_values (pf_trace *trace, const pprof_file *file,
                              const pprof_values *values, size_t offset,
                              pf_error *error) {
  const pf_status status =
      pprof_check_end(trace, !values->is_damaged, offset, error);
  if (status != PF_OK || values->count == file->nstated_types)
    return status;
  return pf_warn(trace, PF_DAMAGE, "pprof-values", PF_EFORMAT, offset, error,
                 "a sample has %zu values, there are %zu sample types",
                 values->count, file->nstated_types);
}


bool pprof_value (const pprof_file *file, const pprof_values *values,
                  size_t type, int64_t *value) {
  return type < values->count && type < PPROF_MAX_TYPES &&
         !__builtin_mul_overflow(values->at[type], file->types[type].scale,
                                 value);
}


/* Append packed location ids. Sets *is_whole to whether all bytes are ids. */
static bool read_ids (pprof_samples *s, pf_bytes packed, bool *is_whole) {
  pf_cursor c = pf_cursor_over(packed, false);
  size_t n = s->nids;
  if (!pf_grow(&s->ids, &s->id_capacity, n + packed.size + 1))
    return false;
  while (pf_take_varint(&c, &s->ids[n]))
    n++;
  s->nids = n;
  *is_whole = pf_left(&c) == 0;
  return true;
}


/* Returns the number of varints that end in `size` bytes. */
static size_t count_ids (const uint8_t *at, size_t size) {
  size_t count = 0;
  for (size_t i = 0; i < size; i++)
    count += at[i] < 0x80;
  return count;
}


/* Returns how many bytes at the end of two lists are equal whole varints. */
static size_t shared_size (pf_bytes a, pf_bytes b) {
  const size_t most = a.size < b.size ? a.size : b.size;
  if (most == 0) /* they may have no bytes at all */
    return 0;
  const uint8_t *const end = a.at + a.size, *const other = b.at + b.size;
  uint64_t differing = 0; /* bits of the last 8 bytes */
  size_t n = 0;
  while (differing == 0 && n + 8 <= most) {
    differing = pf_load64le(end - n - 8) ^ pf_load64le(other - n - 8);
    n += differing == 0 ? 8 : (size_t)__builtin_clzll(differing) / 8;
  }
  while (differing == 0 && n < most &&
         end[-1 - (ptrdiff_t)n] == other[-1 - (ptrdiff_t)n])
    n++;
  if ((n < a.size && end[-1 - (ptrdiff_t)n] >= 0x80) ||
      (n < b.size && other[-1 - (ptrdiff_t)n] >= 0x80)) {
    while (n > 0 && end[-(ptrdiff_t)n] >= 0x80)
      n--;
    n -= n > 0;
  }
  return n;
}


/* Read the ids of a field with all of them; the outer ones that the previous
   sample has too are not read again. Returns false if out of memory. */
static bool read_packed_ids (pprof_samples *s, pf_bytes packed) {
  const pf_bytes before = s->packed;
  const size_t same = shared_size(before, packed);
  bool is_whole;
  s->ndepths -= count_ids(before.at, before.size - same);
  if (!read_ids(s, (pf_bytes){packed.at, packed.size - same}, &is_whole))
    return false;
  s->packed = packed;
  if (is_whole)
    return true;
  s->packed = (pf_bytes){0}; /* damaged: read all ids before the damage */
  s->nids = s->ndepths = 0;
  s->values.is_damaged = true;
  return read_ids(s, packed, &is_whole);
}


static bool read_all_ids (pprof_samples *s, pf_bytes message) {
  pf_cursor c = pf_cursor_over(message, false);
  pprof_field field;
  bool ok = true, is_whole;
  s->packed = (pf_bytes){0};
  s->ndepths = 0;
  while (ok && pprof_next_field(&c, &field)) {
    if (field.number != 1)
      continue;
    ok = read_ids(s, field.bytes, &is_whole) &&
         pf_grow(&s->ids, &s->id_capacity, s->nids + 1);
    s->values.is_damaged |= ok && !is_whole;
    if (ok && field.wire != PPROF_BYTES)
      s->ids[s->nids++] = field.value;
  }
  return ok;
}


/* Read the values and the ids of a sample. Returns false if out of memory. */
static bool read_sample (pprof_samples *s, pf_bytes message) {
  pf_cursor c = pf_cursor_over(message, false);
  pprof_field field;
  pf_bytes ids = {0};
  bool is_packed = false; /* one field has all ids */
  s->nids = s->values.count = 0;
  s->values.is_damaged = false;
  for (size_t count = 0; pprof_next_field(&c, &field);) {
    if (field.number == 2 && !pprof_read_values(&s->values, &field))
      return false;
    if (field.number != 1)
      continue;
    is_packed = count++ == 0 && field.wire == PPROF_BYTES;
    ids = field.bytes;
  }
  s->values.is_damaged |= pf_left(&c) != 0;
  return is_packed ? read_packed_ids(s, ids) : read_all_ids(s, message);
}


static pf_status find_frames (pprof_samples *s, size_t offset,
                              pf_error *error) {
  pf_status status = PF_OK;
  s->depth = s->same = s->ndepths == 0 ? 0 : s->depths[s->ndepths];
  if (!pf_grow(&s->depths, &s->depths_capacity, s->ndepths + s->nids + 1))
    return pf_no_memory(error);
  for (size_t n = s->nids; n-- > 0 && status == PF_OK;) {
    const uint32_t number = pprof_find_id(&s->file->location_ids, s->ids[n]);
    if (number == PF_NO_ID) {
      s->packed = (pf_bytes){0};
      status = pprof_warn_no_location(s->trace, s->ids[n], offset, error);
      continue;
    }
    const pprof_location *const l = &s->file->locations[number];
    if (!pf_grow(&s->frames, &s->frame_capacity, s->depth + l->count))
      return pf_no_memory(error);
    for (uint32_t i = l->count; i-- > 0;)
      s->frames[s->depth++] = l->first + i;
    s->depths[++s->ndepths] = (uint32_t)s->depth;
  }
  return status;
}


/* Warn of the times of the sample that are missing, because they do not fit
   into 64 bits in nanoseconds. */
static pf_status check_times (const pprof_samples *s, size_t offset,
                              pf_error *error) {
  const size_t count =
      s->values.count < s->file->ntypes ? s->values.count : s->file->ntypes;
  pf_status status = PF_OK;
  int64_t ns;
  for (size_t t = 0; t < count && status == PF_OK; t++)
    if (!pprof_value(s->file, &s->values, t, &ns))
      status = pf_warn(s->trace, PF_DAMAGE, "pprof-overflow", PF_ELIMIT, offset,
                       error,
                       "the time %lld of sample type %zu does not fit "
                       "into 64 bits in nanoseconds",
                       (long long)s->values.at[t], t + 1);
  return status;
}


void pprof_samples_close (pprof_samples *s) {
  free(s->values.at);
  free(s->frames);
  free(s->ids);
  free(s->depths);
}


pf_status pprof_next_sample (pprof_samples *s, pf_error *error) {
  pprof_field message;
  do {
    if (!pprof_next_field(&s->at, &message))
      return PF_END;
  } while (message.number != PPROF_SAMPLE || message.wire != PPROF_BYTES);
  if (s->packed.size == 0)
    s->ndepths = 0;
  if (!read_sample(s, message.bytes))
    return pf_no_memory(error);
  pf_status status =
      pprof_check_values(s->trace, s->file, &s->values, message.at, error);
  if (status == PF_OK && s->file->has_scaled_types)
    status = check_times(s, message.at, error);
  if (status == PF_OK)
    return find_frames(s, message.at, error);
  s->packed = (pf_bytes){0}; /* its locations have no depths */
  return status;
}
