/*
** mapping.c - areas, contexts and facts of the sections of a main file.
**
** Handles are hexadecimal. The value of a line is its number, that of a state
** its value; both are decimal unless 8 or 16 digits, 0x, letters or option
** mapping_base indicate otherwise. Without a macro for the parent, lines follow
** their function, and the handle of states is that of their variable +
** 0x10000000 (inferred from the vendor's examples).
**
** Called by text1.c and open_export.c. Areas and contexts belong to the
** winidea_file.
*/


#include "formats/winidea/text1.h"
#include "model/base/memory.h"
#include "model/dictionary/names.h"

static uint32_t name_of (const pf_trace *trace, pf_bytes text, bool *is_good) {
  if (text.size == 0)
    return PF_NO_NAME;
  const uint32_t number = pf_intern(trace->dictionary, text);
  *is_good &= number != PF_NO_NAME;
  return number;
}


/* Adds the entry of an area to the mapping. */
static pf_status add_area (pf_trace *trace, const winidea_fields *fields,
                           bool *is_good, pf_error *error) {
  winidea_file *const file = trace->state;
  const pf_bytes value = pf_trim(fields->of[MACRO_VALUE]);
  const pf_bytes type = pf_trim(fields->of[MACRO_TYPE]);
  winidea_entry entry = WINIDEA_ENTRY_NONE;
  uint32_t states;
  bool has_memory = true;
  entry.has_value = value.size > 0;
  *is_good = winidea_read_handle_of(fields, MACRO_HANDLE, &entry.handle) &&
             (!entry.has_value ||
              winidea_read_value(value, file->mapping_base, &entry.value));
  if (!*is_good)
    return PF_OK;
  if (!winidea_read_handle_of(fields, MACRO_PARENT, &entry.parent_handle))
    entry.parent_handle = WINIDEA_NO_HANDLE;
  entry.names_parent = !fields->is_xml && fields->of[MACRO_PARENT].at != NULL;
  if (winidea_read_handle_of(fields, MACRO_STATE, &states) &&
      winidea_is_state(states) &&
      winidea_kind(states) == winidea_kind(entry.handle) + 1)
    entry.states = states;
  entry.parent_name =
      name_of(trace, fields->of[MACRO_PARENT_NAME], &has_memory);
  entry.name = name_of(trace, fields->of[MACRO_NAME], &has_memory);
  entry.file = name_of(trace, fields->of[MACRO_FILE], &has_memory);
  entry.type = name_of(trace, type, &has_memory);
  entry.unit = name_of(trace, fields->of[MACRO_UNIT], &has_memory);
  entry.path = name_of(trace, fields->of[MACRO_PATH], &has_memory);
  entry.value_kind = winidea_default_value_kind(file, entry.handle);
  if ((entry.value_kind == WINIDEA_INTEGER ||
       entry.value_kind == WINIDEA_DOUBLE) &&
      type.size > 0)
    entry.value_kind = pf_text_compare(type, pf_bytes_of("F64")) == 0
                           ? WINIDEA_DOUBLE
                           : WINIDEA_INTEGER;
  if (has_memory && winidea_add_entry(file, &entry) == PF_OK)
    return PF_OK;
  return pf_no_memory(error);
}


/* The entry of the parent, or WINIDEA_NO_ENTRY: by the handle that the row
   states, else that of the variable whose row states the handle of these
   states, else by the default rule for states; for lines the last function
   before; for states the last variable before if the row states its name. */
static uint32_t parent_of (const pf_trace *trace, const winidea_entry *entry,
                           const winidea_parents *before) {
  const winidea_file *const file = trace->state;
  const winidea_entry *const list = file->areas.list;
  const bool is_state = winidea_is_state(entry->handle);
  const winidea_handle_info *const info =
      is_state ? winidea_find_handle(&file->areas, entry->handle) : NULL;
  uint32_t handle = entry->parent_handle;
  if (handle == WINIDEA_NO_HANDLE && info != NULL &&
      info->variable != WINIDEA_NO_ENTRY)
    handle = list[info->variable].handle;
  else if (handle == WINIDEA_NO_HANDLE && is_state && !entry->names_parent)
    handle = entry->handle - WINIDEA_KIND_STEP;
  const winidea_entry *const parent =
      handle == WINIDEA_NO_HANDLE ? NULL : winidea_first_entry(file, handle);
  if (parent != NULL && winidea_is_root(parent->handle))
    return (uint32_t)(parent - list);
  if (is_state && before->root != WINIDEA_NO_ENTRY &&
      entry->parent_name != PF_NO_NAME &&
      list[before->root].name == entry->parent_name)
    return before->root;
  return winidea_kind(entry->handle) == WINIDEA_LINE &&
                 (handle != WINIDEA_NO_HANDLE || !entry->names_parent)
             ? before->function
             : WINIDEA_NO_ENTRY;
}


