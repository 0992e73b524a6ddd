/*
** winidea_live.c - files that grow while they are read: a binary timeline, a Text1
** file, the main file beside a timeline. Sources may move when another one is
** found, so they are remembered by their numbers.
*/

#include "formats/winidea/winidea_text1.h"

#define ENOUGH 16 /* records after which a version is guessed */


pf_bytes winidea_complete_lines (const winidea_file *file) {
  pf_bytes text = file->text->bytes;
  while (file->is_live && text.size > 0 && text.at[text.size - 1] != '\n')
    text.size--;
  return text;
}


static const pf_source *source_at (const pf_trace *trace, size_t number) {
  return number < trace->nsources ? &trace->sources[number] : NULL;
}


/* A main file may come after its timeline. */
static void find_main (const pf_trace *trace, winidea_file *file) {
  const pf_source *const mapping = pf_source_of(trace, "mapping");
  if (file->timeline != trace->sources || file->text != NULL ||
      file->xml != NULL || mapping == NULL || !winidea_is_main(file, mapping))
    return;
  file->at[file->text != NULL ? 1 : 2] = (size_t)(mapping - trace->sources);
}


/* A binary timeline may come after its main file. It counts as long as no rows of
   a timeline have been met in the main file itself. */
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


/* Read on in the main file beside a binary timeline. */
static pf_status read_main (pf_trace *trace, winidea_file *file,
                            pf_error *error) {
  if (file->text == NULL || file->timeline == NULL ||
      file->text->bytes.size == file->nseen_bytes)
    return PF_OK;
  file->nseen_bytes = file->text->bytes.size;
  pthread_mutex_lock(&file->mutex);
  const pf_status status = winidea_scan_all(trace, error);
  pthread_mutex_unlock(&file->mutex);
  return status;
}


/* The version of a binary timeline that began with too few records. */
static pf_status find_version (pf_trace *trace, winidea_file *file,
                               pf_error *error) {
  const pf_bytes bytes = file->timeline->bytes;
  if (!winidea_has_version(trace, bytes, file->layout.size) &&
      winidea_records(file) < ENOUGH)
    return PF_AGAIN;
  file->is_version_pending = false;
  const pf_status status =
      winidea_detect_layout(trace, bytes, &file->layout, error);
  if (status == PF_OK)
    pf_info_text(
        trace, "version",
        winidea_text(file->layout.version == WINIDEA_1_0 ? "1.0" : "1.1"));
  return status;
}


pf_status winidea_update_live (pf_trace *trace, pf_error *error) {
  winidea_file *const file = trace->state;
  if (!file->is_live)
    return PF_OK;
  file->timeline = source_at(trace, file->at[0]);
  file->text = source_at(trace, file->at[1]);
  file->xml = source_at(trace, file->at[2]);
  find_main(trace, file);
  pf_status status = find_bin(trace, file, error);
  if (status == PF_OK)
    status = read_main(trace, file, error);
  if (status < 0 || !file->is_version_pending)
    return status;
  return find_version(trace, file, error);
}
