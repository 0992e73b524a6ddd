/* Numbers and names as people read them. Numbers follow lua/profio/internal/numbers.lua, and
   spec/exports/numbers_spec.lua compares both. Exports html and svg contain this file. */
/* exported texts */
const texts = (function () {
  'use strict';
  // Units from small to large: size, text, least value that is shown in it.
  const durations = [[1, ' ns'], [1e3, ' µs', 1e3], [1e6, ' ms', 1e6], [1e9, ' s', 1e9],
    [60e9, ' min', 1200e9], [3600e9, ' h', 7200e9], [86400e9, ' d', 172800e9]];
  const sizes = [' B', ' KiB', ' MiB', ' GiB', ' TiB', ' PiB', ' EiB'].map((name, i) =>
    [1024 ** i, name, 1024 ** i]);
  const LARGE = 1e15, large = [[1e15, 'e15'], [1e18, 'e18', 1e18]];

  function rounded(size, parts, unit) { return Math.floor(size * parts / unit + 0.5); }

  function sign_of(value, number) { return value < 0 && number > 0 ? '-' : ''; }

  /* Returns the text of a number of 1/parts, without zeros at the end. */
  function decimals(number, parts) {
    const whole = Math.floor(number / parts), digits = String(parts).length - 1;
    const rest = String(number % parts).padStart(digits, '0').replace(/0+$/, '');
    return whole + (rest ? '.' + rest : '');
  }

  /* Returns a value with at most three decimals of the unit that suits it once it is rounded. */
  function scaled(value, units) {
    const size = Math.abs(value);
    let i = 0;
    while (units[i + 1] && rounded(size, 1000, units[i][0]) * units[i][0] >=
      units[i + 1][2] * 1000) { i++; }
    const number = rounded(size, 1000, units[i][0]);
    return sign_of(value, number) + decimals(number, 1000) + units[i][1];
  }

  /* Returns a duration in ns in the unit that suits it: "10.5 µs", "2.307 h". */
  function time(ns) { return scaled(ns, durations); }

  /* Returns a time of an axis in the unit of the span that the axis shows, with so many decimals
     that times `step` apart differ. */
  function mark(ns, span, step) {
    const [unit, name] = durations.findLast(([, , least]) => !(span < least));
    const parts = 10 ** Math.max(0, Math.ceil(Math.log10(unit / step) - 1e-9));
    const number = rounded(Math.abs(ns), parts, unit);
    return sign_of(ns, number) + decimals(number, parts) + name;
  }

  function bytes(value) { return scaled(value, sizes); }

  /* Returns a whole number, others rounded: "12,345"; from 1e15 on "1.234e15". */
  function count(value) {
    const number = rounded(Math.abs(value), 1, 1);
    return number >= LARGE ? scaled(value, large) :
      sign_of(value, number) + String(number).replace(/\B(?=(\d{3})+$)/g, ',');
  }

  /* Returns a share with at most two decimals, "41.2 %"; '' if the whole is 0. */
  function percent(part, whole) {
    if (!whole) { return ''; }
    const share = part / whole, number = rounded(Math.abs(share), 10000, 1);
    return (number >= LARGE ? count(100 * share) : sign_of(share, number) + decimals(number, 100)) +
      ' %';
  }

  /* Returns a weight in the unit of its metric. */
  function weight(value, unit) {
    return unit === 'ns' ? time(value) : unit === 'bytes' ? bytes(value) :
      count(value) + (unit && unit !== 'count' ? ' ' + unit : '');
  }

  /* Returns a number of things: "1 arc", "2 arcs". */
  function counted(value, word) { return `${count(value)} ${word}${value === 1 ? '' : 's'}`; }

  /* Returns a text of at most so many letters: the middle is left out, since the ends of names
     distinguish them. */
  function cut(text, letters) {
    if (text.length <= letters) { return text; }
    const end = Math.ceil((letters - 1) * 0.6);
    return letters < 4 ? text.slice(0, Math.max(0, letters)) :
      text.slice(0, letters - 1 - end) + '\u2026' + text.slice(-end);
  }

  return { time, mark, bytes, count, percent, weight, counted, cut };
}());
