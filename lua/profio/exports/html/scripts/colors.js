/* The colours of functions, modules, lanes, states and changes. */
(function (page) {
  'use strict';
  const data = page.data;

  function hash(text) {
    let value = 2166136261;
    for (let i = 0; i < text.length; i++) {
      value = Math.imul(value ^ text.charCodeAt(i), 16777619) >>> 0;
    }
    return (value ^ value >>> 15) >>> 0;
  }

  const colors = new Map();

  function color(name, shade) { return `hsl(${hash(name) % 72 * 5} 58% ${shade}%)`; }

  page.module_color = name => name === '(other)' ? 'hsl(40 12% 74%)' : color(name, 74);

  /* Returns the colour of a lane or of a state. */
  page.name_color = name => `hsl(${hash(name + name) * 137.5 % 360} 55% 74%)`;

  /* Whether all functions are of one module, so that hues distinguish the functions. */
  page.has_one_module = data.table.function.every(id =>
    page.module(id) === page.module(data.table.function[0]));

  /* Returns the colour of a function: the hue is that of its module on every page. */
  page.color = function (id) {
    if (!colors.has(id)) {
      const module = page.module(id), shade = 68 + hash(page.name(id)) % 13;
      colors.set(id, page.has_one_module ? color(page.name(id), shade) : module === '(other)' ?
        `hsl(40 12% ${shade}%)` : color(module, shade));
    }
    return colors.get(id);
  };

  const dark = window.matchMedia('(prefers-color-scheme: dark)');

  /* Returns red for growth and blue for what shrank, stronger for larger parts of `most`; grey for
     no change, which is darker on a dark page. */
  page.change_color = function (change, most) {
    const part = Math.min(1, most ? Math.abs(change) / most : 0), grey = dark.matches ? 165 : 245;
    const strong = grey + (245 - grey) * part, pale = grey - (grey - 95) * part;
    return change >= 0 ? `rgb(${strong} ${pale} ${pale})` : `rgb(${pale} ${pale} ${strong})`;
  };
}(window.page));
