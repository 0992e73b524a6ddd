/*
** decode_areas.c - the areas of records: looked up in what the reader has met,
** else asked of the file.
*/

#include "formats/winidea/decode.h"

/* Returns the slot for a handle and the DATA of the record, or NULL if the hash
   table does not contain it. */
static const winidea_place *find_slot (const winidea_places *places,
                                       uint32_t handle, int64_t data) {
  if (places->slots == NULL)
    return NULL;
  for (uint32_t i = winidea_slot(places, handle, data);;
       i = (i + 1) & places->mask) {
    const winidea_place *const place = &places->slots[i];
    if (place->reading == WINIDEA_UNSEEN)
      return NULL;
    if (place->handle == handle && place->data == data)
      return place;
  }
}


static void put_place (winidea_decoder *self, size_t row,
                       const winidea_place *place) {
  self->areas[row] = place->area;
  self->readings[row] = place->reading;
  self->stated[row] = place->value;
  self->has_stated |= place->reading == WINIDEA_STATED;
  self->has_no_area |= place->area == PF_NO_AREA;
}


/* Finds the place of an area that the levels do not know, by its handle and,
   if it is a state, what the record says in DATA. */
static pf_status find_place (winidea_decoder *self, uint32_t handle,
                             int64_t data, winidea_place *place,
                             pf_error *error) {
  const winidea_place *const known = find_slot(&self->places, handle, data);
  if (known == NULL)
    return winidea_meet(&self->places, handle, data, place, error);
  *place = *known;
  return PF_OK;
}


/* Finds the place of a write to a variable: that of the state which it begins,
   if states are derived, else that of the variable. Slots have either the
   states or, for 0, the variable. */
static pf_status find_write (winidea_decoder *self, uint32_t handle,
                             int64_t data, size_t row, winidea_place *place,
                             pf_error *error) {
  const winidea_value kind =
      self->kinds == NULL ? WINIDEA_VALUE_BITS : self->kinds[row];
  const winidea_place *known = find_slot(&self->places, handle, 0);
  if (!self->places.derives ||
      (known != NULL && known->reading != WINIDEA_STATED))
    return find_place(self, handle, 0, place, error);
  if (kind == WINIDEA_VALUE_NONE)
    return winidea_meet(&self->places, handle, 0, place, error);
  known = find_slot(&self->places, handle, data);
  if (known != NULL) {
    *place = *known;
    return PF_OK;
  }
  const pf_status status =
      winidea_meet_write(&self->places, handle, data, kind, place, error);
  return status < 0 || place->reading != WINIDEA_UNSEEN
             ? status
             : winidea_meet(&self->places, handle, 0, place, error);
}


/* Row `row` is of an area that the levels do not know. */
static pf_status locate (winidea_decoder *self, const uint8_t *record,
                         size_t size, size_t row, pf_error *error) {
  const uint32_t handle = pf_load32le(record);
  const int64_t data = winidea_data(record, size);
  winidea_place place;
  const pf_status status =
      winidea_is_written(handle)
          ? find_write(self, handle, data, row, &place, error)
          : find_place(self, handle, winidea_is_state(handle) ? data : 0,
                       &place, error);
  if (status == PF_OK)
    put_place(self, row, &place);
  return status;
}


pf_status winidea_find_areas (winidea_decoder *self, winidea_stretch records,
                              pf_error *error) {
  const winidea_level *const levels = self->places.levels;
  uint32_t *const areas = self->areas;
  uint8_t *const readings = self->readings;
  self->has_stated = self->has_no_area = false;
  for (size_t i = 0; i < records.count; i++) {
    const uint8_t *const record = records.at + i * records.size;
    const uint32_t handle = pf_load32le(record);
    const winidea_level *const level = &levels[winidea_kind(handle)];
    const uint32_t index = handle & (WINIDEA_KIND_STEP - 1);
    if (index < level->size && level->readings[index] != WINIDEA_UNSEEN) {
      areas[i] = level->areas[index];
      readings[i] = level->readings[index];
      continue;
    }
    const pf_status status = locate(self, record, records.size, i, error);
    if (status < 0)
      return status;
  }
  return PF_OK;
}
