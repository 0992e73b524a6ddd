/* Patterns of Lua (section 6.4.1 of its manual), as csrc/kernels/base/pattern.c compiles and
   matches them: bytes of UTF-8, classes of ASCII. A pattern has no alternatives and no repeated
   groups, so each repeated item has at most one choice that is still open. The steps of all
   searches for a pattern are limited, since some take exponential time. */
(function (page) {
  'use strict';
  const MOST_STEPS = 2e7, MOST_CAPTURES = 32, MOST_REPETITIONS = 200;
  const encoder = new window.TextEncoder();
  const classes = { a: /[A-Za-z]/, c: /[\0-\x1f\x7f]/, d: /[0-9]/, g: /[!-~]/, l: /[a-z]/,
    p: /[!-/:-@[-`{-~]/, s: /[\t-\r ]/, u: /[A-Z]/, w: /[A-Za-z0-9]/, x: /[A-Fa-f0-9]/, z: /\0/ };
  const code = letter => letter.charCodeAt(0);

  // {====== Compiler ======

  /* Adds the bytes of the class %letter to a set; of other bytes, the byte itself. */
  function add_class(set, letter) {
    const sign = String.fromCharCode(letter), test = classes[sign.toLowerCase()];
    const is_inverse = test !== undefined && sign !== sign.toLowerCase();
    for (let byte = 0; byte < 256; byte++) {
      const is_in = test ? byte < 128 && test.test(String.fromCharCode(byte)) : byte === letter;
      if (is_in !== is_inverse) { set[byte] = 1; }
    }
  }

  class Compiler {
    constructor(text) {
      Object.assign(this, { bytes: encoder.encode(text), at: 0, items: [], open: [], closed: [],
        repetitions: 0 });
      this.is_anchored = this.take('^');
      while (this.at < this.bytes.length) { this.items.push(this.item()); }
      if (this.open.length > 0) { throw new Error('a ) is missing'); }
    }

    take(sign) {
      const is_next = this.bytes[this.at] === code(sign);
      this.at += is_next ? 1 : 0;
      return is_next;
    }

    item() {
      const set = new Uint8Array(256), byte = this.bytes[this.at++];
      const sign = String.fromCharCode(byte);
      if (sign === '$' && this.at === this.bytes.length) { return { kind: 'end' }; }
      if (sign === '(') { return this.capture(); }
      if (sign === ')') {
        if (this.open.length === 0) { throw new Error('a ( is missing'); }
        const a = this.open.pop();
        this.closed[a] = true;
        return { kind: 'close', a };
      }
      if (sign === '.') { set.fill(1); } else if (sign === '[') { this.set(set); } else
      if (sign !== '%') { set[byte] = 1; } else {
        const item = this.escape(set);
        if (item) { return item; }
      }
      return this.repeated(set);
    }

    capture() {
      const a = this.closed.push(false) - 1;
      if (a === MOST_CAPTURES) { throw new Error('it has more than 32 captures'); }
      if (this.take(')')) {
        this.closed[a] = true;
        return { kind: 'position', a };
      }
      this.open.push(a);
      return { kind: 'open', a };
    }

    /* Reads a set after its [: the first byte belongs to it, also if it is ]. */
    set(set) {
      const is_inverse = this.take('^'), { bytes } = this, begin = this.at;
      let end = begin;
      do {
        if (end >= bytes.length) { throw new Error('a ] is missing'); }
        end += bytes[end] === code('%') ? 2 : 1;
      } while (bytes[end] !== code(']'));
      for (let i = begin; i < end; i++) {
        if (bytes[i] === code('%')) {
          add_class(set, bytes[++i]);
        } else if (end - i > 2 && bytes[i + 1] === code('-')) {
          for (let byte = bytes[i]; byte <= bytes[i + 2]; byte++) { set[byte] = 1; }
          i += 2;
        } else {
          set[bytes[i]] = 1;
        }
      }
      this.at = end + 1;
      if (is_inverse) { set.forEach((is_in, byte) => { set[byte] = 1 - is_in; }); }
    }

    /* Reads an item after its %; returns nothing for a class, which it adds to a set. */
    escape(set) {
      const letter = this.bytes[this.at++], sign = String.fromCharCode(letter);
      if (letter === undefined) { throw new Error('it ends with %'); }
      if (/[0-9]/.test(sign)) {
        if (!this.closed[+sign - 1]) { throw new Error(`there is no capture %${sign} before it`); }
        return { kind: 'same', a: +sign - 1 };
      }
      if (sign === 'f') {
        if (!this.take('[')) { throw new Error('[ is missing after %f'); }
        this.set(set);
        return { kind: 'frontier', set };
      }
      if (sign === 'b') {
        const [a, b] = this.bytes.slice(this.at, this.at += 2);
        if (b === undefined) { throw new Error('two characters are missing after %b'); }
        return { kind: 'balanced', a, b };
      }
      add_class(set, letter);
      return null;
    }

    repeated(set) {
      const sign = String.fromCharCode(this.bytes[this.at]);
      if (!'*+-?'.includes(sign)) { return { kind: 'one', set }; }
      this.at++;
      if (++this.repetitions > MOST_REPETITIONS) {
        throw new Error('it has more than 200 of * + - ?');
      }
      return { kind: sign === '-' ? 'fewest' : 'most', set, least: sign === '+' ? 1 : 0,
        most: sign === '?' ? 1 : Infinity };
    }
  }

  // }======

  // {====== Matcher ======

  /* Each returns the place after an item at a place; -1: it does not match. `m` has text, from and
     size of captures, choices and the steps that are left. */
  const pass = {
    one: (m, { set }, place) => set[m.text[place]] ? place + 1 : -1,
    most(m, item, place) {
      let end = place;
      while (end - place < item.most && item.set[m.text[end]]) { end++; }
      m.steps -= end - place;
      if (end - place < item.least) { return -1; }
      m.choices.push({ item, place: end, least: place + item.least });
      return end;
    },
    fewest(m, item, place) {
      m.choices.push({ item, place });
      return place;
    },
    open: (m, { a }, place) => (m.from[a] = place),
    close(m, { a }, place) {
      m.size[a] = place - m.from[a];
      return place;
    },
    position(m, { a }, place) {
      m.size[a] = Infinity; // it equals no text
      return place;
    },
    same(m, { a }, place) {
      const from = m.from[a], size = m.size[a];
      if (size > m.text.length - place) { return -1; }
      m.steps -= size;
      for (let i = 0; i < size; i++) {
        if (m.text[from + i] !== m.text[place + i]) { return -1; }
      }
      return place + size;
    },
    balanced(m, { a, b }, place) {
      let depth = 1;
      if (m.text[place] !== a) { return -1; }
      for (let i = place + 1; i < m.text.length; i++, m.steps--) {
        if (m.text[i] === b) { depth--; } else if (m.text[i] === a) { depth++; }
        if (depth === 0) { return i + 1; }
      }
      return -1;
    },
    frontier: (m, { set }, place) =>
      !set[m.text[place - 1] || 0] && set[m.text[place] || 0] ? place : -1,
    end: (m, _, place) => place === m.text.length ? place : -1
  };

  /* Takes the next possibility of the last choice that has one: returns its item and sets
     m.place. */
  function retry(m, items) {
    for (; m.choices.length > 0; m.choices.pop()) {
      const last = m.choices[m.choices.length - 1];
      const can_go = last.item.kind === 'most' ? last.place > last.least :
        last.item.set[m.text[last.place]];
      if (can_go) {
        m.place = last.place += last.item.kind === 'most' ? -1 : 1;
        return items.indexOf(last.item);
      }
    }
    return -1;
  }

  function matches(m, items, begin) {
    m.choices.length = 0;
    m.place = begin;
    for (let i = 0; i < items.length; i++) {
      m.place = pass[items[i].kind](m, items[i], m.place);
      if (m.place < 0) {
        i = retry(m, items);
        if (i < 0) { return false; }
      }
      if (--m.steps < 0) { throw new Error('this pattern takes too long'); }
    }
    return true;
  }

  // }======

  /* Returns a function that returns whether a pattern is found in a text, as string.find does. Both
     throw an error: the pattern is wrong, or takes too long. */
  page.pattern = function (text) {
    const { items, is_anchored } = new Compiler(text);
    const m = { text: null, from: [], size: [], choices: [], steps: MOST_STEPS, place: 0 };
    return searched => {
      m.text = encoder.encode(searched);
      for (let begin = 0; begin <= (is_anchored ? 0 : m.text.length); begin++) {
        if (matches(m, items, begin)) { return true; }
        m.steps--;
      }
      return false;
    };
  };
}(window.page));
