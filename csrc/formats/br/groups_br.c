/*
** groups_br.c - the parser of groups. It detects and reports all records that
** are damaged or in a wrong place. Used by open_br.c and rows_br.c. A br_parser
** owns its arrays and names; br_parser_close frees them.
*/

#include <stdio.h>
#include <stdlib.h>

#include "formats/br/br.h"
#include "model/dictionary/stacks.h"
#include "model/base/memory.h"

const char *const br_routine_names[BR_ROUTINES] = {[BR_UNKNOWN] = "unknown",
                                                   [BR_IN_FUNCTION] =
                                                       "function",
                                                   [BR_IN_GOSUB] = "gosub",
                                                   [BR_IN_MAIN] = "main"};


pf_status br_parser_open (br_parser *parser, pf_trace *trace, pf_error *error) {
  const int64_t depth = pf_option_int(trace, "max_depth", BR_DEPTH);
  *parser = (br_parser){.trace = trace};
  if (depth < 1 || depth > INT32_MAX)
    return pf_refuse(error, "a max_depth of 1 to %d expected, found %lld",
                     INT32_MAX, (long long)depth);
  parser->depth = (size_t)depth;
  parser->is_live = pf_option_int(trace, "live", 0) != 0;
  parser->modules = calloc(BR_MODULES, sizeof *parser->modules);
  if (parser->modules == NULL)
    return pf_no_memory(error);
  return br_names_open(&parser->names, trace, error);
}


void br_parser_close (br_parser *parser) {
  br_names_close(&parser->names);
  free(parser->modules);
  free(parser->group.frames);
}


/* Warns at a record, with the format and the values of a message. */
#define warn(parser, kind, code, record, ...)                            \
  pf_warn((parser)->trace, (kind), (code), PF_EFORMAT, (record)->offset, \
          (parser)->error, __VA_ARGS__)


/* Warns about a record; the next one can be read. */
static pf_status warn_damage (const br_parser *parser, const br_record *record,
                              const char *code, const char *text) {
  return warn(parser, PF_DAMAGE, code, record, "record of type %d: %s",
              (int)record->type, text);
}


/* Takes a mapping. Warns about an empty name, a mapping inside a group, and a
   number that is mapped again. */
static pf_status take_mapping (br_parser *parser, const br_record *record) {
  const uint32_t before = parser->modules[record->module];
  const uint32_t name = br_intern(&parser->names, record->name);
  pf_status status = PF_OK;
  if (name == PF_NO_NAME)
    return pf_no_memory(parser->error);
  if (record->name.size == 0)
    status = warn(parser, PF_NOTE, "br-empty-name", record,
                  "module %u has an empty name", record->module);
  if (status == PF_OK && parser->in_group)
    status = warn(parser, PF_NOTE, "br-late-mapping", record,
                  "module %u is mapped inside a group", record->module);
  if (status == PF_OK && before != 0 && before != name + 1)
    status = warn(parser, PF_NOTE, "br-remapped", record,
                  "module %u is mapped to another file from here on",
                  record->module);
  parser->modules[record->module] = name + 1;
  parser->mappings++;
  parser->may_have_tag = false;
  return status;
}


/* Adds a frame. Warns about a module that is not mapped, and once about a line
   that is not 1 to 99999, except line 0 of [C], as which profio's recorder
   writes C functions. */
