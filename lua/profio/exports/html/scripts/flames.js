/* The flame graph: the largest frames first, or inverted, or in the order of time; of a difference
   the old side, the new one, or both with the change as colour. Only frames that are wide enough to
   be seen are computed. */
(function (page) {
  'use strict';
  const data = page.data, state = page.state, $ = page.$, make = page.make;
  const ROW = 19, LEAST = 0.4; // height of a row, least width of a frame, pixels
  const SMALLEST = 1e-7; // share of the zoomed frame that can fill the width
  let root, zoomed, rows = [], width = 0, current = null, most_change = 0, tallest = 0;

  // {====== Layout ======

  function view() {
    const order = state.order, metric = page.metric(), made = { metric, up: order === 'inverted' };
    if (data.difference) {
      made.metric = state.side === 'before' ? 1 : 0;
      if (state.side === 'difference') { Object.assign(made, { before: 1, both: true }); }
    }
    const { begin } = page.profile.tree || {};
    if (order === 'time' && begin) {
      made.begin = frame => Math.min(...frame.nodes.map(node => begin[node - 1]));
    } else if (order === 'time' && page.first_start) {
      made.begin = page.first_start;
    }
    return made;
  }

  /* Returns the frame to which the path of the state leads, as far as it exists. */
  function frame_of_path() {
    let frame = root;
    for (const fn of state.zoom === '' ? [] : state.zoom.split('.')) {
      const next = frame.children().find(child => child.fn === +fn);
      if (!next) { break; }
      frame = next;
    }
    return frame;
  }

  function path_of(frame) {
    const list = [];
    for (; frame.parent; frame = frame.parent) { list.unshift(frame.fn); }
    return list.join('.');
  }

  /* Returns the part of the zoomed frame that is visible: two shares of its width. */
  function visible_part() {
    const [from, to] = state.part.split('-').map(Number);
    return from >= 0 && to <= 1 && to - from >= SMALLEST ? { from, to } : { from: 0, to: 1 };
  }

  function show_part(from, to) {
    const wide = Math.min(1, Math.max(SMALLEST, to - from));
    const begin = Math.max(0, Math.min(from, 1 - wide));
    page.set({ part: wide >= 1 ? '' : `${begin.toFixed(9)}-${(begin + wide).toFixed(9)}` }, true);
  }

  /* Returns the pixels of a unit of weight; both sides of a difference have one scale. */
  function scale_of(frame) {
    const is_side = data.difference && state.side !== 'difference' && frame === root;
    const whole = is_side ? Math.max(...page.profile.metrics.map(one => one.total)) : frame.width;
    const { from, to } = visible_part();
    return width / (to - from) / (whole || 1);
  }

  function add_box(depth, box) {
    if (box.w >= LEAST && box.x < width && box.x + box.w > 0) {
      (rows[depth] = rows[depth] || []).push(box);
      return true;
    }
    return false;
  }

  /* Computes the boxes of all rows that are visible: { frame, x, w } in pixels; the frames around
     the zoomed one fill the width. */
  function lay_out(pixels) {
    width = pixels;
    rows = [];
    const scale = scale_of(zoomed), wide = zoomed.width * scale;
    const { from, to } = visible_part(), x = -from / (to - from) * width;
    for (let frame = zoomed; frame; frame = frame.parent) {
      rows[frame.depth] = [{ frame, x, w: wide }];
    }
    const open = [rows[zoomed.depth][0]];
    while (open.length > 0) {
      const box = open.pop();
      let at = box.x;
      for (const frame of box.frame.children()) {
        const inner = { frame, x: at, w: frame.width * scale };
        if (add_box(frame.depth, inner)) { open.push(inner); }
        at += Math.max(0, inner.w);
      }
      add_box(box.frame.depth + 1, { of: box.frame, x: at, w: box.frame.rest * scale });
    }
    put_key();
  }

  // }======

  // {====== Picture ======

  function fill_of(frame) {
    if (frame.fn < 0) { return page.style('--card'); }
    if (frame.before === undefined) { return page.color(frame.fn); }
    return page.change_color(frame.total - frame.before, most_change);
  }

  function hatch(pen, box, y) {
    pen.strokeStyle = page.style('--soft');
    pen.globalAlpha = 0.5;
    pen.beginPath();
    for (let x = box.x; x < box.x + box.w; x += 6) {
      pen.moveTo(x, y + ROW - 2);
      pen.lineTo(Math.min(x + 5, box.x + box.w), y);
    }
    pen.stroke();
    pen.globalAlpha = 1;
  }

  function draw_box(pen, whole, y, marks) {
    const left = Math.max(whole.x, -4), frame = whole.frame;
    const box = { x: left, w: Math.min(whole.x + whole.w, width + 4) - left };
    const wide = Math.max(0.5, box.w - (box.w > 3 ? 1 : 0));
    const faded = frame.fn >= 0 && marks.hits && !marks.hits[frame.fn];
    const fill = page.fill(fill_of(frame), faded ? 0.3 : frame.depth < zoomed.depth ? 0.65 : 1);
    pen.fillStyle = fill;
    pen.fillRect(box.x, y, wide, ROW - 1);
    pen.globalAlpha = faded ? 0.55 : 1;
    const is_marked = frame === current || marks.path.has(frame);
    if (is_marked || (frame.fn === marks.selected && frame.fn >= 0)) {
      pen.strokeStyle = page.style(is_marked ? '--accent' : '--text');
      pen.lineWidth = is_marked ? 3 : 1.5;
      pen.strokeRect(box.x + 1, y + 1, Math.max(1, wide - 2), ROW - 3);
    }
    if (box.w > 16) {
      pen.globalAlpha = 1;
      pen.fillStyle = page.ink(fill);
      page.label(pen, frame.fn < 0 ? 'all' : page.brief(frame.fn, box.w), Math.max(0, box.x),
        y + ROW / 2, Math.min(width, box.x + box.w) - Math.max(0, box.x));
    }
    pen.globalAlpha = 1;
  }

  /* Returns the frames of the selected call and of those around it. */
  function frames_of_call() {
    const path = page.call_path ? page.call_path() : null, found = new Set();
    if (path && state.order === 'inverted') { path.reverse(); }
    for (let frame = root, n = 0; path && n < path.length; n++) {
      frame = frame.children().find(child => child.fn === path[n]);
      if (!frame) { break; }
      found.add(frame);
    }
    return found;
  }

  const surface = page.surface('Flame graph. Arrow keys move, Enter zooms, Backspace zooms out.',
    (pen, pixels, top, height) => {
      if (!root) { return; }
      if (pixels !== width) { lay_out(pixels); }
      const marks = { hits: page.hits(), selected: page.selected(), path: frames_of_call() };
      const last = Math.min(rows.length - 1, Math.ceil((top + height) / ROW));
      for (let depth = Math.floor(top / ROW); depth <= last; depth++) {
        for (const box of rows[depth] || []) {
          if (box.frame) {
            draw_box(pen, box, depth * ROW - top, marks);
          } else {
            hatch(pen, box, depth * ROW - top);
          }
        }
      }
    });

  /* Lays out the picture in the width of paper. Returns its height. */
  surface.for_paper = function (pixels) {
    lay_out(pixels);
    return { height: rows.length * ROW + 2 };
  };

  function refresh() {
    lay_out(surface.width() || 1);
    tallest = Math.max(tallest, rows.length);
    surface.refresh(tallest * ROW + 2);
  }

  // }======

  // {====== Words ======

  function words(frame) {
    const metric = view().metric, above = frame.parent;
    if (frame.fn < 0) { return ['all', page.amount(frame.total, metric)]; }
    const list = [page.name(frame.fn).slice(0, 300)];
    if (frame.before !== undefined) {
      const change = frame.total - frame.before;
      list.push(`before ${page.amount(frame.before, metric)}, after ` +
        page.amount(frame.total, metric),
      `change ${change > 0 ? '+' : ''}${page.amount(change, metric)}`);
    } else {
      list.push(`self ${page.amount(frame.self, metric)}, total ` +
        page.amount(frame.total, metric),
      `${page.percent(frame.total, above.total)} of its parent, ` +
        `${page.percent(frame.total, root.total)} of all`);
    }
    if (frame.calls !== null) { list.push(page.counted(frame.calls, 'call')); }
    if (page.place(frame.fn)) { list.push(page.place(frame.fn)); }
    if (data.arcs) { list.push('estimate: the profile has no stacks'); }
    return list;
  }

  const crumbs = make('nav', { className: 'crumbs', 'aria-label': 'Frames around the zoomed one' });

  function put_crumbs() {
    const list = [];
    for (let frame = zoomed; frame; frame = frame.parent) { list.unshift(frame); }
    const few = list.length > 8 ? [...list.slice(0, 2), null, ...list.slice(-5)] : list;
    crumbs.replaceChildren(...few.map(frame => frame === null ? make('span', {}, '\u2026') :
      make('button', { type: 'button', onclick: () => zoom(frame) },
        frame.fn < 0 ? 'all' : page.cut(page.short(frame.fn), 32))));
    crumbs.hidden = list.length < 2;
  }

  /* Shows the modules or functions that are drawn, and their colours. */
  const MOST_KEYS = 12;
  const key = make('ul', { className: 'key', 'aria-label': page.by_function ?
    'Colours of functions' : 'Colours of modules' });
  let keys_shown = '', key_width = 0;

  function put_key() {
    const drawn = rows.flatMap(row => row.map(box => box.frame ? box.frame.fn : -1));
    const list = page.meanings(new Set(drawn.filter(fn => fn >= 0)));
    const few = list.filter(one => one.rank < Infinity || list.length <= MOST_KEYS)
      .slice(0, MOST_KEYS), text = JSON.stringify(few) + list.length;
    key.hidden = Boolean(data.difference) && state.side === 'difference';
    key.style.visibility = list.length < 2 ? 'hidden' : '';
    if (text === keys_shown && width === key_width) { return; }
    keys_shown = text;
    key.replaceChildren(...few.map(({ name, color }) => {
      const swatch = make('i', { className: 'hue' });
      swatch.style.background = color;
      return make('li', {}, swatch, page.cut(name, 40));
    }), list.length > few.length ? make('li', {}, `and ${page.count(list.length - few.length)} ` +
      'more') : '');
    // Parts below do not move while the graph zooms.
    if (key_width !== width) { key.style.minHeight = ''; }
    key_width = width;
    key.style.minHeight = Math.max(parseFloat(key.style.minHeight) || 0, key.offsetHeight) + 'px';
  }

  // }======

  // {====== Actions ======

  function zoom(frame) {
    page.set({ zoom: path_of(frame), part: '' });
  }

  function box_at(x, y) {
    return (rows[Math.floor(y / ROW)] || []).find(box => x >= box.x && x < box.x + box.w);
  }

  /* Shows a part `factor` times as wide; what is at x pixels stays there. */
  function widen(factor, x) {
    const { from, to } = visible_part(), at = from + (to - from) * x / width;
    show_part(at - (at - from) * factor, at + (to - at) * factor);
  }

  function move(share) {
    const { from, to } = visible_part();
    const begin = Math.max(0, Math.min(from + (to - from) * share, 1 - (to - from)));
    show_part(begin, begin + to - from);
  }

  /* Focuses on the function at hand, or ignores or hides it. */
  function filter(word) {
    const { fn } = current || zoomed;
    if (page.filters && fn >= 0) { page.filters.add_function(word, fn); }
  }

  const keys = { w: () => widen(0.5, width / 2), s: () => widen(2, width / 2),
    f: () => filter('focus'), i: () => filter('ignore'), h: () => filter('hide'),
    '+': () => widen(0.5, width / 2), '-': () => widen(2, width / 2), a: () => move(-0.25),
    d: () => move(0.25), 0: () => zoom(root) };

  function look_at(frame) {
    current = frame;
    const y = frame.depth * ROW, box = surface.box;
    const is_seen = y >= box.scrollTop && y + ROW <= box.scrollTop + box.clientHeight;
    if (!is_seen) { box.scrollTop = y - ROW; }
    page.speak(words(frame).join(', '));
    surface.refresh();
  }

  function step(arrow) {
    const frame = current || zoomed, above = frame.parent;
    const list = above ? above.children() : [frame], place = list.indexOf(frame);
    return { ArrowDown: frame.children()[0], ArrowUp: above, ArrowLeft: list[place - 1],
      ArrowRight: list[place + 1] }[arrow];
  }

  surface.canvas.addEventListener('keydown', event => {
    if (event.key.startsWith('Arrow')) {
      const next = step(event.key);
      if (next) { look_at(next); }
    } else if (event.key === 'Enter' && current) {
      page.select(current.fn, { zoom: path_of(current), part: '' });
    } else if (event.key === 'Backspace' || (event.key === 'Escape' && zoomed.parent)) {
      zoom(zoomed.parent || root);
    } else if (keys[event.key.toLowerCase()] && !event.ctrlKey && !event.metaKey) {
      keys[event.key.toLowerCase()]();
    } else {
      return;
    }
    event.preventDefault();
  });
  page.gestures(surface, {
    click: (x, y) => {
      const box = box_at(x, y);
      if (!box || !box.frame) { return; }
      current = box.frame;
      page.select(box.frame.fn, { zoom: path_of(box.frame), part: '' });
    },
    grab: visible_part,
    drag: (held, x, factor) => {
      const wide = (held.to - held.from) * factor;
      const from = held.from + (held.to - held.from) * held.x / width - wide * x / width;
      show_part(Math.max(0, from), Math.max(0, from) + wide);
    },
    drop: () => {},
    zoom: widen,
    pan: pixels => move(pixels / width),
    hover: event => {
      const box = event && box_at(event.offsetX, event.offsetY + surface.box.scrollTop);
      page.tip(!box ? null : box.frame ? words(box.frame) : ['left out',
        `${page.weight(box.of.rest, view().metric)} ` + (data.tree.left > 0 ?
          'in small frames is not in this page: --set size=N' :
          'has no frame: it has no stack, or its frames are dropped')],
      event && event.clientX, event && event.clientY);
    }
  });

  // }======

  const orders = [['heavy', 'Left-heavy'], ['inverted', 'Inverted']];
  if (data.timeline) { orders.push(['time', 'Time order']); }
  const order = page.switch('Order of frames', orders, value =>
    page.set({ order: value, zoom: '', part: '' }));
  const side = page.switch('Side of the comparison', [['before', 'Before'], ['after', 'After'],
    ['difference', 'Difference']], value => page.set({ side: value }));

  function rebuild() {
    root = page.root(view());
    most_change = 0;
    const { tree } = page.profile;
    if (data.difference && tree) {
      const after = page.totals(tree, 0), before = page.totals(tree, 1);
      after.forEach((total, i) => {
        most_change = i ? Math.max(most_change, Math.abs(total - before[i])) : 0;
      });
    }
  }

  function show(changed) {
    const has = (...names) => names.some(name => changed.has(name));
    if (has('profile', 'metric', 'order', 'side')) { rebuild(); }
    if (has('profile', 'metric', 'order', 'side', 'zoom')) {
      zoomed = frame_of_path();
      tallest = 0;
      current = current && current.view === zoomed.view ? current : null;
      put_crumbs();
    }
    if (has('profile', 'metric', 'order', 'side', 'zoom', 'part')) { refresh(); }
    order.show(state.order);
    side.show(state.side);
    surface.refresh();
  }

  const tools = make('div', { className: 'tools' }, order);
  if (data.difference) { tools.append(side); }
  $('flames').append(tools, crumbs, surface.box, key);
  if (data.tree && data.tree.left > 0) {
    $('flames').append(make('p', { className: 'note' }, page.counted(data.tree.left, 'context') +
      ` of smaller total ${data.tree.left === 1 ? 'is left out and hatched in its caller' :
        'are left out and hatched in their callers'}: --set size=N.`));
  }
  if (data.arcs && data.arcs.left > 0) {
    $('flames').append(make('p', { className: 'note' }, page.counted(data.arcs.left, 'arc') +
      `, of smaller total or of functions that are left out, ${data.arcs.left === 1 ? 'is' :
        'are'} not drawn: --set size=N.`));
  }
  const is_flat = data.tree ? data.tree.depth.every(depth => depth === 1) :
    data.arcs.list.length + data.arcs.left === 0;
  if (data.table.function.length === 0) {
    $('flames').replaceChildren($('flames').firstElementChild,
      make('p', { className: 'note' }, 'There is nothing to draw: no function has any weight.'));
  } else if (is_flat) {
    $('flames').append(make('p', { className: 'note' }, 'The file has neither stacks nor calls ' +
      'between functions: each function is a frame of its own.'));
  }
  if (data.difference) {
    $('flames').append(make('p', { className: 'note' }, 'Difference: widths are the sums of both ' +
      'sides, so that what is gone is shown; red grew, blue shrank.'));
  }
  page.flames = { surface, words, rows: () => rows, zoomed: () => zoomed, root: () => root,
    marked: frames_of_call, current: () => current };
  page.parts.push(show);
}(window.page));
