/*
** chunk.c - the binary parts of major version 0. All numbers are unsigned,
** of 32 bits, little-endian; nothing is aligned.
**
**   chunk   OFFSET  SIZE  FIELD
**                0     4  offset of the first address from tstart
**                4     4  number of counts
**                8    4n  samples of each address, 4 bytes of code apart
**
**   footer       0     4  number of addresses that have samples
**                4     4  sum of all samples
**
** Chunks stand in order of their offsets and do not overlap. Neither their
** number nor their length is stated: the footer is the last 8 bytes. From
** dcpiformat(4), which leaves open whether an offset counts bytes (taken
** here) or instructions, and what changed between 0.06 and 0.07.
*/

#include "formats/dcpi/dcpi.h"

#define LARGEST_NUMBER 0x40000000u /* from here on 4 * number wraps 32 bits */


static uint32_t swapped (uint32_t word) {
  return word >> 24 | (word >> 8 & 0xff00) | (word << 8 & 0xff0000) |
         word << 24;
}


/* {====== Sums ====== */

static void add_counts (const uint8_t *at, uint64_t count, bool big,
                        uint64_t *addresses, uint64_t *samples) {
  uint64_t filled = 0, sum = 0;
  if (big)
    for (uint64_t i = 0; i < count; i++) {
      const uint32_t value = pf_load32be(at + 4 * i);
      sum += value;
      filled += value != 0;
    }
  else
    for (uint64_t i = 0; i < count; i++) {
      const uint32_t value = pf_load32le(at + 4 * i);
      sum += value;
      filled += value != 0;
    }
  *addresses += filled;
  *samples += sum;
}


void dcpi_add_up (dcpi_walk *walk, const dcpi_part *part) {
  add_counts(walk->bytes.at + part->items, part->count, walk->file->big,
             &walk->addresses, &walk->samples);
}


/* Whether the 8 bytes at `at` are the footer of what has been read, and of
   `more` counts from `items` on. */
static bool is_footer (const dcpi_walk *walk, uint64_t at, uint64_t items,
                       uint64_t more) {
  uint64_t addresses = walk->addresses, samples = walk->samples;
  add_counts(walk->bytes.at + items, more, walk->file->big, &addresses,
             &samples);
  return dcpi_load(walk, at) == (uint32_t)addresses &&
         dcpi_load(walk, at + 4) == (uint32_t)samples;
}

/* }====== */


/* {====== Why a part is not as it should be ====== */

/* Whether each line feed behind the header follows a carriage return, as a
   copy in text mode leaves them, and without these the words come out. */
static bool is_text_copy (const dcpi_walk *walk) {
  const uint8_t *const body = walk->bytes.at + walk->header.size;
  const size_t size = walk->bytes.size - (size_t)walk->header.size;
  size_t pairs = 0;
  for (const uint8_t *at = body;
       (at = memchr(at, '\n', size - (size_t)(at - body))) != NULL; at++) {
    if (at == body || at[-1] != '\r')
      return false;
    pairs++;
  }
  return pairs > 0 && (size - pairs) % 4 == 0;
}


static pf_status report_text_copy (dcpi_walk *walk, uint64_t at) {
  return dcpi_report(walk, PF_DAMAGE, "dcpi-text-mode", PF_EFORMAT, at,
                     "each line feed behind the header follows a carriage "
                     "return: the file was copied in text mode, and what "
                     "stands from here on is not what was counted");
}


/* Whether a chunk head makes sense with its bytes the other way round. */
static bool is_swapped (const dcpi_walk *walk, const dcpi_part *part) {
  const uint64_t offset = swapped(part->words[0]);
  const uint64_t number = swapped(part->words[1]);
  const uint64_t room = (dcpi_left(walk) - DCPI_CHUNK_HEAD) / 4;
  return number > 0 && number <= room &&
         (!dcpi_has(&walk->header, DCPI_TSIZE) ||
          offset < walk->header.numbers[DCPI_TSIZE]);
}

/* }====== */


/* {====== The footer ====== */

static pf_status bad_sum (dcpi_walk *walk, const char *code, uint64_t at,
                          const char *what, uint32_t stated, uint64_t counted) {
  return dcpi_report(walk, PF_DAMAGE, code, PF_EFORMAT, at,
                     "the footer states %u %s, counted were %llu: the file "
                     "may have been cut, or have bytes behind its end",
                     (unsigned)stated, what, (unsigned long long)counted);
}


