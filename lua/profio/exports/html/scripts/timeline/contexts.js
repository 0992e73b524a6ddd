/* Contexts of calls that are found one by one, those of both runs of a comparison together: context
   i is i + 1 in `parent` and `depth`, where 0 is the root. */
(function (page) {
  'use strict';
  const count = page.data.functions.name.length;

  class Contexts {
    constructor() {
      Object.assign(this, { function: [], parent: [0], depth: [0] });
      /* Children of a context are in a list whose front was used last. */
      Object.assign(this, { first: [0], next: [0], by_key: new Map() });
    }

    add(parent, fn) {
      const { first, next } = this, node = this.function.push(fn);
      this.parent.push(parent);
      this.depth.push(this.depth[parent] + 1);
      next.push(first[parent]);
      first.push(0);
      first[parent] = node;
      this.by_key.set(parent * count + fn, node);
      return node;
    }

    /* Returns the context of a function that another one calls; it is added if it is new. */
    child(parent, fn) {
      const front = this.first[parent];
      if (front && this.function[front - 1] === fn) { return front; }
      const second = front && this.next[front];
      if (second && this.function[second - 1] === fn) { return second; }
      return this.by_key.get(parent * count + fn) || this.add(parent, fn);
    }
  }

  page.Contexts = Contexts;
}(window.page));
