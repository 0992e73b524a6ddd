/*
** flags.c - texts of words separated by blanks.
*/

#include <string.h>

#include "formats/xpp/operations/flags.h"

#define FLAGS   6
#define LONGEST 128 /* bytes of merged words */

static const char *const words[FLAGS] = {"gap",    "lost", "open",
                                         "orphan", "run",  "unwound"};


/* Append a word to a text of words. Returns its new size. */
static size_t add_word (char *text, size_t used, const void *word,
                        size_t size) {
  if (used > 0)
    text[used++] = ' ';
  memcpy(text + used, word, size);
  return used + size;
}


bool xpp_flag_names (pf_dictionary *dictionary, uint32_t names[XPP_FLAG_SETS]) {
  for (unsigned set = 0; set < XPP_FLAG_SETS; set++) {
    char text[40];
    size_t used = 0;
    for (unsigned i = 0; i < FLAGS; i++)
      if (set & 1u << i)
        used = add_word(text, used, words[i], strlen(words[i]));
    names[set] = pf_intern(dictionary, (pf_bytes){(const uint8_t *)text, used});
    if (names[set] == PF_NO_NAME)
      return false;
  }
  return true;
}


/* Returns the next word of a text from *at on and advances *at; empty at the
   end. */
static pf_bytes next_word (pf_bytes text, size_t *at) {
  while (*at < text.size && text.at[*at] == ' ')
    ++*at;
  const size_t from = *at;
  while (*at < text.size && text.at[*at] != ' ')
    ++*at;
  return (pf_bytes){text.at + from, *at - from};
}


unsigned xpp_flags_in (pf_bytes text) {
  unsigned set = 0;
  size_t at = 0;
  for (pf_bytes w = next_word(text, &at); w.size > 0; w = next_word(text, &at))
    for (unsigned i = 0; i < FLAGS; i++)
      if (pf_text_compare(w, pf_bytes_of(words[i])) == 0)
        set |= 1u << i;
  return set;
}


/* Whether a word sorts before another one; an empty one sorts last. */
static bool is_before (pf_bytes word, pf_bytes other) {
  if (word.size == 0 || other.size == 0)
    return word.size > 0;
  return pf_text_compare(word, other) < 0;
}


uint32_t xpp_flags_merge (pf_dictionary *dictionary, uint32_t left,
                          uint32_t right) {
  const pf_bytes texts[] = {pf_name(dictionary, left),
                            pf_name(dictionary, right)};
  char text[LONGEST];
  size_t used = 0, l = 0, r = 0;
  pf_bytes a = next_word(texts[0], &l), b = next_word(texts[1], &r);
  while (a.size + b.size > 0 && used + a.size + b.size < LONGEST) {
    const bool a_waits = is_before(b, a), b_waits = is_before(a, b);
    const pf_bytes word = a_waits ? b : a;
    used = add_word(text, used, word.at, word.size);
    if (!a_waits)
      a = next_word(texts[0], &l);
    if (!b_waits)
      b = next_word(texts[1], &r);
  }
  return pf_intern(dictionary, (pf_bytes){(const uint8_t *)text, used});
}
