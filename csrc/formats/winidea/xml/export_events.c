/*
** export_events.c - the events of an XML export, as rows of text_timeline.c,
** which owns the parser and calls this.
*/

#include "formats/winidea/text_timeline.h"


/* At the end of the rows of XML: notes what is not read. PF_END or a
   failure. */
static pf_status end_xml (winidea_timeline *self, pf_status status,
                          pf_error *error) {
  winidea_decoder *const decoder = &self->decoder;
  self->is_xml_over = true;
  /* if it is cut, the stated end of the recording is too late */
  self->is_ended |= !winidea_xml_is_whole(self->xml);
  if (status == PF_ENOMEM)
    return pf_no_memory(error);
  pthread_mutex_lock(&decoder->file->mutex);
  status = winidea_xml_end(self->xml, decoder->trace, decoder->file->xml->bytes,
                           error);
  pthread_mutex_unlock(&decoder->file->mutex);
  return status < 0 ? status : PF_END;
}


/* Takes a row of XML: an event, or an area after the events, which is not
   read. */
static pf_status take_xml_row (winidea_timeline *self,
                               const winidea_xml_row *found, size_t *n,
                               pf_error *error) {
  winidea_decoder *const decoder = &self->decoder;
  winidea_file *const file = decoder->file;
  const bool is_event = found->kind == WINIDEA_TIMELINE;
  winidea_event r = {.kind = WINIDEA_DATA_NONE};
  pf_status status = PF_OK;
  if (is_event)
    self->has_seen_events = true;
  else if (!self->has_seen_events || file->is_scanned)
    return PF_OK;
  if (is_event && winidea_read_event(self, &found->fields, &r)) {
    decoder->contexts[*n] = PF_NO_NAME;
    self->context = (pf_bytes){NULL, 0}; /* it was in the row before */
    return winidea_put_event(self, (*n)++, found->offset, &r, error);
  }
  pthread_mutex_lock(&file->mutex);
  status = is_event ? winidea_bad_xml_row(decoder->trace, found->offset,
                                          WINIDEA_TIMELINE, error)
                    : pf_warn(decoder->trace, PF_NOTE, "winidea-xml-late",
                              PF_EFORMAT, found->offset, error,
                              "areas that follow the timeline are not read, "
                              "since there are some before it");
  pthread_mutex_unlock(&file->mutex);
  return status;
}


pf_status winidea_read_xml_rows (winidea_timeline *self, size_t *n,
                                 pf_error *error) {
  winidea_decoder *const decoder = &self->decoder;
  const winidea_file *const file = decoder->file;
  if (self->is_xml_over || !file->has_read_xml)
    return PF_END;
  if (self->xml == NULL)
    self->xml = winidea_xml_new(1u << WINIDEA_TIMELINE | 1u << WINIDEA_HANDLE,
                                decoder->trace->dictionary->seed, false);
  if (self->xml == NULL)
    return pf_no_memory(error);
  decoder->has_contexts = true; /* any row may have one */
  while (*n < PF_BATCH_ROWS) {
    winidea_xml_row found;
    pf_status status = winidea_xml_next(self->xml, file->xml->bytes, &found);
    if (status != PF_OK) {
      status = end_xml(self, status, error);
      return status == PF_END && *n > 0 ? PF_OK : status;
    }
    status = take_xml_row(self, &found, n, error);
    if (status < 0)
      return status;
  }
  return PF_OK;
}
