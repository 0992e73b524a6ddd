/* The flame graph: the largest frames first, or inverted, or in the order of time; of a difference
   the old side, the new one, or both with the change as colour. Only frames that are wide enough to
   be seen are computed. */
(function (page) {
  'use strict';
  const data = page.data, state = page.state, $ = page.$, make = page.make;
  const ROW = 19, LEAST = 0.4; // height of a row, least width of a frame, pixels
  let root, zoomed, rows = [], width = 0, current = null, most_change = 0;

  // {====== Layout ======

  function view() {
    const order = state.order, metric = page.metric(), made = { metric, up: order === 'inverted' };
    if (data.difference) {
      made.metric = state.side === 'before' ? 1 : 0;
      if (state.side === 'difference') { Object.assign(made, { before: 1, both: true }); }
    }
    if (order === 'time' && page.first_start) { made.begin = page.first_start; }
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

  /* Returns the pixels of a unit of weight; both sides of a difference have one scale. */
  function scale_of(frame) {
    const is_side = data.difference && state.side !== 'difference' && frame === root;
    const whole = is_side ? Math.max(data.metrics[0].total, data.metrics[1].total) : frame.width;
    return width / (whole || 1);
  }

  /* Computes the boxes of all rows: { frame, x, w } in pixels; the frames around the zoomed one
     fill the width. */
  function lay_out(pixels) {
    width = pixels;
    rows = [];
    for (let frame = zoomed; frame; frame = frame.parent) {
      rows[frame.depth] = [{ frame, x: 0, w: zoomed.width * scale_of(zoomed) }];
    }
    const scale = scale_of(zoomed), open = [rows[zoomed.depth][0]];
    while (open.length > 0) {
      const box = open.pop();
      let x = box.x;
      for (const frame of box.frame.children()) {
        const w = frame.width * scale;
        if (w >= LEAST) {
          const inner = { frame, x, w };
          (rows[frame.depth] = rows[frame.depth] || []).push(inner);
          open.push(inner);
        }
        x += Math.max(0, w);
      }
      if (box.frame.rest * scale >= LEAST) {
        const depth = box.frame.depth + 1;
        (rows[depth] = rows[depth] || []).push({ of: box.frame, x, w: box.frame.rest * scale });
      }
    }
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

  function draw_box(pen, box, y, marks) {
    const frame = box.frame, wide = Math.max(0.5, box.w - (box.w > 3 ? 1 : 0));
    const faded = frame.fn >= 0 && marks.hits && !marks.hits[frame.fn];
    pen.globalAlpha = faded ? 0.3 : frame.depth < zoomed.depth ? 0.65 : 1;
    pen.fillStyle = fill_of(frame);
    pen.fillRect(box.x, y, wide, ROW - 1);
    pen.globalAlpha = faded ? 0.55 : 1;
    if (frame === current || (frame.fn === marks.selected && frame.fn >= 0)) {
      pen.strokeStyle = page.style(frame === current ? '--accent' : '--text');
      pen.lineWidth = 2;
      pen.strokeRect(box.x + 1, y + 1, Math.max(1, wide - 2), ROW - 3);
    }
    if (box.w > 16) {
      pen.fillStyle = frame.fn < 0 || faded ? page.style('--text') : '#161616';
      page.label(pen, frame.fn < 0 ? 'all' : page.short(frame.fn), box.x, y + ROW / 2, box.w);
    }
    pen.globalAlpha = 1;
  }

  const surface = page.surface('Flame graph. Arrow keys move, Enter zooms, Backspace zooms out.',
    (pen, pixels, top, height) => {
      if (!root) { return; }
      if (pixels !== width) { lay_out(pixels); }
      const marks = { hits: page.hits(), selected: page.selected() };
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

  function refresh() {
    lay_out(surface.width() || 1);
    surface.refresh(rows.length * ROW + 2);
  }

  // }======

  // {====== Words ======

  function words(frame) {
    const metric = view().metric, above = frame.parent;
    if (frame.fn < 0) { return ['all', page.weight(frame.total, metric)]; }
    const list = [page.name(frame.fn).slice(0, 300)];
    if (frame.before !== undefined) {
      const change = frame.total - frame.before;
      list.push(`before ${page.weight(frame.before, metric)}, after ` +
        page.weight(frame.total, metric),
      `change ${change > 0 ? '+' : ''}${page.weight(change, metric)}`);
    } else {
      list.push(`self ${page.weight(frame.self, metric)}, total ` +
        page.weight(frame.total, metric),
      `${page.percent(frame.total, above.total)} of its parent, ` +
        `${page.percent(frame.total, root.total)} of all`);
    }
    if (frame.calls !== null) { list.push(`${page.count(frame.calls)} calls`); }
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

  /* Shows the modules with most self, and their colours. */
  const key = make('ul', { className: 'key', 'aria-label': 'Colours of modules' });

  function put_key() {
    const sums = new Map(), metric = page.metric();
    data.table.function.forEach((fn, row) => {
      const module = page.module(fn), value = Math.max(0, data.table.self[metric][row]);
      sums.set(module, (sums.get(module) || 0) + value);
    });
    const list = [...sums].sort((a, b) => b[1] - a[1]).slice(0, 10);
    key.replaceChildren(...list.map(([module]) => {
      const swatch = make('i', { className: 'hue' });
      swatch.style.background = page.module_color(module);
      return make('li', {}, swatch, module);
    }));
    key.hidden = page.has_one_module || (Boolean(data.difference) && state.side === 'difference');
  }

  // }======

  // {====== Actions ======

  function zoom(frame) {
    page.set({ zoom: path_of(frame), ...(frame.fn < 0 ? {} : { near: '' }) });
  }

  function box_at(event) {
    const y = event.offsetY + surface.box.scrollTop;
    return (rows[Math.floor(y / ROW)] || []).find(box =>
      event.offsetX >= box.x && event.offsetX < box.x + box.w);
  }

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
      page.select(current.fn, { zoom: path_of(current) });
    } else if (event.key === 'Backspace' || (event.key === 'Escape' && zoomed.parent)) {
      zoom(zoomed.parent || root);
    } else {
      return;
    }
    event.preventDefault();
  });
  surface.canvas.addEventListener('click', event => {
    const box = box_at(event);
    if (!box || !box.frame) { return; }
    current = box.frame;
    page.select(box.frame.fn, { zoom: path_of(box.frame) });
  });
  surface.canvas.addEventListener('pointermove', event => {
    const box = box_at(event);
    page.tip(!box ? null : box.frame ? words(box.frame) : ['left out',
      `${page.weight(box.of.rest, view().metric)} in small frames is not in this page: ` +
      '--set size=N'], event.clientX, event.clientY);
  });
  surface.canvas.addEventListener('pointerleave', () => page.tip(null));

  // }======

  const orders = [['heavy', 'Left-heavy'], ['inverted', 'Inverted']];
  if (data.timeline) { orders.push(['time', 'Time order']); }
  const order = page.switch('Order of frames', orders, value =>
    page.set({ order: value, zoom: '' }));
  const side = page.switch('Side of the comparison', [['before', 'Before'], ['after', 'After'],
    ['difference', 'Difference']], value => page.set({ side: value }));

  function rebuild() {
    root = page.root(view());
    most_change = 0;
    if (data.difference && data.tree) {
      const after = page.totals(0), before = page.totals(1);
      after.forEach((total, i) => {
        most_change = i ? Math.max(most_change, Math.abs(total - before[i])) : 0;
      });
    }
    put_key();
  }

  function show(changed) {
    const has = (...names) => names.some(name => changed.has(name));
    if (has('metric', 'order', 'side')) { rebuild(); }
    if (has('metric', 'order', 'side', 'zoom')) {
      zoomed = frame_of_path();
      current = current && current.view === zoomed.view ? current : null;
      put_crumbs();
      refresh();
    }
    order.show(state.order);
    side.show(state.side);
    surface.refresh();
  }

  const tools = make('div', { className: 'tools' }, order);
  if (data.difference) { tools.append(side); }
  $('flames').append(tools, crumbs, surface.box, key);
  if (data.tree && data.tree.left > 0) {
    $('flames').append(make('p', { className: 'note' }, `${page.count(data.tree.left)} contexts ` +
      'of smaller total are left out and hatched in their callers: --set size=N.'));
  }
  if (data.difference) {
    $('flames').append(make('p', { className: 'note' }, 'Difference: widths are the sums of both ' +
      'sides, so that what is gone is shown; red grew, blue shrank.'));
  }
  page.flames = { surface, words, rows: () => rows, zoomed: () => zoomed, root: () => root };
  page.parts.push(show);
}(window.page));
