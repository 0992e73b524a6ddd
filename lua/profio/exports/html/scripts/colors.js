/* The colours of functions, modules, lanes, states and changes, and of the texts on them. The
   largest weights get the first colours of a list, everything else a pale one by a hash of its
   name. */
(function (page) {
  'use strict';
  const data = page.data, table = data.table;

  /* The first 8 differ by at least 20 (CIEDE2000) from each other, also for people without one kind
     of cones; spec/exports/colors_spec.lua checks that. The others are less far apart. */
  const RANKED = ['#a68efd', '#d2932c', '#4da798', '#1059bd', '#bfefbd', '#78505e', '#fad8fa',
    '#596500', '#be5a56', '#91b57e', '#7e7296', '#baa7cf'];
  const NO_MODULE = '#b9b4a8', NOTHING = '(other)';
  // Parts of white or black in colours of one module.
  const SHADES = [0, 0.04, -0.02, 0.065, -0.035];
  const READABLE = 4.5; // contrast of texts

  // {====== Numbers of colours ======

  const forced = window.matchMedia('(forced-colors: active)');
  const styles = new Map(), known = new Map();
  const probe = page.make('span', { className: 'probe', hidden: true });
  document.body.append(probe);

  /* Returns the value of a variable of the style sheet. */
  page.style = function (name) {
    if (!styles.has(name)) {
      styles.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
    }
    return styles.get(name);
  };

  /* Returns red, green and blue of a colour of CSS, 0 to 255. */
  function numbers_of(color) {
    if (!known.has(color)) {
      probe.style.color = color;
      known.set(color, getComputedStyle(probe).color.match(/[\d.]+/g).slice(0, 3).map(Number));
    }
    return known.get(color);
  }

  function mix(color, other, part) {
    const from = numbers_of(color), to = numbers_of(other);
    return `rgb(${from.map((value, i) => Math.round(value + (to[i] - value) * part)).join(' ')})`;
  }

  function luminance(color) {
    const [red, green, blue] = numbers_of(color).map(value =>
      value <= 10 ? value / 3294.6 : ((value / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  }

  /* Returns the contrast of two colours as WCAG defines it, 1 to 21. */
  function contrast(one, other) {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  }

  const inks = new Map(), fills = new Map();

  /* Returns the colour of a text on a fill: black or white, or with forced colours that of texts or
     of the page, what has the higher contrast. */
  page.ink = function (fill) {
    if (!inks.has(fill)) {
      const [one, other] = forced.matches ? [page.style('--text'), page.style('--page')] :
        ['#000', '#fff'];
      inks.set(fill, contrast(fill, one) >= contrast(fill, other) ? one : other);
    }
    return inks.get(fill);
  };

  /* Returns a colour mixed with that of the page, of which it has this part: 1, the colour itself.
     Where forced colours leave no ink with contrast, the part is smaller. */
  page.fill = function (color, part) {
    const key = part + color;
    if (!fills.has(key)) {
      let rest = part, fill = rest < 1 ? mix(page.style('--page'), color, rest) : color;
      while (rest > 0 && contrast(fill, page.ink(fill)) < READABLE) {
        rest -= 0.05;
        fill = mix(page.style('--page'), color, Math.max(0, rest));
      }
      fills.set(key, fill);
    }
    return fills.get(key);
  };

  /* Draws all canvases again, after a change of the colours of the page. */
  page.redraw = function () {
    for (const map of [styles, known, inks, fills]) { map.clear(); }
    for (const canvas of document.querySelectorAll('canvas')) {
      canvas.dispatchEvent(new window.Event('redraw'));
    }
  };
  forced.addEventListener('change', page.redraw);

  // }======

  // {====== Ranks ======

  function hash(text) {
    let value = 2166136261;
    for (let i = 0; i < text.length; i++) {
      value = Math.imul(value ^ text.charCodeAt(i), 16777619) >>> 0;
    }
    return (value ^ value >>> 15) >>> 0;
  }

  /* Returns the rank of each key, 0 for the one with the largest weight. */
  page.ranks = function (weights) {
    const list = [...weights].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
    return new Map(list.map(([key], rank) => [key, rank]));
  };

  /* Returns the colour of a rank; after the last one a pale one by the name. */
  page.ranked_color = function (rank, name) {
    if (rank < RANKED.length) { return RANKED[rank]; }
    const angle = hash(name) % 360 * Math.PI / 180;
    return `rgb(${[0, 2, 4].map(third =>
      Math.round(204 + 22 * Math.cos(angle - third * Math.PI / 3))).join(' ')})`;
  };

  /* Returns the weight of a row of the table in the usual metric; in both runs of a difference. */
  function weight_of(kind, row) {
    return (data.difference ? [0, 1] : [data.usual]).reduce((sum, metric) =>
      sum + Math.abs(table[kind][metric][row]), 0);
  }

  /* Returns the sum of self of each module, and the largest total of its functions, by which
     modules are ranked. */
  function weights_of_modules() {
    const sums = new Map(), totals = new Map();
    table.function.forEach((id, row) => {
      const module = page.module(id);
      sums.set(module, (sums.get(module) || 0) + weight_of('self', row));
      totals.set(module, Math.max(totals.get(module) || 0, weight_of('total', row)));
    });
    return [sums, totals];
  }

  const [of_modules, totals_of_modules] = weights_of_modules();
  const all = [...of_modules.values()].reduce((sum, value) => sum + value, 0);

  /* Whether colours distinguish functions: one module has most of the weight. */
  page.by_function = of_modules.size < 2 || [...of_modules.values()].some(sum => 2 * sum > all);
  const ranks = page.by_function ? page.ranks(new Map(table.function.map((id, row) =>
    [id, weight_of('total', row)]))) : without(NOTHING, totals_of_modules);

  /* Returns the ranks of all modules but one. */
  function without(name, weights) {
    return page.ranks([...weights].filter(([module]) => module !== name));
  }

  // }======

  // {====== Functions and modules ======

  const shades = new Map(), colors = new Map();

  /* Functions of one module get shades in the order of the table. */
  function set_shades() {
    const counts = new Map();
    for (const id of table.function) {
      const module = page.module(id), count = counts.get(module) || 0;
      shades.set(id, SHADES[count % SHADES.length]);
      counts.set(module, count + 1);
    }
  }
  set_shades();

  function module_color(module) {
    return module === NOTHING ? NO_MODULE :
      page.ranked_color(ranks.has(module) ? ranks.get(module) : Infinity, module);
  }

  function shaded(id) {
    const shade = shades.has(id) ? shades.get(id) : SHADES[hash(page.name(id)) % SHADES.length];
    return mix(module_color(page.module(id)), shade > 0 ? '#fff' : '#000', Math.abs(shade));
  }

  /* Returns the colour of a function. */
  page.color = function (id) {
    if (!colors.has(id)) {
      colors.set(id, !page.by_function ? shaded(id) :
        page.ranked_color(ranks.has(id) ? ranks.get(id) : Infinity, page.name(id)));
    }
    return colors.get(id);
  };

  /* Returns what the colours of these functions mean: name, colour and rank of each module, or of
     each function, the first rank first. */
  page.meanings = function (ids) {
    const found = new Map();
    for (const id of ids) {
      const key = page.by_function ? id : page.module(id);
      found.set(key, { name: page.by_function ? page.short(id) : key,
        color: page.by_function ? page.color(id) : module_color(key),
        rank: ranks.has(key) ? ranks.get(key) : Infinity });
    }
    return [...found.values()].sort((a, b) => a.rank - b.rank || (a.name < b.name ? -1 : 1));
  };

  // }======

  /* Returns red for growth and blue for what shrank, stronger for larger parts of `most`; grey for
     no change, which is darker on a dark page. */
  page.change_color = function (change, most) {
    const part = Math.min(1, most ? Math.abs(change) / most : 0), grey = page.is_dark() ? 165 : 245;
    const strong = grey + (245 - grey) * part, pale = grey - (grey - 95) * part;
    const [high, low] = [Math.round(strong), Math.round(pale)];
    return change >= 0 ? `rgb(${high} ${low} ${low})` : `rgb(${low} ${low} ${high})`;
  };
}(window.page));
