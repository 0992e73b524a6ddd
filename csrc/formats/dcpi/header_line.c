/*
** header_line.c - splits a header line into its word and its value, and reads
** numbers and times. Used by the parser, the encoder and the score. Nothing is
** allocated: lines are slices of the text.
**
**   <line> : <word> <blank>+ <rest> "\n"     blanks are spaces and tabs
**
** By the grammar blanks at the end belong to the rest. The value is the rest
** without them and without a carriage return.
**
** Times are decimal digits, all of them UTC:
**
**   YYMMDDHHMM        daemons of 1996 to 1998; years from 70 on are 19YY
**   YYYYMMDDHHMM      later tools
**   YYYYMMDDHHMMSS    announced in dcpiformat(4)
*/

#include "formats/dcpi/dcpi.h"
#include "model/dictionary/names.h"

const dcpi_rule dcpi_rules[DCPI_WORDS] = {
    [DCPI_VERSION] = {"version",
                      DCPI_PDB_VERSION,
                      {DCPI_REQUIRED, DCPI_FOREIGN}},
    [DCPI_IMAGE] = {"image", DCPI_HEX_DIGITS, {DCPI_REQUIRED, DCPI_REQUIRED}},
    [DCPI_EPOCH] = {"epoch", DCPI_TIME, {DCPI_REQUIRED, DCPI_REQUIRED}},
    [DCPI_PLATFORM] = {"platform", DCPI_TEXT, {DCPI_REQUIRED, DCPI_REQUIRED}},
    [DCPI_EVENT] = {"event", DCPI_TEXT, {DCPI_REQUIRED, DCPI_REQUIRED}},
    [DCPI_PERIOD] = {"period", DCPI_DECIMAL, {DCPI_REQUIRED, DCPI_FOREIGN}},
    [DCPI_TSTART] = {"tstart", DCPI_HEX, {DCPI_REQUIRED, DCPI_FOREIGN}},
    [DCPI_TSIZE] = {"tsize", DCPI_DECIMAL, {DCPI_REQUIRED, DCPI_FOREIGN}},
    [DCPI_CPUSPEED] = {"cpuspeed", DCPI_DECIMAL, {DCPI_REQUIRED, DCPI_USED}},
    [DCPI_CPUAMASK] = {"cpuamask", DCPI_HEX, {DCPI_OPTIONAL, DCPI_FOREIGN}},
    [DCPI_CPUIMPLV] = {"cpuimplv", DCPI_DECIMAL, {DCPI_OPTIONAL, DCPI_FOREIGN}},
    [DCPI_CPUCOUNT] = {"cpucount", DCPI_DECIMAL, {DCPI_OPTIONAL, DCPI_FOREIGN}},
    [DCPI_PATH] = {"path", DCPI_TEXT, {DCPI_OPTIONAL, DCPI_OPTIONAL}},
    [DCPI_NAME] = {"name", DCPI_TEXT, {DCPI_USED, DCPI_REQUIRED}},
    [DCPI_LABEL] = {"label", DCPI_TEXT, {DCPI_USED, DCPI_OPTIONAL}},
    [DCPI_TEXT_START] = {"text_start", DCPI_HEX, {DCPI_FOREIGN, DCPI_REQUIRED}},
    [DCPI_TEXT_SIZE] = {"text_size", DCPI_HEX, {DCPI_FOREIGN, DCPI_REQUIRED}},
};


dcpi_word dcpi_word_of (pf_bytes text) {
  dcpi_word word = DCPI_VERSION;
  while (word < DCPI_WORDS &&
         !pf_bytes_equal(text, pf_bytes_of(dcpi_rules[word].word)))
    word++;
  return word;
}


bool dcpi_split_line (pf_bytes bytes, uint64_t offset, dcpi_line *line) {
  const size_t left = bytes.size - (size_t)offset;
  *line = (dcpi_line){.offset = offset, .id = DCPI_WORDS};
  if (left == 0)
    return false;
  const uint8_t *const at = bytes.at + offset;
  const uint8_t *const feed = memchr(at, '\n', left);
  const size_t size = feed != NULL ? (size_t)(feed - at) : left;
  size_t word = 0;
  while (word < size && !dcpi_is_blank(at[word]))
    word++;
  size_t rest = word;
  while (rest < size && dcpi_is_blank(at[rest]))
    rest++;
  line->size = size + (feed != NULL);
  line->word = pf_trim_also((pf_bytes){at, word}, '\r');
  line->rest = (pf_bytes){at + rest, size - rest};
  line->value = pf_trim_also(line->rest, '\r');
  line->id = dcpi_word_of(line->word);
  return feed != NULL;
}


bool dcpi_is_terminator (const dcpi_line *line) {
  return line->value.size == 0 &&
         pf_bytes_equal(line->word, pf_bytes_of("samples"));
}


bool dcpi_cut_prefix (pf_bytes *text) {
  if (text->size < 2 || text->at[0] != '0' || (text->at[1] | 0x20) != 'x')
    return false;
  *text = (pf_bytes){text->at + 2, text->size - 2};
  return true;
}


bool dcpi_has_address (const dcpi_line *line) {
  pf_bytes digits = line->word;
  return dcpi_cut_prefix(&digits) && digits.size > 0;
}


uint64_t dcpi_epoch (pf_bytes digits) {
  uint64_t time = 0;
  if (pf_parse_uint(digits, 10, &time) != PF_OK)
    return 0;
  switch (digits.size) {
    case 10:
      time += (time >= 7000000000 ? 19 : 20) * UINT64_C(10000000000);
      time *= 100;
      break;
    case 12: time *= 100; break;
    case 14: break;
    default: return 0;
  }
  static const uint8_t days[] = {31, 28, 31, 30, 31, 30,
                                 31, 31, 30, 31, 30, 31};
  const unsigned second = (unsigned)(time % 100);
  const unsigned minute = (unsigned)(time / 100 % 100);
  const unsigned hour = (unsigned)(time / 10000 % 100);
  const unsigned day = (unsigned)(time / 1000000 % 100);
  const unsigned month = (unsigned)(time / 100000000 % 100);
  const unsigned year = (unsigned)(time / 10000000000);
  const bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  const bool is_valid =
      month >= 1 && month <= 12 && day >= 1 &&
      day <= days[month - 1] + (unsigned)(month == 2 && is_leap) && hour < 24 &&
      minute < 60 && second < 60;
  return is_valid ? time : 0;
}
