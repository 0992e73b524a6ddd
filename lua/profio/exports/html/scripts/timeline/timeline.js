/* The timeline: where its tracks lie, and how pointer, wheel and keys move it. */
(function (page) {
  'use strict';
  if (!page.tracks) { return; }
  const { list: tracks, length, first } = page.tracks, draw = page.pictures, lanes = page.lanes;
  const state = page.state, $ = page.$, make = page.make;
  const { is_folded, folds, fold } = lanes;
  const MAP = 34; // height of the minimap
  const view = { from: 0, to: length, left: 0, width: 0 };
  let places = [], stuck = [], hovered = null, measuring = null, current = null;

  // {====== Layout ======

  function height_of(track) {
    if (track.kind === 'values') { return is_folded(track) ? draw.ROW + 6 : draw.PLOT; }
    if (track.kind === 'states' || track.kind === 'core') { return draw.ROW + 6; }
    if (is_folded(track)) { return draw.STRIP + 4; }
    return draw.STRIP + Math.min(track.rows.length, draw.MOST_ROWS) * draw.ROW +
      (track.is_whole ? 0 : draw.ROW) + 8;
  }

  /* Returns the height of all tracks, and sets where each begins. Pinned ones stay on top as long
     as they take at most half of the picture. */
  function lay_out() {
    let top = draw.AXIS;
    places = lanes.ordered().map(track => {
      const place = { track, top, height: height_of(track) };
      top += place.height;
      return place;
    });
    const most = draw.AXIS + Math.max(160, window.innerHeight * 0.6) / 2;
    stuck = places.filter(place => lanes.is_pinned(place.track) &&
      place.top + place.height <= most);
    return top + 8;
  }

  // }======

  // {====== Picture ======

  /* Draws the name of a track into the gutter, with what it has. */
  function draw_title(pen, place, y) {
    const track = place.track, soft = page.style('--soft');
    if (track === current) {
      pen.fillStyle = page.style('--chosen');
      pen.fillRect(0, y, view.left, place.height - 1);
    }
    const room = lanes.draw_marks(pen, view, place, { y, is_at_hand: track === hovered ||
      track === current });
    pen.fillStyle = page.style('--text');
    const mark = lanes.mark(view, track);
    const run = track.kind === 'core' || track.name === track.plain ? '' :
      page.tracks.words[page.tracks.runs.indexOf(track.told)];
    const title = run ? track.plain : track.name;
    const name = page.cut(mark + title, Math.floor((view.left - room) / 7.3) - 1);
    pen.fillText(name, 5, y + 11);
    if (lanes.is_found(track)) { pen.fillText(name, 5.6, y + 11); } // bold
    pen.fillStyle = soft;
    if (run && view.left <= 90) { pen.fillText(run, 16, y + 27); }
    if (place.height > 36 && view.left > 90) {
      const [low, high] = track.kind === 'values' ? draw.limits(track) : [];
      const text = low > high ? 'no numbers' : track.kind === 'values' ? `${low} to ${high}` :
        track.is_whole ? page.counted(track.calls, track.word) :
          `${page.count(track.kept)} of ${page.counted(track.calls, 'call')}`;
      pen.fillText(page.cut(run ? `${run}: ${text}` : text, Math.floor(view.left / 7.3) - 3), 16,
        y + 27);
    }
  }

  function draw_track(pen, place, y, marks) {
    const track = place.track;
    pen.fillStyle = page.style('--line');
    pen.fillRect(0, y - 1, view.width, 1);
    pen.save();
    pen.beginPath();
    pen.rect(view.left, y, view.width - view.left, place.height);
    pen.clip();
    if (track.kind === 'lane') {
      draw.strip(pen, view, track, y, marks);
      if (!is_folded(track)) {
        draw.calls(pen, view, track, y + draw.STRIP, marks);
        draw.left_out(pen, view, track, y + place.height - draw.ROW - 4);
      }
    } else if (track.kind === 'core') {
      draw.running(pen, view, track, y);
    } else if (track.kind === 'states') {
      draw.states(pen, view, track, y + 2, marks);
    } else {
      draw.values(pen, view, track, y);
    }
    draw.losses(pen, view, track.told.losses, { y, height: place.height,
      is_first: place === places[0] });
    pen.restore();
    draw_title(pen, place, y);
  }

  function draw_measure(pen, top, height) {
    const span = measuring || page.selected_range();
    if (!span) { return; }
    const from = draw.x(view, Math.min(span.from, span.to));
    const to = draw.x(view, Math.max(span.from, span.to));
    pen.fillStyle = page.style('--accent');
    pen.globalAlpha = 0.18;
    pen.fillRect(from, draw.AXIS, to - from, height);
    pen.globalAlpha = 1;
    pen.fillRect(from, draw.AXIS, 1, height);
    pen.fillRect(to, draw.AXIS, 1, height);
  }

  const surface = page.surface('Timeline. W and S zoom, A and D move, Escape ends the range.',
    (pen, width, top, height) => {
      view.width = width;
      view.left = width < 600 ? 84 : 170;
      const marks = { hits: page.hits(), selected: page.selected(), call: page.chosen_call() };
      for (const place of places) {
        if (place.top + place.height >= top && place.top <= top + height) {
          draw_track(pen, place, place.top - top, marks);
        }
      }
      for (const place of top > 0 ? stuck : []) {
        pen.fillStyle = page.style('--page');
        pen.fillRect(0, place.top, width, place.height);
        draw_track(pen, place, place.top, marks);
      }
      lanes.show_at_hand(current);
      draw.axis(pen, view, height);
      draw_measure(pen, top, height);
      paint_map();
    });

  const map = make('canvas', { className: 'minimap', 'aria-hidden': 'true' });

  function paint_map() {
    const ratio = window.devicePixelRatio || 1, pen = map.getContext('2d');
    page.fit_canvas(map, view.width, MAP);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, view.width, MAP);
    draw.minimap(pen, view, MAP);
  }

  const span = make('output', { className: 'note', id: 'span' });
  const measure = make('div', { className: 'note', id: 'measure' });

  function tell_span() {
    const step = draw.step({ ...view, width: view.width || 1000 }) / 10;
    span.textContent = `${page.clock(first + view.from, step)} to ` +
      `${page.clock(first + view.to, step)}: ${page.time(Math.round(view.to - view.from))}`;
  }

  // }======

  // {====== Moving ======

  /* Shows a span of time; it is kept within the trace. */
  function show_span(from, to, is_step) {
    const wide = Math.min(length, Math.max(to - from, Math.min(length, 10)));
    const begin = Math.max(0, Math.min(from, length - wide));
    const is_all = wide >= length;
    page.set({ from: is_all ? '' : Math.round(begin), to: is_all ? '' : Math.round(begin + wide) },
      !is_step);
  }

  function zoom(factor, x) {
    const at = draw.time(view, x === undefined ? (view.left + view.width) / 2 : x);
    show_span(at - (at - view.from) * factor, at + (view.to - at) * factor);
  }

  function move(part) {
    const by = (view.to - view.from) * part;
    const from = Math.max(0, Math.min(view.from + by, length - (view.to - view.from)));
    show_span(from, from + view.to - view.from);
  }

  /* Returns the call, state or track at a point of the canvas. */
  function at_point(x, y) {
    const is_at = height => one => height >= one.top && height < one.top + one.height;
    const fixed = y - surface.box.scrollTop, top = stuck.find(is_at(fixed));
    const place = top || places.find(is_at(y)), inside = (top ? fixed : y) - (place || {}).top;
    if (!place) { return null; }
    const track = place.track, time = draw.time(view, x), found = { track, time, call: -1 };
    if (x < view.left) {
      return { track, gutter: true, act: inside < 22 ? lanes.act_at(view, track, x) : undefined };
    }
    const depth = Math.floor((inside - draw.STRIP) / draw.ROW);
    if (track.kind === 'lane' && !is_folded(track) && track.rows[depth]) {
      const slack = (view.to - view.from) / (view.width - view.left);
      const [from, to] = track.range(track.rows[depth], time - slack, time + slack);
      if (from < to) { found.call = track.rows[depth][from]; }
    } else if (track.kind === 'states' || track.kind === 'values') {
      found.call = track.start.findLastIndex(start => start <= time);
    }
    return found;
  }

  function words(found) {
    const { track, call, time } = found;
    if (track.kind === 'core' || (call < 0 && track.kind === 'lane')) {
      const step = (view.to - view.from) / (view.width - view.left);
      const wide = Math.max(step, 1), { busy, top } = track.columns(time, time + wide, 1);
      const name = top[0] < 0 ? '' : track.kind === 'core' ? tracks[top[0]].name :
        page.short(top[0]);
      const percent = share => (100 * share).toFixed(0) + ' %';
      const share = track.kind === 'core' ? '\u2248 ' + percent(busy[0]) :
        page.range(track.busy_in(time, time + wide), part => percent(part / wide));
      return [track.name, share + ' busy' + (name ? (track.is_exact ? ', most with ' :
        ', \u2248 most with ') + name.slice(0, 100) : '')];
    }
    if (call < 0) { return [track.name]; }
    if (track.kind === 'values') { return [`${track.name} = ${track.value[call] ?? 'no number'}`]; }
    const long = track.stop[call] - track.start[call];
    return [page.name(track.fn(call)).slice(0, 300), page.time(long) + ' from ' +
      page.clock(first + track.start[call], Math.max(1, long / 1000)), track.name];
  }

  /* States time, calls and busy time of each lane in the selected range. */
  function tell_measure(is_new) {
    const range = page.selected_range();
    measure.replaceChildren();
    if (!range) { return; }
    const { from, to } = range;
    const rows = tracks.filter(track => track.kind === 'lane').map(track => {
      const { calls, busy } = track.measure(from, to);
      const share = page.range(busy, time => page.percent(time, to - from));
      return `${track.name}: ${page.counted_range(calls, track.word)}, ` +
        `${track.told.is_sampled ? '\u2248 ' : ''}busy ` +
        `${page.range(busy, page.time)} (${share})`;
    });
    const { metrics, about } = page.profile, step = Math.max(1, (to - from) / 1000);
    const sums = metrics.map(({ name, total }, m) => `${name} ${page.amount(total, m)}`);
    const filtered = page.profile.is_filtered ? ' with filters' : '';
    const title = `Selected ${page.time(to - from)} from ${page.clock(first + from, step)}`;
    measure.append(make('b', {}, title), ` ${sums.join(', ')}${filtered} `, make('button',
      { type: 'button', onclick: () => page.set({ range: '' }) }, 'All times'),
    ...about ? [make('div', {}, `\u2248: ${about}.`)] : [],
    ...rows.slice(0, 12).map(row => make('div', {}, row)));
    if (is_new) { page.speak(`${title}. ${sums.join(', ')}${filtered}. ${rows[0] || ''}`); }
  }

  // }======

  // {====== Pointer and keys ======

  /* Shows the lane that runs on a core. */
  function see_lane({ track, time, gutter }) {
    const step = (view.to - view.from) / (view.width - view.left);
    const { top } = track.columns(time, time + Math.max(step, 1), 1);
    if (gutter || top[0] < 0) { return; }
    current = tracks[top[0]];
    page.set(lanes.revealed(current));
    see(current);
    surface.refresh();
  }

  function click(x, y) {
    const found = at_point(x, y);
    if (!found) { return; }
    if (found.track.kind === 'core') {
      see_lane(found);
    } else if (found.gutter) {
      const has_icons = found.track === hovered || found.track === current;
      current = found.track;
      (has_icons && found.act ? found.act : fold)(found.track);
      surface.refresh();
    } else if (found.call >= 0 && found.track.kind !== 'values') {
      page.select_call(found.track, found.call);
    }
  }

  page.gestures(surface, {
    click,
    zoom,
    pan: pixels => move(pixels / view.width),
    grab: (event, x) => {
      const time = draw.time(view, x);
      return { from: view.from, to: view.to, time, now: time, measures: event.shiftKey };
    },
    drag: (held, x, factor) => {
      if (held.measures) {
        held.now = draw.time(view, x);
        measuring = { from: held.time, to: held.now };
        surface.refresh();
      } else {
        const wide = (held.to - held.from) * factor;
        const from = held.time - (x - view.left) / (view.width - view.left) * wide;
        show_span(from, from + wide);
      }
    },
    drop: held => {
      measuring = null;
      if (held.measures) { page.set_range(held.time, held.now); }
    },
    hover: event => {
      const found = event && at_point(event.offsetX, event.offsetY + surface.box.scrollTop);
      if (hovered !== (found && found.track)) { surface.refresh(); }
      hovered = found && found.track;
      if (found) {
        page.tip(found.gutter ? [found.track.name, ...found.act === lanes.pin ? ['pin or unpin'] :
          found.act ? ['hide'] : []] : words(found), event.clientX, event.clientY);
      } else {
        page.tip(null);
      }
    }
  });
  surface.canvas.addEventListener('dblclick', event => {
    const found = at_point(event.offsetX, event.offsetY + surface.box.scrollTop);
    if (found && found.call >= 0) {
      const { track, call } = found, long = Math.max(1, track.stop[call] - track.start[call]);
      show_span(track.start[call] - long * 0.1, track.stop[call] + long * 0.1, true);
    }
  });

  // {====== Keys ======

  function see(track) {
    const place = places.find(one => one.track === track), box = surface.box;
    const above = stuck.reduce((sum, one) => sum + one.height, draw.AXIS);
    if (!place || stuck.includes(place)) { return; }
    if (place.top < box.scrollTop + above ||
        place.top + Math.min(place.height, 60) > box.scrollTop + box.clientHeight) {
      box.scrollTop = Math.max(0, place.top - above - 20);
    }
  }

  /* Makes the track before or after the current one the current one. */
  function step_track(by) {
    if (places.length === 0) { return; }
    const at = places.findIndex(place => place.track === current) + by;
    current = places[Math.max(0, Math.min(places.length - 1, at))].track;
    see(current);
    page.speak(words({ track: current, call: -1, time: view.from }).join(', ') +
      (is_folded(current) ? ', folded' : ''));
    surface.refresh();
  }

  /* Selects the next or previous call of its depth, or the first one that is visible. */
  function step_call(by) {
    const chosen = page.chosen_call(), track = chosen ? chosen.track : lane_at_hand();
    const row = track.rows[chosen ? track.depth[chosen.call] - 1 : 0];
    if (!row) { return; }
    const at = chosen ? row.indexOf(chosen.call) + by : track.range(row, view.from, view.to)[0];
    if (row[at] === undefined) { return; }
    current = track;
    page.select_call(track, row[at]);
    const start = track.start[row[at]], wide = view.to - view.from;
    if (start < view.from || start > view.to) { show_span(start - wide / 2, start + wide / 2); }
    page.speak(words({ track, call: row[at], time: start }).join(', '));
  }

  function lane_at_hand() {
    const shown = places.map(place => place.track);
    return shown.includes(current) ? current :
      shown.find(track => track.kind !== 'core') || tracks[0];
  }

  /* Pins or hides the lane at hand; after that the next lane is at hand. */
  function act_on(act) {
    const track = lane_at_hand(), at = places.findIndex(place => place.track === track);
    act(track);
    current = places.some(place => place.track === track) ? track :
      (places[Math.min(at, places.length - 1)] || {}).track || null;
    surface.refresh();
  }

  const keys = { w: () => zoom(0.5), s: () => zoom(2), '+': () => zoom(0.5), '=': () => zoom(0.5),
    '-': () => zoom(2), a: () => move(-0.25), d: () => move(0.25),
    ArrowLeft: () => move(-0.25), ArrowRight: () => move(0.25), 0: () => show_span(0, length),
    ArrowUp: () => step_track(-1), ArrowDown: () => step_track(1), f: () => fold(lane_at_hand()),
    t: () => act_on(lanes.pin), h: () => act_on(lanes.hide), u: lanes.show_all,
    g: lanes.next_order, l: lanes.focus_field, n: () => step_call(1), p: () => step_call(-1),
    m: () => page.set_range(view.from, view.to) };

  surface.canvas.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey) { return; }
    if (event.key === 'Escape' && page.selected_range()) {
      page.set({ range: '' });
      event.preventDefault();
    }
    const act = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (act) {
      act();
      event.preventDefault();
    }
  });
  for (const name of ['pointerenter', 'focus']) {
    surface.canvas.addEventListener(name, page.prepare_range, { once: true });
    map.addEventListener(name, page.prepare_range, { once: true });
  }

  function drag_map(event) {
    const all = { from: 0, to: length, left: view.left, width: view.width };
    const at = draw.time(all, event.offsetX), half = (view.to - view.from) / 2;
    if (event.shiftKey || measuring) {
      measuring = { from: measuring ? measuring.from : at, to: at };
      surface.refresh();
    } else {
      show_span(Math.max(0, at - half), Math.max(0, at - half) + 2 * half);
    }
  }

  map.addEventListener('pointerdown', event => {
    map.setPointerCapture(event.pointerId);
    drag_map(event);
  });
  map.addEventListener('pointermove', event => {
    if (event.buttons) { drag_map(event); }
  });
  map.addEventListener('pointerup', () => {
    if (measuring) { page.set_range(measuring.from, measuring.to); }
    measuring = null;
    surface.refresh();
  });

  // }======

  /* Shows a call with as much time around it, and its lane. */
  page.show_call = function (shown, fn) {
    const track = tracks[shown.track], long = Math.max(shown.long, 10);
    const call = track.find(shown.start, shown.depth, fn);
    page.select(fn, { from: Math.round(Math.max(0, shown.start - long)), call: call < 0 ? '' :
      page.call_word(track, call), fold: folds(track, false), ...lanes.revealed(track),
    to: Math.round(Math.min(length, shown.start + 2 * long)) });
    current = track;
    see(track);
    $('timeline').scrollIntoView();
  };

  function show(changed) {
    if (changed.has('from') || changed.has('to')) {
      view.from = state.from === '' ? 0 : Math.max(0, Math.min(+state.from || 0, length - 1));
      view.to = state.to === '' ? length : Math.min(length, +state.to || length);
      view.to = Math.max(view.to, view.from + Math.min(length, 1));
      tell_span();
    }
    if (changed.has('profile')) { tell_measure(changed.has('range')); }
    if (['fold', 'lanes', 'pin', 'hidden', 'lane'].some(name => changed.has(name))) {
      surface.refresh(lay_out());
    }
    surface.refresh();
  }

  function button(text, label, act) {
    return make('button', { type: 'button', 'aria-label': label, title: label, onclick: act },
      text);
  }

  const { few } = page.data.timeline;
  const variables_left = page.tracks.runs.reduce((sum, run) => sum + run.variables_left, 0);
  const note = [few ? few[0].toUpperCase() + few.slice(1) + ': --set lanes=N.' : '',
    variables_left ? `${page.counted(variables_left, 'variable')} ` +
      `${variables_left === 1 ? 'is' : 'are'} left out.` : '',
    page.told_samples || 'Hatched calls are suspended.',
    tracks.some(track => track.kind === 'lane' && !track.is_exact) ?
      'Where calls or suspensions are left out, numbers are ranges and \u2248 marks an estimate.' :
      ''];
  $('timeline').append(make('div', { className: 'tools' },
    button('+', 'Zoom in', () => zoom(0.5)), button('\u2212', 'Zoom out', () => zoom(2)),
    button('\u2190', 'Earlier', () => move(-0.5)), button('\u2192', 'Later', () => move(0.5)),
    button('All', 'Show all times', () => show_span(0, length, true)),
    button('Select', 'Select the visible range (M)', () => page.set_range(view.from, view.to)),
    ...lanes.tools, span), map,
  surface.box, measure, make('p', { className: 'note' }, note.filter(Boolean).join(' '),
    make('span', { className: 'hint' }, ' Drag to move, Ctrl and the wheel to zoom, Shift and ' +
      'drag to select a range, for which all numbers are computed; ? shows the keys.')));
  if (tracks.length === 0) {
    $('timeline').replaceChildren($('timeline').firstElementChild,
      make('p', { className: 'note' }, 'There is nothing to draw: no lane has any call.'));
  }
  surface.refresh(lay_out());
  /* Goes to the lane after the current one of these. */
  function next_lane(list) {
    current = list[(list.indexOf(current) + 1) % list.length];
    page.set(lanes.revealed(current));
    see(current);
    page.speak(current.name);
    surface.refresh();
    $('timeline').scrollIntoView();
  }

  page.timeline = { view, surface, at_point, places: () => places, zoom, is_folded, next_lane,
    stuck: () => stuck };
  page.parts.push(show);
}(window.page));
