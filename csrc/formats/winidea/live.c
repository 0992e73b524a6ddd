/*
** live.c - files that grow while they are read: a binary timeline, a
** Text1 file, and the file beside either. trace->sources may be reallocated
** when a file is added, so files are kept as indices.
*/

#include "formats/winidea/text1.h"

#define MIN_RECORDS 16 /* records after which the version is guessed */


pf_bytes winidea_complete_lines (const winidea_file *file, pf_bytes text) {
  while (file->is_live && text.size > 0 && text.at[text.size - 1] != '\n')
    text.size--;
  return text;
}


static const pf_source *source_at (const pf_trace *trace, size_t number) {
  return number < trace->nsources ? &trace->sources[number] : NULL;
}


/* Finds a binary timeline that was created after its main file, unless the main
   file has a timeline section. */
static pf_status find_bin (pf_trace *trace, winidea_file *file,
                           pf_error *error) {
  const pf_source *const timeline = pf_source_of(trace, "timeline");
  if (file->timeline != NULL || file->text != trace->sources ||
      timeline == NULL || winidea_first_timeline(file) != NULL)
    return PF_OK;
  file->timeline = timeline;
  file->at[0] = (size_t)(timeline - trace->sources);
  return winidea_open_records(trace, file, error);
}


/* Detects the version once there are enough records. */
static pf_status find_version (pf_trace *trace, winidea_file *file,
                               pf_error *error) {
  const pf_bytes bytes = file->timeline->bytes;
  if (!winidea_has_version(trace, bytes, file->layout.size) &&
      winidea_records(file) < MIN_RECORDS)
    return PF_AGAIN;
  file->is_version_pending = false;
  const pf_status status =
      winidea_detect_layout(trace, bytes, &file->layout, error);
  if (status == PF_OK)
    pf_info_text(
        trace, "version",
        pf_bytes_of(file->layout.version == WINIDEA_1_0 ? "1.0" : "1.1"));
  return status;
}


pf_status winidea_update_live (pf_trace *trace, pf_error *error) {
  winidea_file *const file = trace->state;
  if (!file->is_live)
    return PF_OK;
  file->timeline = source_at(trace, file->at[0]);
  file->text = source_at(trace, file->at[1]);
  file->xml = source_at(trace, file->at[2]);
  const pf_source *const mapping = pf_source_of(trace, "mapping");
  /* a main file may be created after its timeline */
  if (file->timeline == trace->sources && file->text == NULL &&
      file->xml == NULL && mapping != NULL && winidea_is_main(file, mapping))
    file->at[file->text != NULL ? 1 : 2] = (size_t)(mapping - trace->sources);
  pf_status status = find_bin(trace, file, error);
  if (status == PF_OK && file->text != NULL && file->timeline != NULL &&
      file->text->bytes.size != file->nseen_bytes) {
    file->nseen_bytes = file->text->bytes.size;
    pthread_mutex_lock(&file->mutex);
    status = winidea_scan_all(trace, error);
    pthread_mutex_unlock(&file->mutex);
  }
  if (status < 0 || !file->is_version_pending)
    return status;
  return find_version(trace, file, error);
}
