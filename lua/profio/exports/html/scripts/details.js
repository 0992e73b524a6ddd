/* The selected function: its numbers, callers above and callees below as trees with shares, and its
   source. The same lines of source are shown as hot lines of the whole report. */
(function (page) {
  'use strict';
  const data = page.data, $ = page.$, make = page.make, state = page.state;
  const AROUND = 3; // lines of source around hot lines
  let shown = -1;

  // {====== Callers and callees ======

  const FEW = 12; // frames of one parent that are shown at first

  function view_of(up) {
    const view = { metric: page.metric(), up };
    if (data.difference) { view.before = 1; view.both = true; }
    return view;
  }

  function numbers(frame, whole) {
    const text = data.difference ? page.amount(frame.before, 0) + ' \u2192 ' : '';
    return `${text}${page.amount(frame.total, page.metric())}  ${page.percent(frame.total, whole)}`;
  }

  /* Returns a frame as an item of a tree; its children are made when it opens. */
  function item(frame, whole) {
    const below = make('div', { className: 'below', hidden: true });
    const toggle = make('button', { type: 'button', className: 'toggle', 'aria-expanded': 'false',
      'aria-label': 'Next step of ' + page.short(frame.fn).slice(0, 80), onclick: () => {
        if (!below.firstChild) { fill(below, frame, whole); }
        below.hidden = !below.hidden;
        toggle.setAttribute('aria-expanded', String(!below.hidden));
      } });
    const label = make('button', { type: 'button', className: 'name', title:
      page.name(frame.fn).slice(0, 2000), onclick: () => page.select(frame.fn) },
    page.cut(page.short(frame.fn), 70));
    const bar = make('span', { className: 'meter' }, make('span'));
    bar.firstChild.style.width = Math.min(100, 100 * frame.width / (whole || 1)).toFixed(1) + '%';
    return make('div', { className: 'item' }, toggle, label, bar, make('span',
      { className: 'amount' }, numbers(frame, whole)), below);
  }

  /* Appends the children of a frame. */
  function fill(box, frame, whole) {
    const list = frame.children().filter(one => one.width !== 0);
    const put = few => {
      for (const one of few) { box.append(item(one, whole)); }
    };
    put(list.slice(0, FEW));
    if (list.length > FEW) {
      const more = make('button', { type: 'button', onclick: () => {
        more.remove();
        put(list.slice(FEW));
      } }, page.counted(list.length - FEW, 'more function'));
      box.append(more);
    }
    if (frame.rest > 0) {
      box.append(make('p', { className: 'note' },
        `${page.weight(frame.rest, page.metric())} in small frames left out of this page`));
    }
    if (list.length === 0) { box.append(make('p', { className: 'note' }, 'none')); }
  }

  function side(title, fn, up) {
    const frame = page.function_frame(fn, view_of(up)), part = make('div', { className: 'tree' });
    part.append(make('h3', {}, title));
    fill(part, frame, frame.width);
    const first = part.querySelector('.toggle');
    if (first) { first.click(); }
    return part;
  }

  // }======

  // {====== Source ======

  /* Returns the text of a line, or undefined if the page does not have it. */
  function text_of(file, line) {
    return file.text ? file.text[line - 1] : file.near ? file.near[line] : undefined;
  }

  function line_row(file, line, hot, whole) {
    const at = hot.get(line), text = text_of(file, line);
    const row = make('tr', {});
    const bar = make('td', { className: 'bar' }, make('span'));
    if (at !== undefined) {
      const self = file.self[at];
      bar.firstChild.style.width = Math.min(100, 100 * Math.abs(self) / whole).toFixed(1) + '%';
      bar.firstChild.className = self < 0 ? 'less' : '';
      row.append(make('td', {}, page.weight(self, data.usual)), bar,
        make('td', {}, page.percent(self, whole)));
    } else {
      row.append(make('td'), bar, make('td'));
    }
    row.append(make('td', { className: 'number' }, String(line)),
      make('td', { className: 'source' },
        text !== undefined ? text : at === undefined ? '' : page.name(file.function[at])));
    return row;
  }

  /* Returns the lines to show: numbers, or null for a gap. */
  function wanted(file, hot, whole_file) {
    const list = [], heavy = [...hot.keys()].sort((a, b) => a - b);
    if (whole_file) { return file.text.map((_, i) => i + 1); }
    let last = 0;
    for (const line of heavy) {
      let from = line, to = line;
      while (from > line - AROUND && text_of(file, from - 1) !== undefined) { from--; }
      while (to < line + AROUND && text_of(file, to + 1) !== undefined) { to++; }
      from = Math.max(from, last + 1);
      if (last > 0 && from > last + 1) { list.push(null); }
      for (let i = from; i <= to; i++) { list.push(i); }
      last = Math.max(last, to);
    }
    return list;
  }

  /* Returns a file with its weights, with a heading of this level; only the
     lines of a function if `fn` is given. */
  page.source = function (file, heading, fn, whole_file) {
    const hot = new Map(), whole = data.metrics[data.usual].total || 1;
    file.line.forEach((line, i) => {
      if ((fn === undefined || file.function[i] === fn) && !hot.has(line)) { hot.set(line, i); }
    });
    const body = make('tbody');
    for (const line of wanted(file, hot, whole_file)) {
      body.append(line === null ? make('tr', { className: 'gap' },
        make('td', { colSpan: 5 }, '\u22ee')) : line_row(file, line, hot, whole));
    }
    const part = make('div', { className: 'file' },
      make(heading, {}, file.file));
    if (file.reason) { part.append(make('p', { className: 'note' }, file.reason)); }
    part.append(make('div', { className: 'wide', tabIndex: 0, role: 'group',
      'aria-label': 'Source ' + file.file }, make('table', { className: 'code' }, body)));
    if (file.near) {
      part.append(make('p', { className: 'note' }, 'Only lines around those with weight are in ' +
        'this page.'));
    }
    if (file.text && !whole_file) {
      part.append(make('button', { type: 'button', onclick: () =>
        part.replaceWith(page.source(file, heading, fn, true)) }, 'All lines of this file'));
    }
    return part;
  };

  function put_source(fn) {
    const part = make('div', { id: 'source' });
    const files = data.lines.list.filter(file => file.function.includes(fn));
    if (files.length > 0) { part.append(make('h3', {}, 'Source' + page.of_all())); }
    for (const file of files) { part.append(page.source(file, 'h4', fn)); }
    return part;
  }

  function put_lines() {
    if (data.lines.list.length === 0) { return; }
    $('lines').hidden = false;
    const rest = data.lines.list.slice(3);
    $('lines').append(...data.lines.list.slice(0, 3).map(file => page.source(file, 'h3')));
    for (const file of rest) {
      const box = make('details', {}, make('summary', {}, file.file));
      box.addEventListener('toggle', () => {
        if (box.children.length === 1) { box.append(page.source(file, 'h3')); }
      });
      $('lines').append(box);
    }
    if (data.lines.left > 0) {
      $('lines').append(make('p', { className: 'note' }, page.counted(data.lines.left, 'line') +
        ` of smaller weight, ${page.percent(data.lines.left_self, page.whole(data.usual))}, ` +
        `${data.lines.left === 1 ? 'is' : 'are'} left out of this page: --set size=N.`));
    }
  }

  // }======

  function facts(fn) {
    const { table } = page.profile, row = table.row_of.get(fn), metric = page.metric();
    const list = make('dl');
    const add = (name, text) => list.append(make('div', {}, make('dt', {}, name),
      make('dd', {}, text)));
    if (row !== undefined) {
      const kinds = data.difference ? [['self', 1], ['self', 0], ['total', 1], ['total', 0]] :
        [['self', metric], ['total', metric]];
      for (const [kind, m] of kinds) {
        const value = table[kind][m][row];
        add(kind + (data.difference ? m ? ' before' : ' after' : ''), page.amount(value, m) +
          (data.difference ? '' : ', ' + page.percent(value, page.whole(metric))));
      }
      if (table.calls[row] !== null) { add('calls', page.count(table.calls[row])); }
    }
    if (page.place(fn)) { add('place', page.place(fn)); }
    return list;
  }

  function show(changed) {
    const fn = page.selected(), part = $('details');
    if (!['profile', 'select', 'metric', 'call'].some(name => changed.has(name))) { return; }
    part.hidden = fn < 0;
    document.body.classList.toggle('selected', fn >= 0);
    if (fn < 0) { return; }
    if (changed.has('select') && fn !== shown) { part.scrollTop = $('side').scrollTop = 0; }
    shown = fn;
    const title = make('h2', { id: 'details-title', title: page.name(fn).slice(0, 2000) },
      page.cut(page.short(fn), 120));
    part.replaceChildren(title, facts(fn), ...page.about.map(about => about(fn)),
      ...(data.arcs ? [make('p', { className: 'note' }, 'Beyond the first step the shares are ' +
        'estimates: the profile has no stacks.')] : []),
      make('div', { className: 'sandwich' }, side('Callers', fn, true), side('Callees', fn, false)),
      put_source(fn));
    page.speak(state.select === '' ? '' : 'Selected ' + page.short(fn));
  }

  put_lines();
  page.parts.push(show);
}(window.page));