static pf_status add_frame (br_parser *parser, const br_record *record) {
  br_group *const group = &parser->group;
  uint32_t module = parser->modules[record->module] - 1;
  pf_status status = PF_OK;
  if (parser->modules[record->module] == 0) {
    char text[16];
    snprintf(text, sizeof text, "module#%u", record->module);
    module = pf_intern_text(parser->trace->dictionary, text);
    if (module == PF_NO_NAME)
      return pf_no_memory(parser->error);
    status = warn(parser, PF_DAMAGE, "br-unmapped", record,
                  "module %u is not mapped", record->module);
  }
  const bool is_odd = record->line < 1 || record->line > BR_LAST_LINE;
  if (status == PF_OK && is_odd && !parser->has_warned_line) {
    const pf_bytes name = pf_name(parser->trace->dictionary, module);
    const bool has_lines =
        pf_text_compare(name, pf_bytes_of("[C]")) != 0 &&
        pf_text_compare(name, pf_bytes_of(PF_LABEL_FILE)) != 0;
    if (record->line != 0 || has_lines) {
      parser->has_warned_line = true;
      status = warn(parser, PF_NOTE, "br-odd-line", record,
                    "line %u: lines of BR programs are 1 to %d", record->line,
                    BR_LAST_LINE);
    }
  }
  if (status != PF_OK)
    return status;
  if (!pf_grow(&group->frames, &group->capacity, group->nframes + 1))
    return pf_no_memory(parser->error);
  group->frames[group->nframes++] =
      (br_frame){module, record->line, PF_NO_NAME, record->clause, BR_UNKNOWN};
  parser->may_have_tag = true;
  return PF_OK;
}


static pf_status take_backtrace (br_parser *parser, const br_record *record) {
  if (parser->group.nframes <= parser->depth)
    return add_frame(parser, record);
  parser->may_have_tag = false;
  if (parser->group.dropped++ > 0)
    return PF_OK;
  return pf_warn(parser->trace, PF_DAMAGE, "br-deep", PF_ELIMIT, record->offset,
                 parser->error,
                 "more than %zu backtraces in a group: the others are only "
                 "counted; see max_depth",
                 parser->depth);
}


static pf_status take_tag (br_parser *parser, const br_record *record) {
  static const br_routine routines[BR_TYPES] = {[BR_FUNCTION] = BR_IN_FUNCTION,
                                                [BR_GOSUB] = BR_IN_GOSUB,
                                                [BR_MAIN] = BR_IN_MAIN};
  br_group *const group = &parser->group;
  if (group->dropped > 0)
    return PF_OK; /* it belongs to a frame that is not kept */
  br_frame *const frame = &group->frames[group->nframes - 1];
  if (!parser->may_have_tag)
    return warn_damage(parser, record, "br-stray-tag",
                       "it must directly follow a line or a backtrace");
  if (frame->routine != BR_UNKNOWN)
    return warn_damage(parser, record, "br-two-tags",
                       "the frame has one already; this one is ignored");
  frame->routine = (uint16_t)routines[record->type];
  if (record->type != BR_FUNCTION)
    return PF_OK;
  frame->function = br_intern(&parser->names, record->name);
  return frame->function == PF_NO_NAME ? pf_no_memory(parser->error) : PF_OK;
}


static pf_status take_time (br_parser *parser, const br_record *record) {
  br_group *const group = &parser->group;
  const uint64_t sum = br_sum(group->spent, record->spent);
  pf_status status = PF_OK;
  if (group->has_time)
    status = warn_damage(parser, record, "br-two-times",
                         "the group has one already; they are added up");
  if (status == PF_OK && sum > INT64_MAX && group->spent <= INT64_MAX)
    status = warn(parser, PF_DAMAGE, "br-time-too-large", record,
                  "a time below 2^63 expected, found %llu: it is missing",
                  (unsigned long long)sum);
  else if (status == PF_OK && record->spent > BR_LONG_TIME)
    status = warn(parser, PF_NOTE, "br-long-time", record,
                  "%llu ns in one line", (unsigned long long)record->spent);
  group->has_time = true;
  group->spent = sum;
  parser->may_have_tag = false;
  return status;
}


