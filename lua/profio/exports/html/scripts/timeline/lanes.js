/* Which lanes the timeline shows, and in which order: pinned ones first, without hidden ones and
   those whose names do not have a text, perhaps below the cores on which they run most. The state
   has the places of pinned and hidden tracks. */
(function (page) {
  'use strict';
  if (!page.tracks) { return; }
  const { list: tracks, cores, length } = page.tracks, state = page.state, make = page.make;
  const MANY = 8; // lanes that are open at first
  const rank = { lane: 0, states: 1, values: 2 };
  const word = tracks.every(track => track.kind === 'lane') ? 'lane' : 'track';
  const lanes = page.lanes = { has_cores: cores.some(core => core.number >= 0) };

  // {====== Order ======

  function places(name) {
    return new Set(state[name].split('.').filter(text => text !== '').map(Number));
  }

  function written(set) { return [...set].sort((a, b) => a - b).join('.'); }

  function has_text(track) {
    return track.name.toLowerCase().includes(state.lane.trim().toLowerCase());
  }

  function busy_of(track) {
    track.share = track.share === undefined && track.kind === 'lane'
      ? track.columns(0, length, 1).busy[0] : track.share;
    return track.share || 0;
  }

  /* Returns the core on which a lane was busy for the longest time; undefined: it is not known. */
  function core_of(lane) {
    const { core, core_at } = lane.data, { core_start } = lane, sums = new Map();
    if (!core_at) { return core; }
    if (lane.home === undefined) {
      core_at.forEach((at, i) => {
        const [least, most] = lane.busy_in(core_start[i], core_start[i + 1] || lane.told.length);
        sums.set(at, (sums.get(at) || 0) + least + most);
      });
      lane.home = [...sums].reduce((best, one) => one[1] > best[1] ? one : best)[0];
    }
    return lane.home;
  }

  /* Returns tracks with each core above its lanes, the busiest first; then those without a core. */
  function below_cores(list) {
    const left = new Set(list), found = [];
    for (const core of cores) {
      const its = list.filter(track => track.kind === 'lane' && track.told === core.told &&
        core_of(track) === core.number).sort((a, b) => busy_of(b) - busy_of(a));
      if (its.length > 0 || has_text(core)) { found.push(core, ...its); }
      for (const track of its) { left.delete(track); }
    }
    return [...found, ...left];
  }

  /* Returns the tracks and cores that are shown, from top to bottom. */
  lanes.ordered = function () {
    const pinned = places('pin'), hidden = places('hidden');
    const list = tracks.filter(track => !hidden.has(track.place) &&
      (pinned.has(track.place) || has_text(track)));
    if (state.lanes === 'time') {
      list.sort((a, b) => rank[a.kind] - rank[b.kind] || busy_of(b) - busy_of(a));
    }
    const rest = list.filter(track => !pinned.has(track.place));
    return [...list.filter(track => pinned.has(track.place)),
      ...state.lanes === 'core' && lanes.has_cores ? below_cores(rest) :
        [...cores.filter(has_text), ...rest]];
  };

  // }======

  // {====== Folded, pinned and hidden ======

  /* Lanes after the first ones are folded at first; the state has the tracks that are not as at
     first. */
  const late = new Set(tracks.filter(track => track.kind === 'lane').slice(MANY));
  let unlike = new Set();

  lanes.is_folded = track => late.has(track) !== unlike.has(track.place);

  /* Returns the field of the state with which a track is folded, or is not. */
  lanes.folds = function (track, closed) {
    const list = new Set(unlike);
    if (late.has(track) === closed) { list.delete(track.place); } else { list.add(track.place); }
    return written(list);
  };

  lanes.fold = function (track) {
    if (is_track(track)) { page.set({ fold: lanes.folds(track, !lanes.is_folded(track)) }); }
  };

  lanes.is_pinned = track => places('pin').has(track.place);

  function toggled(name, track) {
    const set = places(name);
    if (!set.delete(track.place)) { set.add(track.place); }
    return written(set);
  }

  function is_track(track) { return Boolean(track) && track.kind !== 'core'; }

  /* Pins a lane, or no longer. */
  lanes.pin = function (track) {
    if (!is_track(track)) { return; }
    page.set({ pin: toggled('pin', track) });
    page.speak(`${track.name} ${lanes.is_pinned(track) ? 'stays on top' : 'is not pinned'}`);
  };

  lanes.hide = function (track) {
    if (!is_track(track)) { return; }
    page.set({ hidden: toggled('hidden', track),
      ...lanes.is_pinned(track) ? { pin: toggled('pin', track) } : {} });
    page.speak(`${track.name} is hidden, ${page.counted(places('hidden').size, word)} hidden`);
  };

  lanes.show_all = function () {
    page.set({ hidden: '', lane: '' });
    page.speak(`all ${page.counted(tracks.length, word)} shown`);
  };

  /* Returns the fields of the state with which a lane is shown. */
  lanes.revealed = track => ({
    hidden: places('hidden').has(track.place) ? toggled('hidden', track) : state.hidden,
    lane: has_text(track) ? state.lane : '' });

  // }======

  // {====== Search ======

  let known = { key: null, found: [] };

  /* Returns the tracks whose names the search of the page finds. */
  lanes.found = function () {
    const key = `${state.pattern} ${state.find}`;
    if (known.key !== key) {
      known = { key, found: [] };
      try {
        const test = page.search_test();
        known.found = test ? tracks.filter(track => test(track.name)) : [];
      } catch {
        known.found = []; // the search states the error
      }
    }
    return known.found;
  };

  lanes.is_found = track => lanes.found().includes(track);

  lanes.found_text = () => `${page.count(lanes.found().length)} of ` +
    page.counted(tracks.length, word);

  // }======

  // {====== Gutter ======

  const ICON = 20; // width of pin and of hide, at the end of the gutter; narrow ones have none

  function has_icons(view, track) { return view.left > 90 && is_track(track); }

  /* Returns what a click at the end of the gutter does, or nothing. */
  lanes.act_at = (view, track, x) => has_icons(view, track) ?
    [lanes.hide, lanes.pin][Math.floor((view.left - x) / ICON)] : undefined;

  /* Returns the mark before the name of a track. */
  lanes.mark = (view, track) => !is_track(track) ? '  ' :
    lanes.is_pinned(track) && !has_icons(view, track) ? '\u25b2 ' :
      lanes.is_folded(track) ? '\u25b8 ' : '\u25be ';

  /* Draws whether a track is found or pinned; at the one at hand the icons to pin and hide it.
     Returns the width that this takes at the end of the gutter. */
  lanes.draw_marks = function (pen, view, { track, height }, { y, is_at_hand }) {
    if (lanes.is_found(track)) {
      pen.fillStyle = page.style('--accent');
      pen.fillRect(0, y, 3, height - 1);
    }
    if (!has_icons(view, track)) { return 0; }
    const is_pinned = lanes.is_pinned(track), room = is_at_hand ? 2 * ICON : is_pinned ? ICON : 0;
    pen.fillStyle = page.style('--soft');
    if (room) { pen.fillText(is_pinned ? '\u25b2' : '\u25b3', view.left - room + 4, y + 11); }
    if (is_at_hand) { pen.fillText('\u00d7', view.left - ICON + 6, y + 11); }
    return room;
  };

  // }======

  // {====== Tools ======

  let at_hand = null;
  const orders = [['name', 'By name'], ['time', 'By time'],
    ...lanes.has_cores ? [['core', 'By core']] : []];
  const order = page.switch('Order of lanes', orders, value => page.set({ lanes: value }));
  const field = make('input', { type: 'search', id: 'filter-lanes', placeholder: 'Filter lanes',
    'aria-label': 'Show lanes whose names have this text', oninput: () =>
      page.set({ lane: field.value }, true) });
  const count = make('output', { className: 'note' });
  const pin = make('button', { type: 'button', onclick: () => lanes.pin(at_hand) }, 'Pin');
  const hide = make('button', { type: 'button', onclick: () => lanes.hide(at_hand) }, 'Hide');
  const hidden_list = make('span', { className: 'tools' });
  const summary = make('summary', { className: 'note' });
  const hidden = make('details', { id: 'hidden-lanes', hidden: true }, summary, hidden_list);

  field.addEventListener('keydown', event => {
    if (event.key === 'Escape') {
      event.preventDefault();
      page.set({ lane: '' });
      field.value = '';
      document.querySelector('#timeline .surface canvas').focus();
    }
  });

  /* Shows the lane to which the buttons apply. */
  lanes.show_at_hand = function (track) {
    at_hand = is_track(track) ? track : null;
    for (const [button, text] of [[pin, at_hand && lanes.is_pinned(at_hand) ? 'Unpin' : 'Pin'],
      [hide, 'Hide']]) {
      const label = at_hand ? `${text} ${page.cut(at_hand.name, 24)}` : text + ' lane';
      if (button.textContent !== label) { button.textContent = label; }
      button.disabled = !at_hand;
      button.title = at_hand ? '' : 'First click the name of a lane, or go to it by \u2191 \u2193';
    }
  };

  lanes.focus_field = () => field.focus();

  lanes.next_order = function () {
    const at = orders.findIndex(([value]) => value === state.lanes);
    const [value, text] = orders[(at + 1) % orders.length];
    page.set({ lanes: value });
    page.speak(`lanes ${text.toLowerCase()}`);
  };

  function show_hidden() {
    const list = tracks.filter(track => places('hidden').has(track.place));
    hidden.hidden = list.length === 0;
    summary.textContent = `${page.count(list.length)} hidden: show`;
    hidden_list.replaceChildren(...list.map(track => make('button', { type: 'button',
      'aria-label': `Show ${track.name}`, onclick: () => {
        page.set({ hidden: toggled('hidden', track) });
        (hidden.hidden ? field : summary).focus();
      } }, page.cut(track.name, 32))), ...list.length > 1 ? [make('button', { type: 'button',
      onclick: () => page.set({ hidden: '' }) }, 'Show all')] : []);
  }

  page.parts.push(changed => {
    unlike = places('fold');
    if (!['lanes', 'pin', 'hidden', 'lane'].some(name => changed.has(name))) { return; }
    order.show(state.lanes);
    if (document.activeElement !== field) { field.value = state.lane; }
    const shown = lanes.ordered().filter(is_track).length;
    count.textContent = shown === tracks.length ? '' :
      `${page.count(shown)} of ${page.counted(tracks.length, word)}`;
    show_hidden();
  });
  lanes.tools = tracks.length > 1 ? [order, field, count, pin, hide, hidden] : [];

  // }======
}(window.page));
