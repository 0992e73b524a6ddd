/* The data of the page, and how numbers and names are shown. All scripts share the object
   `page`. */
/* global texts */
(function () {
  'use strict';
  const data = JSON.parse(document.getElementById('data').textContent);
  const functions = data.functions;
  const page = Object.assign(window.page, { data, parts: [], about: [] });

  page.$ = function (id) { return document.getElementById(id); };

  /* Returns a new element with these properties and children (elements or texts). */
  page.make = function (tag, properties, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(properties || {})) {
      if (name in element) {
        element[name] = value;
      } else {
        element.setAttribute(name, value);
      }
    }
    element.append(...children);
    return element;
  };

  // {====== Numbers ======

  page.time = texts.time;
  page.mark = texts.mark;
  page.bytes = texts.bytes;
  page.count = texts.count;
  page.percent = texts.percent;
  page.counted = texts.counted;

  /* Returns a time of the trace with so many digits that times `step` ns apart differ. */
  page.clock = function (ns, step) {
    const digits = Math.min(9, Math.max(0, Math.ceil(9 - Math.log10(Math.max(step, 1)))));
    return (ns / 1e9).toFixed(digits) + ' s';
  };

  /* Returns a number that is known only from least to most, as `show` shows both. */
  page.range = function ([least, most], show) {
    const low = show(least), high = show(most);
    return low === high ? high : least > 0 ? `${low} to ${high}` : `at most ${high}`;
  };

  /* Returns a number of things that is known only from least to most: "3 to 5 calls". */
  page.counted_range = function (range, word) {
    return page.range(range, page.count) + (range[1] === 1 ? ` ${word}` : ` ${word}s`);
  };

  /* Whether the name of a metric is a plural, as "samples" and "cache-misses" are. */
  page.is_plural = name => /[a-z]{3}s$/i.test(name) && !/(ss|us)$/i.test(name);

  /* Returns how much a weight has changed, relative to the one before. */
  page.relative = function (before, after) {
    if (before === 0) { return after === 0 ? '' : 'new'; }
    return (after > before ? '+' : '') + page.percent(after - before, Math.abs(before));
  };

  /* Returns a weight of a metric with its unit. */
  page.weight = function (value, metric) {
    return texts.weight(value, data.metrics[metric].unit);
  };

  // }======

  // {====== Functions ======

  const ARGUMENT = 20; // letters of a template argument that is shown

  /* Returns a name of whose template arguments only the first one is shown, if it is short. */
  function without_arguments(name) {
    let text = '', depth = 0, begin = 0;
    const hidden = name.replace(/operator(<<|<=>|<=|<|>>|>=|>|->)/g,
      word => 'operator' + '\u0001'.repeat(word.length - 8));
    for (let i = 0; i < hidden.length; i++) {
      const letter = hidden[i];
      if (letter === '<') {
        depth++;
        if (depth === 1) { begin = i + 1; }
      }
      if (letter === '>' && depth > 0) {
        depth--;
        if (depth === 0) { text += '<' + first_argument(hidden.slice(begin, i)); }
      }
      if (depth === 0) { text += letter; }
    }
    return depth === 0 && !text.includes('\u0001') ? text : name;
  }

  function first_argument(list) {
    const first = (/^[^<,]*/.exec(list)[0]).trim(), rest = list.slice(first.length).trim();
    return first.length > ARGUMENT || first === '' ? '\u2026' : first + (rest ? '\u2026' : '');
  }

  const shorts = new Map();

  page.name = function (id) { return functions.name[id]; };

  /* Returns the name without template arguments. */
  page.short = function (id) {
    if (!shorts.has(id)) {
      const name = functions.name[id];
      shorts.set(id, /[a-zA-Z_]\w*<.*>/.test(name) && name.length > 24 && name.length < 5000
        ? without_arguments(name) : name);
    }
    return shorts.get(id);
  };

  const briefs = new Map();

  /* Returns the short name of a C++ function without its result and parameters. */
  function without_parameters(name) {
    const end = /\)( const)?( &+)?$/.exec(name);
    let at = end ? end.index : 0;
    for (let depth = 1; at > 0 && depth > 0;) {
      at--;
      depth += name[at] === ')' ? 1 : name[at] === '(' ? -1 : 0;
    }
    if (at <= 0 || !/[\w>\]~]/.test(name[at - 1])) { return name; }
    const left = name.slice(0, at);
    return /operator/.test(left) ? left : left.slice(begin_of_name(left));
  }

  /* Returns where the last word begins that is not in brackets. */
  function begin_of_name(text) {
    let depth = 0, at = text.length;
    while (at > 0 && (depth > 0 || text[at - 1] !== ' ')) {
      at--;
      depth += text[at] === '>' ? 1 : text[at] === '<' ? -1 : 0;
    }
    return at;
  }

  /* Returns the short name, without result and parameters if it is wider than so many pixels. */
  page.brief = function (id, wide) {
    const short = page.short(id);
    if (short.length * 7.25 <= wide - 6 || short.length > 5000) { return short; }
    if (!briefs.has(id)) { briefs.set(id, without_parameters(short)); }
    return briefs.get(id);
  };

  page.file = function (id) { return data.files[functions.file[id]] || ''; };

  page.place = function (id) {
    const line = functions.line[id];
    return page.file(id) + (line === null ? '' : ':' + line);
  };

  page.cut = texts.cut;

  const modules = new Map();

  /* Returns the module of a function: its file, else the outermost part of its qualified name. */
  page.module = function (id) {
    if (!modules.has(id)) {
      const file = page.file(id), name = page.short(id).replace(/\(.*$/, '');
      const found = file ? file.replace(/^.*[/\\]/, '') :
        (/^(?:.*\/)?([\w~-]+?)(?:::|\.|:|_(?=\w)|\$|!|\s)/.exec(name) || [])[1];
      modules.set(id, (found || '(other)').slice(0, 60));
    }
    return modules.get(id);
  };

  // }======

  /* Says a text to screen readers. */
  page.speak = function (text) { page.$('spoken').textContent = text; };

  /* Shows a tip beside a point of the window: rows of texts, the first in bold; nil hides it. */
  page.tip = function (rows, x, y) {
    const tip = page.$('tip');
    tip.hidden = !rows;
    if (!rows) { return; }
    tip.replaceChildren(...rows.map((row, i) => page.make(i ? 'div' : 'b', {}, row)));
    const left = Math.min(x + 14, window.innerWidth - tip.offsetWidth - 8);
    const below = y + 18 + tip.offsetHeight < window.innerHeight;
    tip.style.left = Math.max(4, left) + 'px';
    tip.style.top = (below ? y + 18 : Math.max(4, y - tip.offsetHeight - 12)) + 'px';
  };
}());