static pf_status check_samples (dcpi_walk *walk, const dcpi_part *footer) {
  if (walk->samples == footer->words[1])
    return PF_OK;
  /* cppcheck-suppress knownConditionTrueFalse ; a sum may have wrapped */
  if ((uint32_t)walk->samples != footer->words[1])
    return bad_sum(walk, "dcpi-footer-samples", footer->offset + 4, "samples",
                   footer->words[1], walk->samples);
  return dcpi_report(walk, PF_NOTE, "dcpi-sum-wrapped", PF_EFORMAT,
                     footer->offset + 4,
                     "%llu samples were counted: the footer states the sum "
                     "modulo 2^32",
                     (unsigned long long)walk->samples);
}


static pf_status check_footer (dcpi_walk *walk, const dcpi_part *footer) {
  const uint64_t room = (footer->offset - walk->header.size) / 4;
  pf_status status = PF_OK;
  if (footer->words[0] > room)
    return dcpi_report(walk, PF_DAMAGE, "dcpi-footer-impossible", PF_EFORMAT,
                       footer->offset,
                       "the footer states %u addresses with samples, the file "
                       "has room for %llu",
                       (unsigned)footer->words[0], (unsigned long long)room);
  const bool is_right = walk->addresses == footer->words[0] &&
                        (uint32_t)walk->samples == footer->words[1];
  if (!is_right && is_text_copy(walk))
    return report_text_copy(walk, walk->header.size);
  if (walk->addresses != footer->words[0])
    status =
        bad_sum(walk, "dcpi-footer-addresses", footer->offset,
                "addresses with samples", footer->words[0], walk->addresses);
  return status < 0 ? status : check_samples(walk, footer);
}


static void take_footer (dcpi_walk *walk, dcpi_part *part) {
  part->words[0] = dcpi_load(walk, walk->at);
  part->words[1] = dcpi_load(walk, walk->at + 4);
  dcpi_take_part(walk, part, DCPI_FOOTER, DCPI_FOOTER_SIZE);
  walk->has_ended = true;
}


/* The bytes end where a footer should be. */
static pf_status no_footer (dcpi_walk *walk, dcpi_part *part) {
  const uint64_t at = walk->at, left = dcpi_left(walk);
  const bool is_all = at == walk->header.size;
  dcpi_take_rest(walk, part);
  if (is_all)
    return dcpi_report(walk, PF_DAMAGE, "dcpi-no-footer", PF_ETRUNCATED, at,
                       "at least a footer of 8 bytes expected behind the "
                       "header, found %llu",
                       (unsigned long long)left);
  return dcpi_report(walk, PF_DAMAGE, "dcpi-truncated-footer", PF_ETRUNCATED,
                     at, "a footer of 8 bytes expected, found %llu",
                     (unsigned long long)left);
}


/* What was counted stands here as a footer, and bytes behind it. */
static pf_status trailing_bytes (dcpi_walk *walk, dcpi_part *part) {
  take_footer(walk, part);
  return dcpi_report(walk, PF_DAMAGE, "dcpi-trailing-bytes", PF_EFORMAT,
                     walk->at, "%llu bytes stand behind the footer",
                     (unsigned long long)dcpi_left(walk));
}


/* Bytes before the footer that are no chunk. */
static pf_status stray_bytes (dcpi_walk *walk, dcpi_part *part) {
  const uint64_t at = walk->at, stray = dcpi_left(walk) - DCPI_FOOTER_SIZE;
  dcpi_take_part(walk, part, DCPI_REST, stray);
  if (is_text_copy(walk))
    return report_text_copy(walk, walk->header.size);
  return dcpi_report(walk, PF_DAMAGE, "dcpi-stray-bytes", PF_ETRUNCATED, at,
                     "a chunk or the footer expected, found %llu bytes and "
                     "then the last 8",
                     (unsigned long long)stray);
}

/* }====== */


/* {====== Chunks ====== */

/* Say once that the offsets may count instructions. */
static pf_status hint_unit (dcpi_walk *walk) {
  return dcpi_report(walk, PF_NOTE, "dcpi-offset-unit", PF_EFORMAT,
                     walk->header.size,
                     "the offsets may count instructions, not bytes: pass "
                     "offset_unit = \"insn\" to read them so");
}


static pf_status hint_when (dcpi_walk *walk, pf_status status, bool is_likely) {
  if (status < 0 || !is_likely || walk->file->by_insn)
    return status;
  return hint_unit(walk);
}


/* Where it stands among the chunks. */
static pf_status check_order (dcpi_walk *walk, const dcpi_part *part,
                              uint64_t start) {
  const uint64_t step = walk->file->step;
  if (!walk->has_chunk || start >= walk->covered)
    return PF_OK;
  if (start <= walk->last)
    return dcpi_report(
        walk, PF_DAMAGE, "dcpi-chunk-order", PF_EFORMAT, part->offset,
        "an offset above %llu expected, found %llu",
        (unsigned long long)walk->last, (unsigned long long)start);
  const bool is_behind =
      start - walk->last >= (walk->covered - walk->last) / step;
  return hint_when(walk,
                   dcpi_report(walk, PF_DAMAGE, "dcpi-chunk-overlap",
                               PF_EFORMAT, part->offset,
                               "an offset of at least %llu expected, where "
                               "the last chunk ends, found %llu",
                               (unsigned long long)walk->covered,
                               (unsigned long long)start),
                   is_behind);
}


