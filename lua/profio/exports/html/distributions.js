/* How the durations of the selected function are distributed: histograms of net, gross and period,
   and a heat map of its calls by time and duration. */
(function (page) {
  'use strict';
  if (!page.tracks) { return; }
  const make = page.make, told = page.data.timeline, tracks = page.tracks.list;
  const titles = { net: 'Net: without callees', gross: 'Gross: with callees',
    period: 'Period: from begin to begin' };
  const distributions = new Map(told.distributions.map(one => [one.function, one]));

  // {====== Histograms ======

  /* Returns the cells of a histogram as objects, with empty ones between them: buckets are a
     quarter of a power of two wide. */
  function cells_of(numbers) {
    const list = [];
    for (let i = 0; i < numbers.length; i += 4) {
      const low = numbers[i], place = bucket(low);
      while (list.length && list[list.length - 1].place + 1 < place && list.length < 200) {
        const next = list[list.length - 1].place + 1;
        list.push({ place: next, low: low_of(next), count: 0 });
      }
      list.push({ place, low, count: numbers[i + 1], track: told.places[numbers[i + 2] - 1],
        start: numbers[i + 3] });
    }
    return list;
  }

  function bucket(low) {
    if (low < 4) { return low; }
    const power = Math.floor(Math.log2(low) + 1e-12);
    return 4 * (power - 1) + Math.floor(low / 2 ** (power - 2)) % 4;
  }

  function low_of(place) {
    return place < 4 ? place : (4 + place % 4) * 2 ** (Math.floor(place / 4) - 1);
  }

  function bar(cell, most, fn, chosen) {
    const high = low_of(cell.place + 1), is_here = chosen !== null && bucket(chosen) === cell.place;
    const text = `${page.count(cell.count)} calls of ${page.time(cell.low)} to ${page.time(high)}` +
      (is_here ? ', this call among them' : '');
    const box = make('button', { type: 'button', className: is_here ? 'bucket here' : 'bucket',
      title: text,
      'aria-label': text + ': show one', disabled: cell.count === 0,
      onclick: () => page.show_call({ track: cell.track, start: cell.start, long: high }, fn) },
    make('span'));
    box.firstChild.style.height = cell.count ? Math.max(2, 100 * cell.count / most) + '%' : 0;
    return box;
  }

  /* Returns the duration of the selected call, or null. */
  function chosen_time(kind, fn) {
    const chosen = page.chosen_call();
    const is_call = chosen && chosen.track.kind === 'lane' && chosen.track.fn(chosen.call) === fn;
    return is_call ? chosen.track.durations(chosen.call)[kind] : null;
  }

  function histogram(kind, data, fn) {
    const chosen = chosen_time(kind, fn);
    const cells = cells_of(data.cells), most = Math.max(...cells.map(cell => cell.count));
    return make('div', { className: 'histogram' }, make('h4', {}, titles[kind]),
      make('div', { className: 'buckets', role: 'group', 'aria-label': titles[kind] },
        ...cells.map(cell => bar(cell, most, fn, chosen))),
      make('div', { className: 'ends note' }, make('span', {}, page.time(cells[0].low)),
        make('span', {}, page.time(low_of(cells[cells.length - 1].place + 1)))),
      make('div', { className: 'note' }, `p50 ${page.time(data.p50)}, p99 ${page.time(data.p99)}` +
        `, max ${page.time(data.max)}`));
  }

  // }======

  // {====== Heat map ======

  const WIDE = 120, HIGH = 32; // columns and rows

  /* Returns the calls of a function that are in the page: starts and durations. */
  function calls_of(fn) {
    const list = [];
    let left = false;
    for (const track of tracks) {
      if (track.kind !== 'lane') { continue; }
      left = left || !track.is_whole;
      track.start.forEach((start, i) => {
        if (track.fn(i) === fn) { list.push([start, track.stop[i] - start]); }
      });
    }
    return { list, left };
  }

  function grid_of(list) {
    const lows = list.map(call => Math.log(Math.max(1, call[1])));
    const low = lows.reduce((a, b) => Math.min(a, b), Infinity);
    const high = Math.max(lows.reduce((a, b) => Math.max(a, b), -Infinity), low + 1e-9);
    const cells = new Uint32Array(WIDE * HIGH);
    list.forEach((call, i) => {
      const column = Math.min(WIDE - 1, Math.floor(call[0] / page.tracks.length * WIDE));
      const row = Math.min(HIGH - 1, Math.floor((lows[i] - low) / (high - low) * HIGH));
      cells[row * WIDE + column]++;
    });
    return { cells, low: Math.exp(low), high: Math.exp(high) };
  }

  /* Draws a ring around the selected call. */
  function ring(pen, fn, low, high) {
    const chosen = page.chosen_call();
    if (!chosen || chosen.track.kind !== 'lane' || chosen.track.fn(chosen.call) !== fn) { return; }
    const { track, call } = chosen, long = Math.max(1, track.stop[call] - track.start[call]);
    const up = (Math.log(long) - Math.log(low)) / (Math.log(high) - Math.log(low));
    const column = Math.floor(track.start[call] / page.tracks.length * WIDE);
    pen.globalAlpha = 1;
    pen.strokeStyle = page.style('--text');
    pen.lineWidth = 3;
    pen.beginPath();
    pen.arc(Math.min(WIDE - 1, column) * 8 + 4,
      (HIGH - 1 - Math.min(HIGH - 1, Math.floor(up * HIGH))) * 6 + 3, 9, 0, 7);
    pen.stroke();
  }

  function heat_map(fn) {
    const { list, left } = calls_of(fn);
    if (list.length < 2) { return make('div'); }
    const { cells, low, high } = grid_of(list), most = cells.reduce((a, b) => Math.max(a, b), 0);
    const text = `Calls by time, and by duration from ${page.time(low)} (bottom) to ` +
      `${page.time(high)} (top)`;
    const canvas = make('canvas', { className: 'heat', width: WIDE * 8, height: HIGH * 6,
      role: 'img', 'aria-label': text }), pen = canvas.getContext('2d');
    cells.forEach((count, i) => {
      if (count === 0) { return; }
      pen.fillStyle = page.style('--accent');
      pen.globalAlpha = 0.15 + 0.85 * Math.log(1 + count) / Math.log(1 + most);
      pen.fillRect(i % WIDE * 8, (HIGH - 1 - Math.floor(i / WIDE)) * 6, 8, 6);
    });
    ring(pen, fn, low, high);
    canvas.addEventListener('click', event => {
      const wide = page.tracks.length / WIDE;
      const column = Math.floor(event.offsetX / canvas.clientWidth * WIDE);
      page.set({ from: Math.round(column * wide), to: Math.round((column + 1) * wide) });
      page.$('timeline').scrollIntoView();
    });
    return make('div', {}, make('h4', {}, 'Time by duration'), canvas, make('p',
      { className: 'note' }, text + (left ? '; of some lanes only their longest calls' : '') +
      '. A click shows this time in the timeline.'));
  }

  // }======

  page.about.push(fn => {
    const data = distributions.get(fn), part = make('div', { id: 'distribution' });
    const worst = page.worst.get(fn);
    if (!data && !worst) { return part; }
    part.append(make('h3', {}, 'Durations'));
    if (worst) {
      part.append(make('button', { type: 'button', onclick: () => page.show_call(worst, fn) },
        `Longest call: ${page.time(worst.long)} at ` +
        page.clock(page.tracks.first + worst.start, Math.max(1, worst.long / 100))));
    }
    if (data) {
      part.append(make('div', { className: 'histograms' }, ...Object.keys(titles).filter(kind =>
        data[kind]).map(kind => histogram(kind, data[kind], fn))));
    } else {
      part.append(make('p', { className: 'note' }, 'The histograms of functions with less net ' +
        'time are left out of this page: --set size=N.'));
    }
    part.append(heat_map(fn));
    return part;
  });
}(window.page));
