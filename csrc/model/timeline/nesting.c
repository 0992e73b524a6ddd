/*
** nesting.c - stacks of what is open, and a heap of the ends of spans. A span
** that is removed with something around it stays in the heap until its end; its
** number tells that its frame is another one then.
*/

#include "model/timeline/nesting.h"

#include <stdlib.h>

#include "model/base/memory.h"
#include "model/rows/heap.h"

#define NONE   UINT32_MAX
#define NEARBY 64 /* innermost frames among which a begin is looked for */

typedef struct frame {
  int64_t end;     /* of a span */
  uint64_t number; /* of the span, from 1; 0: it has begun by itself */
  uint32_t area;
} frame;

/* A stack. */
typedef struct pile {
  frame *frames;
  size_t count, capacity;
  unsigned order;
  uint32_t next; /* the one beside it, or NONE */
} pile;

typedef struct open_span {
  pf_span span;
  uint64_t number;
  size_t depth; /* of its frame */
} open_span;

struct pf_nesting {
  const pf_dictionary *dictionary;
  pile *stacks;
  size_t nstacks, stack_capacity;
  open_span *heap;
  size_t nheap, heap_capacity;
  uint64_t number; /* of the last span */
};


pf_nesting *pf_nesting_new (const pf_dictionary *dictionary) {
  pf_nesting *const self = calloc(1, sizeof *self);
  if (self != NULL)
    self->dictionary = dictionary;
  return self;
}


void pf_nesting_close (pf_nesting *self) {
  for (size_t i = 0; self != NULL && i < self->nstacks; i++)
    free(self->stacks[i].frames);
  if (self != NULL) {
    free(self->stacks);
    free(self->heap);
  }
  free(self);
}


/* {====== Ends of spans ====== */

static bool ends_before (const void *context, const void *left,
                         const void *right) {
  const open_span *const a = left, *const b = right;
  (void)context;
  return a->span.end != b->span.end ? a->span.end < b->span.end
                                    : a->number > b->number;
}


static bool push_open (pf_nesting *self, open_span span) {
  if (!pf_grow(&self->heap, &self->heap_capacity, self->nheap + 1))
    return false;
  pf_heap_push(self->heap, self->nheap++, sizeof span, ends_before, NULL,
               &span);
  return true;
}


static open_span pop_open (pf_nesting *self) {
  const open_span first = self->heap[0], last = self->heap[--self->nheap];
  if (self->nheap > 0)
    pf_heap_sink(self->heap, self->nheap, sizeof last, ends_before, NULL, 0,
                 &last);
  return first;
}


bool pf_nesting_due (pf_nesting *self, int64_t time, pf_span *span) {
  while (self->nheap > 0 && self->heap[0].span.end <= time) {
    const open_span open = pop_open(self);
    pile *const s = &self->stacks[open.span.stack];
    if (s->count <= open.depth || s->frames[open.depth].number != open.number)
      continue;
    s->count = open.depth;
    *span = open.span;
    return true;
  }
  return false;
}


bool pf_nesting_ends_first (const pf_nesting *self, uint32_t stack,
                            int64_t time) {
  const pile *const s = &self->stacks[stack];
  size_t at = s->count;
  if (at == 0 || s->frames[at - 1].number != 0)
    return false;
  while (at > 0 && s->count - at < NEARBY && s->frames[at - 1].number == 0)
    at--;
  return at > 0 && s->frames[at - 1].end == time;
}


/* }====== */

/* {====== Stacks ====== */

bool pf_nesting_stack (pf_nesting *self, uint32_t *stack) {
  if (self->nstacks >= NONE ||
      !pf_grow(&self->stacks, &self->stack_capacity, self->nstacks + 1))
    return false;
  *stack = (uint32_t)self->nstacks;
  self->stacks[self->nstacks++] = (pile){.order = 1, .next = NONE};
  return true;
}


unsigned pf_nesting_order (const pf_nesting *self, uint32_t stack) {
  return self->stacks[stack].order;
}


bool pf_nesting_is_empty (const pf_nesting *self, uint32_t stack) {
  return self->stacks[stack].count == 0;
}


static bool push (pf_nesting *self, uint32_t stack, frame f) {
  pile *const s = &self->stacks[stack];
  if (!pf_grow(&s->frames, &s->capacity, s->count + 1))
    return false;
  s->frames[s->count++] = f;
  return true;
}


/* Sets *stack to the one beside it, which is added if it is new. */
static bool go_beside (pf_nesting *self, uint32_t *stack) {
  uint32_t next = self->stacks[*stack].next;
  if (next == NONE) {
    if (!pf_nesting_stack(self, &next))
      return false;
    self->stacks[next].order = self->stacks[*stack].order + 1;
    self->stacks[*stack].next = next;
  }
  *stack = next;
  return true;
}


/* Whether `later` is at most `inexact` ns after `time`, which is earlier. */
static bool is_near (int64_t time, int64_t later, int64_t inexact) {
  return (uint64_t)later - (uint64_t)time <= (uint64_t)inexact;
}


bool pf_nesting_cut (pf_nesting *self, const pf_span *span, int64_t time,
                     int64_t inexact, pf_span *ended) {
  pile *const s = &self->stacks[span->stack];
  if (s->count == 0)
    return false;
  const frame *const top = &s->frames[s->count - 1];
  if (top->number == 0 || top->end >= span->end ||
      !is_near(time, top->end, inexact) ||
      is_near(top->end, span->end, top->end - time))
    return false;
  *ended = (pf_span){time, span->stack, top->area};
  s->count--; /* its number in the heap is that of no frame */
  return true;
}


pf_placement pf_nesting_span (pf_nesting *self, pf_span *span,
                              int64_t inexact) {
  pf_placement placement = PF_PLACED;
  for (;;) {
    const pile *const s = &self->stacks[span->stack];
    if (s->count == 0)
      break;
    const frame *const top = &s->frames[s->count - 1];
    if (top->number == 0 || top->end >= span->end)
      break;
    if (is_near(top->end, span->end, inexact)) {
      span->end = top->end;
      placement = placement == PF_PLACED ? PF_CUT : placement;
      break;
    }
    if (!go_beside(self, &span->stack))
      return PF_NOT_PLACED;
    placement = PF_BESIDE;
  }
  const open_span open = {*span, ++self->number,
                          self->stacks[span->stack].count};
  const frame f = {span->end, open.number, span->area};
  return push(self, span->stack, f) && push_open(self, open) ? placement
                                                             : PF_NOT_PLACED;
}


bool pf_nesting_begin (pf_nesting *self, uint32_t stack, uint32_t area) {
  return push(self, stack, (frame){0, 0, area});
}


bool pf_nesting_end (pf_nesting *self, uint32_t stack, uint32_t *area) {
  pile *const s = &self->stacks[stack];
  for (size_t at = s->count; at-- > 0 && s->count - at <= NEARBY;) {
    const frame *const f = &s->frames[at];
    const bool is_it =
        f->number == 0 &&
        (*area == PF_NO_AREA || pf_area_name(self->dictionary, *area) ==
                                    pf_area_name(self->dictionary, f->area));
    if (!is_it)
      continue;
    *area = f->area;
    s->count = at;
    return true;
  }
  return false;
}


/* }====== */