/* Where its addresses are. */
static pf_status check_range (dcpi_walk *walk, const dcpi_part *part,
                              uint64_t start, uint64_t end) {
  const dcpi_header *const header = &walk->header;
  const uint64_t size = header->numbers[DCPI_TSIZE];
  if (header->numbers[DCPI_TSTART] > UINT64_MAX - end)
    return dcpi_report(walk, PF_DAMAGE, "dcpi-address-wrap", PF_EFORMAT,
                       part->offset,
                       "addresses below 2^64 expected, a chunk goes %llu "
                       "bytes beyond tstart",
                       (unsigned long long)end);
  if (!dcpi_has(header, DCPI_TSIZE) || end <= size)
    return PF_OK;
  return hint_when(
      walk,
      dcpi_report(walk, PF_DAMAGE, "dcpi-beyond-text", PF_EFORMAT, part->offset,
                  "a chunk within the %llu bytes of tsize "
                  "expected, it ends at %llu",
                  (unsigned long long)size, (unsigned long long)end),
      start + part->words[1] <= size);
}


static pf_status check_alignment (dcpi_walk *walk, const dcpi_part *part) {
  if (walk->file->by_insn || part->words[0] % walk->file->step == 0)
    return PF_OK;
  return hint_when(walk,
                   dcpi_report(walk, PF_DAMAGE, "dcpi-unaligned", PF_EFORMAT,
                               part->offset,
                               "an offset that is a multiple of %llu "
                               "expected, found %u",
                               (unsigned long long)walk->file->step,
                               (unsigned)part->words[0]),
                   true);
}


/* Check a chunk against its neighbours and the image, and go on from it. */
static pf_status check_chunk (dcpi_walk *walk, dcpi_part *part) {
  const uint64_t step = walk->file->step;
  const uint64_t unit = walk->file->by_insn ? step : 1;
  const uint64_t start = part->words[0] * unit;
  const uint64_t end = start + step * part->words[1];
  pf_status status = check_order(walk, part, start);
  if (status == PF_OK)
    status = check_range(walk, part, start, end);
  if (status == PF_OK)
    status = check_alignment(walk, part);
  part->address = walk->header.numbers[DCPI_TSTART] + start;
  walk->has_chunk = true;
  walk->last = start;
  walk->covered = end;
  return status;
}


/* Take `count` counts; `size` bytes of the file belong to the chunk. */
static pf_status take_chunk (dcpi_walk *walk, dcpi_part *part, uint64_t count,
                             uint64_t size) {
  part->items = walk->at + DCPI_CHUNK_HEAD;
  part->count = count;
  dcpi_take_part(walk, part, DCPI_CHUNK, size);
  if (!walk->counts_later)
    dcpi_add_up(walk, part);
  return check_chunk(walk, part);
}


/* Whether a chunk and a footer are there. */
static bool fits (const dcpi_walk *walk, const dcpi_part *part) {
  const uint64_t least = DCPI_CHUNK_HEAD + DCPI_FOOTER_SIZE;
  const uint64_t left = dcpi_left(walk);
  return left >= least && part->words[1] <= (left - least) / 4;
}


static pf_status whole_chunk (dcpi_walk *walk, dcpi_part *part) {
  return take_chunk(walk, part, part->words[1],
                    DCPI_CHUNK_HEAD + 4 * (uint64_t)part->words[1]);
}


static pf_status empty_chunk (dcpi_walk *walk, dcpi_part *part) {
  part->items = walk->at + DCPI_CHUNK_HEAD;
  dcpi_take_part(walk, part, DCPI_CHUNK, DCPI_CHUNK_HEAD);
  return dcpi_report(walk, PF_DAMAGE, "dcpi-empty-chunk", PF_EFORMAT,
                     part->offset,
                     "a chunk of 1 count or more expected, "
                     "found one of 0");
}


