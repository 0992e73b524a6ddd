/* The selected call: its times, the calls around it, and where other parts show it. */
(function (page) {
  'use strict';
  if (!page.tracks) { return; }
  const make = page.make;

  /* Returns the functions around the selected call and its own, or null. */
  page.call_path = function () {
    const chosen = page.chosen_call();
    return chosen && chosen.track.kind === 'lane' ? chosen.track.path(chosen.call) : null;
  };

  function facts({ track, call }) {
    const list = make('dl'), start = track.start[call], long = track.stop[call] - start;
    const add = (name, text) => list.append(make('div', {}, make('dt', {}, name),
      make('dd', {}, text)));
    add(track.kind === 'lane' ? 'lane' : 'variable', track.name);
    add('begin', page.clock(page.tracks.first + start, Math.max(1, long / 1000)));
    const has_times = track.kind === 'lane' && !track.told.is_sampled;
    add('from begin to end', (track.told.is_sampled ? '\u2248 ' : '') + page.time(long));
    for (const [name, time] of Object.entries(has_times ? track.durations(call) : {})) {
      if (time !== null) { add(name, page.time(time)); }
    }
    return list;
  }

  function stack_of(path) {
    const few = path.length > 12 ? [...path.slice(0, 3), null, ...path.slice(-8)] : path;
    return make('div', { className: 'crumbs', role: 'group', 'aria-label': 'Open calls' },
      ...few.map(fn => fn === null ? make('span', {}, '\u2026') : make('button', { type: 'button',
        title: page.name(fn).slice(0, 2000), onclick: () => page.select(fn, { call:
          page.state.call }) }, page.cut(page.short(fn), 32))));
  }

  function jumps({ track, call }, path) {
    const start = track.start[call], long = track.stop[call] - start, fn = track.fn(call);
    const list = [make('button', { type: 'button', onclick: () => page.show_call({ start, long,
      track: track.place, depth: track.depth[call] }, fn) }, 'Show it in the timeline')];
    if (path) {
      list.push(make('button', { type: 'button', onclick: () => {
        page.set({ order: 'heavy', zoom: path.join('.'), part: '' });
        page.$('flames').scrollIntoView();
      } }, 'Show its stack in the flame graph'), make('button', { type: 'button', onclick: () =>
        page.copy_stack(path) }, 'Copy stack'));
    }
    return make('div', { className: 'tools' }, ...list);
  }

  page.about.push(() => {
    const chosen = page.chosen_call(), part = make('div', { id: 'call' });
    if (!chosen) { return part; }
    const path = page.call_path();
    part.append(make('h3', {}, 'This call'), facts(chosen));
    if (path && path.length > 1) { part.append(stack_of(path)); }
    part.append(jumps(chosen, path));
    return part;
  });
}(window.page));