/* Takes the rest of the bytes, which begins with no complete record. */
static pf_status take_rest (br_parser *parser, const br_record *record,
                            br_result found) {
  const uint8_t *const at = parser->trace->sources[0].bytes.at + record->offset;
  const uint64_t left = br_left(parser);
  const char *hint = "";
  parser->at += left;
  if (found == BR_TRUNCATED)
    return pf_warn(parser->trace, PF_DAMAGE, "br-truncated", PF_ETRUNCATED,
                   record->offset, parser->error,
                   "a record of type %d and %llu bytes expected, the file ends "
                   "after %llu",
                   (int)record->type, (unsigned long long)record->size,
                   (unsigned long long)left);
  if (at[0] == 0 && memcmp(at, at + 1, (size_t)left - 1) == 0)
    return warn(parser, PF_DAMAGE, "br-padding", record,
                "a record expected, %llu bytes of zeros found",
                (unsigned long long)left);
  if (at[0] == '\r')
    hint = "; was the file copied as text, which puts 0d before each 0a?";
  if (at[0] == 2)
    hint = "; this type is not documented";
  return warn(parser, PF_DAMAGE, "br-bad-type", record,
              "a record of type 1 or 3 to 9 expected, found %d%s: nothing "
              "after it can be read",
              at[0], hint);
}


static pf_status take_record (br_parser *parser, const br_record *record) {
  br_group *const group = &parser->group;
  if (!parser->in_group && record->type != BR_MODULE && record->type != BR_LINE)
    return warn_damage(parser, record, "br-stray", "outside a group");
  switch (record->type) {
    case BR_MODULE: return take_mapping(parser, record);
    case BR_LINE:
      *group = (br_group){.offset = record->offset,
                          .frames = group->frames,
                          .capacity = group->capacity};
      parser->in_group = true;
      return add_frame(parser, record);
    case BR_TIME: return take_time(parser, record);
    case BR_BACKTRACE: return take_backtrace(parser, record);
    case BR_END: parser->in_group = false; return PF_OK;
    default: return take_tag(parser, record);
  }
}


/* Counts a group. Warns once if some groups have a time and others do not. */
static pf_status count_group (br_parser *parser) {
  const bool was_mixed = parser->timed != 0 && parser->timed != parser->groups;
  parser->groups++;
  parser->timed += parser->group.has_time;
  if (was_mixed || parser->timed == 0 || parser->timed == parser->groups)
    return PF_MORE;
  return pf_warn(parser->trace, PF_NOTE, "br-mixed", PF_EFORMAT,
                 parser->group.offset, parser->error,
                 "some groups have a time and others none: those are samples");
}


bool br_end_line (br_callees *callees, const br_group *group,
                  uint64_t *called) {
  const size_t depth = group->nframes + (size_t)group->dropped;
  if (!pf_grow_filled(&callees->times, &callees->capacity, depth + 2, 0))
    return false;
  *called = callees->times[depth + 1];
  callees->times[depth + 1] = 0;
  callees->times[depth] = br_sum(callees->times[depth],
                                 br_has_time(group) ? group->spent : *called);
  return true;
}


pf_status br_next_group (br_parser *parser, pf_error *error) {
  br_record record;
  pf_status status;
  parser->error = error;
  while (br_left(parser) > 0) {
    const br_result found =
        br_record_at(parser->trace->sources[0].bytes, parser->at, &record);
    const bool was_in_group = parser->in_group;
    if (found == BR_TRUNCATED && parser->is_live)
      return PF_AGAIN;
    if (found != BR_COMPLETE)
      status = take_rest(parser, &record, found);
    else if (was_in_group && record.type == BR_LINE) {
      parser->in_group = false;
      status = warn_damage(parser, &record, "br-nested",
                           "the group before it has no end; it ends here");
    }
    else {
      status = take_record(parser, &record);
      parser->at += record.size;
    }
    if (status < 0)
      return status;
    if (was_in_group && !parser->in_group)
      return count_group(parser);
  }
  if (parser->is_live || !parser->in_group)
    return parser->is_live ? PF_AGAIN : PF_END;
  parser->in_group = false;
  status = pf_warn(parser->trace, PF_DAMAGE, "br-truncated", PF_ETRUNCATED,
                   parser->group.offset, error, "the group has no end");
  return status < 0 ? status : PF_END;
}
