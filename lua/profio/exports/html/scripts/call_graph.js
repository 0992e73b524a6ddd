/* The call graph: functions as boxes, calls as arcs. It is laid out when it is first seen. */
(function (page) {
  'use strict';
  const { state, make } = page, section = page.$('call-graph'), is_pair = page.data.difference;
  const MOST = 60, W = 150, H = 48; // functions; pixels of a box
  const READABLE = 0.8; // scale
  const note = make('p', { className: 'note' }), view = { x: 0, scale: 1 };
  let graph = null, plan = null, current = null, is_seen = false;

  // {====== Graph ======

  /* Adds the contexts of a tree. A function or arc that is open already has no more total. */
  function add_contexts(tree, metrics, node_of, arc_of) {
    const open = new Map(), entered = [], totals = metrics.map(m => page.totals(tree, m));
    page.walk(tree, i => {
      const node = node_of(tree.function[i - 1]), met = [node];
      if (entered.length) { met.push(arc_of(entered[entered.length - 1][0], node)); }
      if (!node.is_known) { node.self = node.self.map((sum, m) =>
        sum + tree.self[metrics[m]][i - 1]); }
      for (const one of met) {
        if (!open.get(one) && !one.is_known) {
          one.total = one.total.map((sum, m) => sum + totals[m][i]);
        }
        open.set(one, (open.get(one) || 0) + 1);
      }
      entered.push(met);
    }, () => {
      for (const one of entered.pop()) { open.set(one, open.get(one) - 1); }
    });
  }

  /* Returns the functions, and the arcs between them, with totals in the metrics that are shown:
     only the calls, if there is nothing else. */
  function graph_of() {
    const { tree, arcs, table, metrics } = page.profile, nodes = new Map(), list = new Map();
    const shown = is_pair ? [0, 1] : [page.metric()], zeros = shown.map(() => 0);
    const of = (kind, row) => shown.map(m => table[kind][m][row]);
    const node_of = fn => nodes.get(fn) || nodes.set(fn, { fn, self: zeros, total: zeros,
      calls: null, out: [], into: [] }).get(fn);
    const arc_of = (from, to) => {
      const key = from.fn + '.' + to.fn;
      if (!list.has(key)) {
        const arc = { from, to, total: zeros, calls: null };
        list.set(key, arc);
        from.out.push(arc);
        to.into.push(arc);
      }
      return list.get(key);
    };
    table.function.forEach((fn, row) => Object.assign(node_of(fn), { is_known: true,
      self: of('self', row), total: of('total', row), calls: table.calls[row] }));
    if (tree) { add_contexts(tree, shown, node_of, arc_of); }
    for (const [a, b, calls, totals] of tree ? [] : arcs.list) {
      Object.assign(arc_of(node_of(a), node_of(b)), { calls, total: shown.map(m => totals[m]) });
    }
    const all = [...nodes.values(), ...list.values()];
    const by_calls = all.every(one => one.total.every(total => !total));
    for (const one of all) {
      one.total = by_calls ? [one.calls] : one.total;
      one.size = Math.max(...one.total.map(Math.abs));
    }
    for (const one of [...nodes.values()].flatMap(node => [node.out, node.into])) {
      one.sort((a, b) => b.size - a.size);
    }
    return { nodes, arcs: [...list.values()].sort((a, b) => b.size - a.size), by_calls,
      whole: by_calls ? 0 : Math.max(...shown.map(m => metrics[m].total)) };
  }

  /* Returns a function, two steps of its callers, and of its callees. */
  function around(node) {
    return [node, ...[['into', 'from'], ['out', 'to']].flatMap(([side, end]) => {
      const next = list => list.flatMap(one => one[side].map(arc => arc[end]));
      return [...next([node]), ...next(next([node]))];
    })];
  }

  /* Returns the arcs that are drawn: the heaviest ones, and the heaviest into each function. */
  function drawn_arcs(inner, most) {
    const met = new Set();
    return inner.filter((arc, i) => {
      const is_first = arc.from !== arc.to && !met.has(arc.to);
      if (is_first) { met.add(arc.to); }
      return is_first || (i < most && (arc.size >= graph.whole / 1000 || (arc.calls && !arc.size)));
    });
  }

  // }======

  // {====== Words ======

  const own = node => Math.max(...node.self.map(Math.abs));
  const weight = value => graph.by_calls ? page.counted(value, 'call') :
    page.amount(value, is_pair ? 0 : page.metric());
  const share = value => value ? ` ${page.percent(value, graph.whole)}` : '';
  const change = list => list[0] - list[1];
  const brief = list => is_pair ? (change(list) > 0 ? '+' : '') + weight(change(list)) :
    weight(list[0]) + share(list[0]);
  const full = list => is_pair ? `before ${weight(list[1])}, after ${weight(list[0])}` :
    weight(list[0]) + share(list[0]);
  const calls = one => one.calls === null ? [] : [page.counted(one.calls, 'call')];

  function words(node) {
    const callers = node.into.slice(0, 4).map(arc =>
      `${page.cut(page.short(arc.from.fn), 60)} (${full(arc.total)})`);
    const more = node.into.length - callers.length;
    return [page.name(node.fn).slice(0, 300), 'self ' + full(node.self), 'total ' +
      full(node.total), ...calls(node), (callers.length ? 'called by ' + callers.join(', ') :
      'no callers') + (more ? ` and ${more} more` : ''), page.place(node.fn)].filter(Boolean);
  }

  /* States what is left out. */
  function put_note(count, is_part, left) {
    const { table, tree, arcs } = page.profile;
    const all = is_part ? count : Math.max(graph.nodes.size, table.function.length + table.left);
    const drawn = plan.nodes.length;
    note.replaceChildren([`${page.count(drawn)} of ${page.count(all)} functions are drawn`,
      drawn < all ? ', those with the largest total' : '', left.length ? `; ${page.count(
        left.length)} arcs between them, of at most ${full(left[0].total)}, are not. ` : '. ',
      tree && tree.left ? 'Arcs may have more weight than is stated, as the page leaves contexts ' +
      'out: --set size=N. ' : '', arcs && arcs.left ? `${page.count(arcs.left)} arcs, of smaller ` +
      'total or of functions that are left out, are not in this page: --set size=N. ' : '',
      is_pair ? 'Numbers are changes; red: self grew; blue: it shrank. ' : ''].join(''),
    make('span', { className: 'hint' },
      'Drag to move, Ctrl and the wheel to zoom; 0 shows the whole width.'));
  }

  // }======

  // {====== Picture ======

  const font = size => size + 'px ui-monospace, Menlo, Consolas, monospace';

  function draw_arc(pen, { points, size, back, to }, x, y) {
    const s = view.scale, wide = Math.max(0.7, s * (1 + 6 * size / (graph.whole || size || 1)));
    pen.lineWidth = wide;
    if (!points) {
      pen.strokeRect(x(to.x + to.w / 2 - 12), y(to.y + H / 2), 18 * s, (H / 2 + 6) * s);
      return;
    }
    pen.beginPath();
    points.forEach(([at, low], i) => {
      if (i === 0) { pen.moveTo(x(at), y(low)); return; }
      const [from, high] = points[i - 1], middle = y((high + low) / 2);
      pen.bezierCurveTo(x(from), middle, x(at), middle, x(at), y(low));
    });
    pen.stroke();
    const [tip, end] = points[points.length - 1], tall = (back ? 1 : -1) * (4 * s + wide);
    pen.beginPath();
    pen.moveTo(x(tip), y(end));
    pen.lineTo(x(tip) - tall / 1.5, y(end) + tall);
    pen.lineTo(x(tip) + tall / 1.5, y(end) + tall);
    pen.fill();
  }

  /* Returns points of an arc, those in the middle first. */
  function places({ points, to }) {
    return !points ? [[to.x, to.y + H + 8]] : [0.5, 0.3, 0.7, 0.15, 0.85].flatMap(t =>
      points.slice(1).map(([b, low], i) => {
        const [a, high] = points[i];
        return [a + (b - a) * t * t * (3 - 2 * t), high + (low - high) *
          (t + 1.5 * t * (1 - t) * (1 - 2 * t))];
      }));
  }

  /* Writes the weights of arcs where they hide neither each other nor a box. */
  function draw_labels(pen, x, y) {
    const size = Math.max(9, Math.min(12, 11 * view.scale)), taken = plan.nodes.map(node =>
      [x(node.x - node.w / 2), y(node.y), node.w * view.scale, H * view.scale]);
    pen.font = font(size);
    for (const arc of plan.arcs) {
      const text = !arc.size && arc.calls ? calls(arc)[0] : is_pair ? brief(arc.total) :
        weight(arc.total[0]), wide = text.length * size * 0.62 + 4;
      const boxes = places(arc).map(at => [x(at[0]) - wide / 2, y(at[1]) - size / 2, wide,
        size + 2]);
      const place = boxes.find(([a, b, w, h]) => taken.every(one => a > one[0] + one[2] ||
        one[0] > a + w || b > one[1] + one[3] || one[1] > b + h));
      if (!place) { continue; }
      taken.push(place);
      pen.fillStyle = page.style('--page');
      pen.fillRect(...place);
      pen.fillStyle = page.style('--text');
      pen.fillText(text, place[0] + 2, place[1] + place[3] / 2);
    }
  }

  function draw_node(pen, node, x, y) {
    const s = view.scale, hits = page.hits(), faded = hits && !hits[node.fn], tall = H * s;
    const box = [x(node.x - node.w / 2), y(node.y), node.w * s, tall];
    const fill = page.fill(is_pair ? page.change_color(change(node.self), plan.most) :
      page.color(node.fn), (is_pair ? 1 : 0.2 + 0.8 * node.heat) * (faded ? 0.3 : 1));
    pen.fillStyle = fill;
    pen.fillRect(...box);
    const is_marked = node === current || node.fn === page.selected();
    pen.strokeStyle = page.style(is_marked ? '--accent' : '--soft');
    pen.lineWidth = is_marked ? 3 : 1;
    pen.strokeRect(...box);
    pen.fillStyle = page.ink(fill);
    const rows = s < 0.55 ? [''] : ['', 'self ' + brief(node.self), 'total ' + brief(node.total)];
    rows.forEach((row, i) => {
      const size = Math.max(9, (i ? 10 : 11) * s);
      const letters = Math.floor((box[2] - 6) / size / 0.605);
      pen.font = (i ? '' : '600 ') + font(size);
      // A number is never cut: without room its share is left out, then the number.
      const text = row ? [row, row.replace(/ [^ ]+ %$/, ''), ''].find(one =>
        one.length <= letters) : page.cut(page.brief(node.fn, letters * 7.25 + 6), letters);
      pen.fillText(text, box[0] + 4, box[1] + tall * (i + 0.6) / (rows.length + 0.2));
    });
  }

  const surface = page.surface('Call graph. Up and down go to callers and callees, left and ' +
    'right to functions beside, Enter selects.', (pen, width, top) => {
    if (!plan) { return; }
    if (plan.drawn !== width) {
      plan.drawn = width;
      pan(0); // the window has another width
    }
    const x = at => (at - view.x) * view.scale, y = at => (at + 8) * view.scale - top;
    const is_marked = node => node === current || node.fn === page.selected();
    for (const arc of plan.arcs.slice().reverse()) {
      const color = page.style(is_marked(arc.from) || is_marked(arc.to) ? '--accent' : '--soft');
      Object.assign(pen, { strokeStyle: color, fillStyle: color });
      draw_arc(pen, arc, x, y);
    }
    for (const node of plan.nodes) { draw_node(pen, node, x, y); }
    draw_labels(pen, x, y);
  });

  // }======

  /* Shows the whole width while the graph is printed, until restore() is called. Returns its
     height. */
  surface.for_paper = function (width) {
    if (!plan && !section.hidden) { build(); }
    const before = { ...view }, { drawn } = plan || {};
    if (plan) {
      view.scale = Math.min(1, width / (plan.width + 16));
      view.x = (plan.width + 16 - width / view.scale) / 2 - 8;
      plan.drawn = width;
    }
    return { height: plan ? (plan.height + 24) * view.scale : 0, restore: () => {
      Object.assign(view, before);
      if (plan) { plan.drawn = drawn; }
    } };
  };

  // {====== Actions ======

  /* Shows a point of the graph at x and y of the canvas. */
  function look_from([at_x, at_y], scale, x, y) {
    const s = view.scale = Math.max(0.15, Math.min(2, scale));
    const spare = plan.width + 16 - surface.width() / s;
    view.x = spare <= 0 ? spare / 2 - 8 : Math.max(-8, Math.min(spare - 8, at_x - x / s));
    surface.refresh((plan.height + 24) * s, (at_y + 8) * s - y);
  }

  const point = (x, y) => [x / view.scale + view.x, (y + surface.box.scrollTop) / view.scale - 8];
  const middle = () => [surface.width() / 2, surface.box.clientHeight / 2];
  const zoom = (factor, ...at) => look_from(point(...at), view.scale / factor, ...at);
  function pan(by) { look_from([view.x + by / view.scale, point(0, 0)[1]], view.scale, 0, 0); }

  const show_node = node => look_from([node.x, node.y + H / 2], view.scale, ...middle());
  const chosen = () => plan.nodes.find(node => node.fn === page.selected());

  function fit(least) {
    view.scale = Math.max(least, Math.min(1, surface.width() / (plan.width + 16)));
    if (chosen()) {
      show_node(chosen());
    } else if (plan.nodes.length > 0) { // filters may leave none
      look_from([plan.nodes[0].x, -8], view.scale, middle()[0], 0);
    }
  }

  const node_at = (x, y) => plan.nodes.find(node => Math.abs(x - node.x) <= node.w / 2 &&
    y >= node.y && y <= node.y + H);

  function step(key) {
    if (!current) { return chosen() || plan.nodes[0]; }
    if (key === 'ArrowUp' || key === 'ArrowDown') {
      const [side, end] = key === 'ArrowUp' ? ['into', 'from'] : ['out', 'to'];
      const arcs = current[side].filter(arc => arc[end] !== current && plan.arcs.includes(arc));
      return arcs[0] && arcs[0][end];
    }
    const row = plan.nodes.filter(node => node.layer === current.layer).sort((a, b) => a.x - b.x);
    return row[row.indexOf(current) + (key === 'ArrowLeft' ? -1 : 1)];
  }

  const keys = { w: () => zoom(0.8, ...middle()), s: () => zoom(1.25, ...middle()),
    0: () => fit(0), a: () => pan(-90), d: () => pan(90),
    enter: () => current && page.select(current.fn) };
  Object.assign(keys, { '+': keys.w, '-': keys.s });

  surface.canvas.addEventListener('keydown', event => {
    const act = keys[event.key.toLowerCase()], is_arrow = event.key.startsWith('Arrow');
    if (!plan || event.ctrlKey || event.metaKey || event.altKey || !(act || is_arrow)) { return; }
    event.preventDefault();
    if (act) { act(); return; }
    current = step(event.key) || current;
    show_node(current);
    page.speak(words(current).join(', '));
  });
  page.gestures(surface, {
    moves_up: true,
    click: (x, y) => {
      const node = plan && node_at(...point(x, y - surface.box.scrollTop));
      if (node) {
        current = node;
        page.select(node.fn);
      }
    },
    grab: (_, x, y) => ({ at: point(x, y), scale: view.scale }),
    drag: (held, x, factor, y) => look_from(held.at, held.scale / factor, x, y),
    drop: () => {},
    zoom,
    pan,
    hover: event => {
      if (!event || !plan) { page.tip(null); return; }
      const [x, y] = point(event.offsetX, event.offsetY), node = node_at(x, y);
      const arc = plan.arcs.find(one => places(one).some(at =>
        Math.hypot(at[0] - x, at[1] - y) < 9));
      page.tip(node ? words(node) : arc ? [`${page.name(arc.from.fn).slice(0, 150)} \u2192 ` +
        page.name(arc.to.fn).slice(0, 150), full(arc.total), ...calls(arc)] : null, event.clientX,
      event.clientY);
    }
  });

  // }======

  function build() {
    graph = graph || graph_of();
    const centre = state.graph === 'around' && graph.nodes.get(page.selected());
    const list = [...(centre ? new Set(around(centre)) : graph.nodes.values())].filter(node =>
      node === centre || node.size || graph.by_calls);
    list.sort((a, b) => (b === centre) - (a === centre) || b.size - a.size);
    const nodes = list.slice(0, MOST), most = Math.max(...list.map(own)), drawn = new Set(nodes);
    for (const node of nodes) {
      node.heat = most ? Math.sqrt(own(node) / most) : 0;
      Object.assign(node, { w: W + 40 * node.heat, h: H });
    }
    const inner = graph.arcs.filter(arc => drawn.has(arc.from) && drawn.has(arc.to));
    const arcs = drawn_arcs(inner, 2 * nodes.length), kept = new Set(arcs);
    plan = { nodes, arcs, most, ...page.lay_out_graph(nodes, arcs, Math.max(3, Math.floor(
      surface.width() / READABLE / (W + 65)))) };
    put_note(list.length, centre, inner.filter(arc => !kept.has(arc)));
    current = null;
    fit(READABLE);
  }

  const range = page.switch('Functions of the call graph', [['', 'All'], ['around',
    'Around the selection']], value => page.set({ graph: value }));

  function show(changed) {
    const has = (...names) => names.some(name => changed.has(name)), { tree, arcs } = page.profile;
    section.hidden = tree ? !tree.parent.some(parent => parent) : arcs.list.length === 0;
    if (has('metric', 'profile')) { graph = null; }
    if (!graph || has('graph') || (has('select') && state.graph)) { plan = null; }
    range.show(state.graph);
    range.lastChild.disabled = page.selected() < 0;
    if (is_seen && !plan) { build(); }
    surface.refresh();
  }

  section.append(make('div', { className: 'tools' }, range), surface.box, note);
  show(new Set());
  surface.refresh(window.innerHeight * 0.8);
  new window.IntersectionObserver(list => {
    is_seen = list[list.length - 1].isIntersecting;
    if (is_seen && !plan) { build(); }
  }, { rootMargin: '200px' }).observe(section);
  page.call_graph = { surface, words, graph_of, view, plan: () => plan,
    words_at_hand: () => plan && current && words(current) };
  page.parts.push(show);
}(window.page));