pf_status winidea_finish_areas (pf_trace *trace, pf_error *error) {
  winidea_file *const file = trace->state;
  winidea_areas *const areas = &file->areas;
  const uint32_t from = areas->finished;
  winidea_parents *const before = &areas->before;
  for (uint32_t i = from; i < areas->count; i++) {
    winidea_entry *const entry = &areas->list[i];
    if (!entry->is_mapped || !winidea_is_root(entry->handle))
      continue;
    if (winidea_build_area(trace, entry) != PF_OK ||
        (entry->states != WINIDEA_NO_HANDLE &&
         winidea_set_states(file, i, entry->states) != PF_OK))
      return pf_no_memory(error);
  }
  for (uint32_t i = from; i < areas->count; i++) {
    winidea_entry *const entry = &areas->list[i];
    const uint32_t handle = entry->handle;
    if (!entry->is_mapped)
      continue;
    areas->changes++;
    if (winidea_kind(handle) == WINIDEA_FUNCTION)
      before->function = i;
    else if (winidea_is_root(handle))
      before->root = i;
    else {
      entry->parent = parent_of(trace, entry, before);
      /* the handle of a state is that of the states of its parent */
      if ((winidea_is_state(handle) && entry->parent != WINIDEA_NO_ENTRY &&
           winidea_set_states(file, entry->parent, handle) != PF_OK) ||
          winidea_build_area(trace, entry) != PF_OK)
        return pf_no_memory(error);
    }
  }
  areas->finished = areas->count;
  return PF_OK;
}


static pf_status add_context (pf_trace *trace, const winidea_fields *fields,
                              bool *is_good, pf_error *error) {
  winidea_file *const file = trace->state;
  winidea_contexts *const contexts = &file->contexts;
  const uint32_t count = contexts->ids.count;
  uint32_t handle, id;
  bool has_memory = true;
  *is_good = winidea_read_handle_of(fields, MACRO_HANDLE, &handle);
  if (!*is_good)
    return PF_OK;
  const uint32_t name = name_of(trace, fields->of[MACRO_NAME], &has_memory);
  const uint64_t word = handle;
  if (!has_memory ||
      !pf_grow(&contexts->names, &contexts->capacity, (size_t)count + 1) ||
      pf_id_table_words(&contexts->ids, &word, 1, &id) != PF_OK)
    return pf_no_memory(error);
  if (id == count) /* if a handle is listed twice, the first name is kept */
    contexts->names[id] = name;
  return PF_OK;
}


pf_status winidea_take_fields (pf_trace *trace, winidea_section_kind kind,
                               const winidea_fields *fields, bool *is_good,
                               pf_error *error) {
  winidea_file *const file = trace->state;
  const pf_bytes total = fields->of[MACRO_TOTAL_TIME];
  if (kind == WINIDEA_CONTEXTS)
    return add_context(trace, fields, is_good, error);
  if (kind == WINIDEA_HANDLE)
    return add_area(trace, fields, is_good, error);
  *is_good = total.at == NULL || winidea_read_decimal(total, &file->total_time);
  if (*is_good && total.at != NULL) {
    file->has_total = true;
    pf_info_int(trace, "total_time", file->total_time);
  }
  return PF_OK;
}


static pf_status take_row (pf_trace *trace, winidea_section_kind kind,
                           const winidea_rowformat *format, pf_bytes row,
                           uint64_t offset, pf_error *error) {
  winidea_fields fields;
  bool is_good = winidea_split(format, row, &fields);
  pf_status status = PF_OK;
  if (is_good)
    status = winidea_take_fields(trace, kind, &fields, &is_good, error);
  if (status == PF_OK && !is_good)
    return winidea_bad_row(trace, offset, row, kind, error);
  if (status < 0 || kind != WINIDEA_HANDLE || !fields.is_ambiguous)
    return status;
  return winidea_ambiguous_row(trace, offset, row, error);
}


pf_status winidea_parse_section (pf_trace *trace,
                                 const winidea_section *section,
                                 pf_error *error) {
  winidea_file *const file = trace->state;
  winidea_rowformat format;
  pf_status status = PF_OK;
  if (section->kind > WINIDEA_HANDLE || !section->is_readable)
    return PF_OK;
  (void)winidea_compile(&format, section->format);
  file->areas.is_mapping = section->kind == WINIDEA_HANDLE;
  for (uint64_t at = section->parsed, next;
       at < section->end && status == PF_OK; at = next) {
    const pf_bytes row = winidea_line(file->text->bytes, at, &next);
    if (row.size > 0)
      status = take_row(trace, section->kind, &format, row, at, error);
  }
  file->areas.is_mapping = false;
  return status;
}
