/*
** fuzz_ring.c - random records, journal and positions in a ring, for any
** format: reading may fail, but only with a message, and without access outside
** the ring.
**
** A ring is larger than a good fuzzer input, so it is built from a short one:
** eight numbers, the journal, then the slots.
*/

#include "bytes/ring/ring.h"
#include "fuzz.h"
#include "model/writer/manifest.h"
#include "model/writer/ring_encoder.h"

#define NUMBERS 8
#define SIZE    PF_RING_MIN

static const char *const roles[] = {"packet", "memo", "timeline", "pri"};


/* Encode the records in a format with all its side files. */
static void encode (pf_ring_copy *copy, const pf_format *format) {
  pf_sink sinks[1 + sizeof roles / sizeof *roles];
  const size_t n = sizeof sinks / sizeof *sinks;
  pf_error error = {.status = PF_OK};
  pf_ring_encoder encoder;
  for (size_t i = 0; i < n; i++) {
    MUST(pf_sink_open(&sinks[i], -1) == PF_OK);
    sinks[i].role = i == 0 ? NULL : roles[i - 1];
    sinks[i].side = i + 1 < n ? &sinks[i + 1] : NULL;
  }
  pf_status status =
      pf_ring_encoder_open(&encoder, format, NULL, 0, &sinks[0], &error);
  if (status == PF_OK)
    status = pf_ring_encoder_replay(&encoder, &copy->journal, &error);
  if (status >= 0)
    status =
        pf_ring_encoder_consume(&encoder, &copy->records, UINT64_MAX, &error);
  if (status >= 0)
    status = pf_ring_encoder_finish(&encoder, &error);
  MUST(status >= 0 || (error.status == status && error.what[0] != '\0'));
  pf_ring_encoder_close(&encoder);
  for (size_t i = 0; i < n; i++)
    pf_sink_close(&sinks[i]);
}


/* Skipping runs of equal records must give the same as skipping one by one. */
static void walk (const pf_ring_copy *copy) {
  pf_ring_cursor one = copy->records, many = copy->records;
  pf_ring_record record, other;
  pf_error error;
  pf_status status;
  for (size_t n = 0; (status = pf_ring_next(&many, &record, &error)) == PF_MORE;
       n++) {
    const size_t more = pf_ring_next_alike(&many, &record, n % 5);
    MUST(more <= n % 5);
    for (size_t i = 0; i <= more; i++) {
      MUST(pf_ring_next(&one, &other, &error) == PF_MORE);
      MUST(other.tag == record.tag && other.count == record.count);
      MUST(other.words == record.words + i * 8 * (record.count + 1));
    }
    MUST(one.at == many.at);
  }
  MUST(pf_ring_next(&one, &other, &error) == status);
}


/* Build the file of a ring from an input; returns its size. */
static size_t build (const uint8_t *data, size_t size, uint8_t *file) {
  uint64_t n[NUMBERS] = {0};
  pf_ring_header *const header = (pf_ring_header *)(void *)file;
  const size_t head = size < sizeof n ? size : sizeof n;
  memcpy(n, data, head);
  data += head;
  size -= head;
  const size_t journal = size == 0 ? 0 : n[0] % (size + 1);
  const size_t slots = size - journal < SIZE ? size - journal : SIZE;
  memset(file, 0, PF_RING_PAGE + SIZE);
  memcpy(header->magic, "PFRING\r\n", sizeof header->magic);
  header->version = PF_RING_VERSION;
  header->mode = n[1] % 4;
  header->size = SIZE;
  pf_store_relaxed(&header->head, n[2] % 3 == 0 ? n[2] : n[3] + slots / 8 * 8);
  pf_store_relaxed(&header->journal, n[4] % 16 == 0 ? n[4] : journal);
  pf_store_relaxed(&header->checkpoint.numbers[0][0], n[3]);
  pf_store_relaxed(&header->checkpoint.numbers[0][1], n[5]);
  pf_store_relaxed(&header->oldest.numbers[0][0], n[6]);
  pf_store_relaxed(&header->oldest.numbers[0][1], n[7]);
  for (size_t i = 0; i < slots; i++)
    file[PF_RING_PAGE + ((n[3] + i) & (SIZE - 1))] = data[journal + i];
  if (journal > 0)
    memcpy(file + PF_RING_PAGE + SIZE, data, journal);
  return PF_RING_PAGE + SIZE + journal;
}


int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size) {
  static const char *const streams[] = {"br", "xpp", "winidea"};
  pf_manifest manifest;
  const size_t room = (2 * PF_RING_PAGE + SIZE + size) & ~(size_t)4095;
  uint8_t *const file = aligned_alloc(PF_RING_PAGE, room);
  MUST(file != NULL);
  const pf_bytes bytes = {file, build(data, size, file)};
  for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
    pf_ring_copy copy;
    pf_error error = {.status = PF_OK};
    const pf_status status = pf_ring_parse(bytes, &copy, &error);
    MUST(status >= 0 || error.what[0] != '\0');
    if (status == PF_OK)
      walk(&copy);
    if (status == PF_OK)
      encode(&copy, pf_format_named(streams[i]));
    pf_ring_copy_close(&copy);
  }
  (void)pf_manifest_read((pf_bytes){data, size}, &manifest);
  free(file);
  return 0;
}