/* A number of counts that nobody can believe. */
static pf_status refuse_chunk (dcpi_walk *walk, dcpi_part *part) {
  const uint64_t at = walk->at, left = dcpi_left(walk);
  const bool is_other = is_swapped(walk, part);
  dcpi_take_rest(walk, part);
  if (is_text_copy(walk))
    return report_text_copy(walk, walk->header.size);
  if (is_other)
    return dcpi_report(walk, PF_DAMAGE, "dcpi-byte-order", PF_EFORMAT, at,
                       "a chunk of %u counts does not fit, but with its bytes "
                       "the other way round it does: pass byte_order = "
                       "\"big\"",
                       (unsigned)part->words[1]);
  return dcpi_report(walk, PF_DAMAGE, "dcpi-number-too-large", PF_EFORMAT, at,
                     "a chunk of at most %llu counts expected, found %u",
                     (unsigned long long)((left - DCPI_CHUNK_HEAD) / 4),
                     (unsigned)part->words[1]);
}


/* The counts go on behind the end of the file, where the footer should be. */
static pf_status cut_chunk (dcpi_walk *walk, dcpi_part *part) {
  const uint64_t at = walk->at;
  const uint64_t there = (dcpi_left(walk) - DCPI_CHUNK_HEAD) / 4;
  const uint64_t count = part->words[1] < there ? part->words[1] : there;
  const pf_status status = take_chunk(walk, part, count, dcpi_left(walk));
  walk->has_ended = true;
  if (status < 0)
    return status;
  return dcpi_report(walk, PF_DAMAGE, "dcpi-truncated", PF_ETRUNCATED, at,
                     "%u counts and a footer expected, the file ends after "
                     "%llu counts",
                     (unsigned)part->words[1], (unsigned long long)count);
}


/* The number is wrong, but the footer is there and fits what is between. */
static pf_status wrong_number (dcpi_walk *walk, dcpi_part *part,
                               uint64_t count) {
  const uint64_t at = walk->at;
  const uint32_t stated = part->words[1];
  part->words[1] = (uint32_t)count;
  const pf_status status =
      take_chunk(walk, part, count, DCPI_CHUNK_HEAD + 4 * count);
  part->words[1] = stated;
  if (status < 0)
    return status;
  return dcpi_report(walk, PF_DAMAGE, "dcpi-wrong-number", PF_EFORMAT, at,
                     "a chunk of %u counts does not fit; the footer says that "
                     "it has %llu",
                     (unsigned)stated, (unsigned long long)count);
}


/* A chunk that does not fit before a footer. */
static pf_status odd_chunk (dcpi_walk *walk, dcpi_part *part) {
  const uint64_t least = DCPI_CHUNK_HEAD + DCPI_FOOTER_SIZE;
  const uint64_t body = dcpi_left(walk) > least ? dcpi_left(walk) - least : 0;
  if (body > 0 && body % 4 == 0 &&
      is_footer(walk, walk->bytes.size - DCPI_FOOTER_SIZE,
                walk->at + DCPI_CHUNK_HEAD, body / 4))
    return wrong_number(walk, part, body / 4);
  if (part->words[1] <= (dcpi_left(walk) - DCPI_CHUNK_HEAD) / 4)
    return whole_chunk(walk, part); /* only the footer is cut */
  if (part->words[1] >= LARGEST_NUMBER || is_swapped(walk, part) ||
      is_text_copy(walk))
    return refuse_chunk(walk, part);
  return cut_chunk(walk, part);
}


/* Whether what stands here is the footer of what was read, and cannot be a
   chunk. */
static bool is_early_footer (const dcpi_walk *walk, const dcpi_part *part) {
  const bool is_chunk =
      !walk->has_chunk ||
      (part->words[1] > 0 && fits(walk, part) && part->words[0] > walk->last);
  return !is_chunk && is_footer(walk, walk->at, walk->at, 0);
}


/* The words of a chunk's head are there. */
static pf_status take_any_chunk (dcpi_walk *walk, dcpi_part *part) {
  const uint64_t left = dcpi_left(walk);
  part->words[0] = dcpi_load(walk, walk->at);
  part->words[1] = dcpi_load(walk, walk->at + 4);
  if (is_early_footer(walk, part))
    return trailing_bytes(walk, part);
  if (left < DCPI_CHUNK_HEAD + 4 ||
      (left < DCPI_CHUNK_HEAD + DCPI_FOOTER_SIZE &&
       is_footer(walk, walk->bytes.size - DCPI_FOOTER_SIZE, walk->at, 0)))
    return stray_bytes(walk, part);
  if (part->words[1] == 0)
    return empty_chunk(walk, part);
  return fits(walk, part) ? whole_chunk(walk, part) : odd_chunk(walk, part);
}

/* }====== */


pf_status dcpi_chunk_part (dcpi_walk *walk, dcpi_part *part) {
  const uint64_t left = dcpi_left(walk);
  if (left < DCPI_FOOTER_SIZE)
    return no_footer(walk, part);
  if (left > DCPI_FOOTER_SIZE)
    return take_any_chunk(walk, part);
  take_footer(walk, part);
  return check_footer(walk, part);
}
