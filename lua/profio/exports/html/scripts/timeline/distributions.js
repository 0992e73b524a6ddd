/* How the durations of the selected function are distributed: histograms of net, gross and period,
   and a heat map of its calls by time and duration. */
(function (page) {
  'use strict';
  if (!page.tracks) { return; }
  const make = page.make;
  const titles = { net: 'Net: without callees', gross: 'Gross: with callees',
    period: 'Period: from begin to begin' };
  const distributions = page.tracks.runs.map(told =>
    new Map(told.distributions.map(one => [one.function, one])));

  // {====== Histograms ======

  /* Returns the cells of a histogram as objects: buckets are a quarter of a power of two wide. */
  function cells_of(numbers, told) {
    const list = [];
    for (let i = 0; i < numbers.length; i += 4) {
      list.push({ place: bucket(numbers[i]), count: numbers[i + 1],
        track: track_of(told, numbers[i + 2]), start: numbers[i + 3] });
    }
    return list;
  }

  /* Returns cells with empty ones between them. */
  function filled(cells) {
    const list = [];
    for (const cell of cells) {
      while (list.length && list[list.length - 1].place + 1 < cell.place && list.length < 200) {
        list.push({ place: list[list.length - 1].place + 1, count: 0 });
      }
      list.push(cell);
    }
    return list;
  }

  /* Returns the distribution of durations of calls, of which the page has each, by nearest rank. */
  function distribution_of(calls) {
    const values = Float64Array.from(calls, call => call.value).sort(), cells = new Map();
    for (const { value, track, start } of calls) {
      const place = bucket(value), cell = cells.get(place);
      if (cell) { cell.count++; } else { cells.set(place, { place, count: 1, track, start }); }
    }
    const ranked = share => values[Math.max(0, Math.ceil(share * values.length) - 1)];
    return { cells: [...cells.values()].sort((a, b) => a.place - b.place), p50: ranked(0.5),
      p99: ranked(0.99), max: ranked(1), about: page.profile.about ? ['p50', 'p99'] : [] };
  }

  function track_of(told, number) { return page.place_of(told, told.places[number - 1]); }

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
    const low = low_of(cell.place);
    const text = page.counted(cell.count, 'call') + ` of ${page.time(low)} to ${page.time(high)}` +
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
  function chosen_time(kind, fn, told) {
    const chosen = page.chosen_call();
    const is_call = chosen && chosen.track.kind === 'lane' && chosen.track.told === told &&
      chosen.track.fn(chosen.call) === fn;
    return is_call ? chosen.track.durations(chosen.call)[kind] : null;
  }

  function histogram(kind, data, fn, told) {
    const chosen = chosen_time(kind, fn, told);
    const quantile = name => `${name} ${data.about.includes(name) ? 'about ' : ''}` +
      page.time(data[name]);
    const cells = filled(data.cells), most = Math.max(...cells.map(cell => cell.count));
    return make('div', { className: 'histogram' }, make('h4', {}, titles[kind]),
      make('div', { className: 'buckets', role: 'group', 'aria-label': titles[kind] },
        ...cells.map(cell => bar(cell, most, fn, chosen))),
      make('div', { className: 'ends note' }, make('span', {}, page.time(low_of(cells[0].place))),
        make('span', {}, page.time(low_of(cells[cells.length - 1].place + 1)))),
      make('div', { className: 'note' }, `${quantile('p50')}, ${quantile('p99')}, ` +
        `max ${page.time(data.max)}`));
  }

  // }======

  // {====== Heat map ======

  /* Returns the cells of the heat map of a function, of all of its calls: column, bucket, count,
     and track and start of one call. */
  function heat_cells(numbers, told) {
    const list = [];
    for (let i = 0, column = 0; i < numbers.length; i += 5) {
      column += numbers[i];
      list.push({ column, bucket: numbers[i + 1], count: numbers[i + 2],
        track: track_of(told, numbers[i + 3]),
        start: column * told.heat_width + numbers[i + 4] });
    }
    return list;
  }

  /* Returns the cells of the heat map of calls. */
  function heat_of(calls, told) {
    const cells = new Map();
    for (const { value, track, start } of calls) {
      const column = Math.floor(start / told.heat_width), place = bucket(value);
      const key = column * 1000 + place, cell = cells.get(key);
      if (cell) {
        cell.count++;
      } else {
        cells.set(key, { column, bucket: place, count: 1, track, start });
      }
    }
    return [...cells.values()];
  }

  /* Draws a ring around the cell of the selected call. */
  function ring(pen, fn, high, told) {
    const gross = chosen_time('gross', fn, told), chosen = page.chosen_call();
    if (gross === null) { return; }
    const column = Math.floor(chosen.track.start[chosen.call] / told.heat_width);
    pen.globalAlpha = 1;
    pen.strokeStyle = page.style('--text');
    pen.lineWidth = 3;
    pen.beginPath();
    pen.arc(column * 8 + 4, (high - 1 - bucket(gross)) * 8 + 4, 9, 0, 7);
    pen.stroke();
  }

  function heat_map(fn, cells, told) {
    const low = Math.min(...cells.map(cell => cell.bucket));
    const high = Math.max(...cells.map(cell => cell.bucket)) + 1;
    const most = Math.max(...cells.map(cell => cell.count));
    const wide = Math.floor(told.length / told.heat_width) + 1, tall = high - low;
    const text = `All calls by time, and by duration from ${page.time(low_of(low))} (bottom) to ` +
      `${page.time(low_of(high))} (top)`;
    const canvas = make('canvas', { className: 'heat', width: wide * 8, height: tall * 8,
      role: 'img', 'aria-label': text }), pen = canvas.getContext('2d');
    const paint = () => {
      pen.clearRect(0, 0, canvas.width, canvas.height);
      for (const cell of cells) {
        pen.fillStyle = page.style('--accent');
        pen.globalAlpha = 0.15 + 0.85 * Math.log(1 + cell.count) / Math.log(1 + most);
        pen.fillRect(cell.column * 8, (high - 1 - cell.bucket) * 8, 8, 8);
      }
      ring(pen, fn, high, told);
    };
    paint();
    canvas.addEventListener('redraw', paint);
    const at = event => {
      const column = Math.floor(event.offsetX / canvas.clientWidth * wide);
      const row = Math.floor(event.offsetY / canvas.clientHeight * tall);
      return cells.find(cell => cell.column === column && cell.bucket === high - 1 - row);
    };
    canvas.addEventListener('pointermove', event => {
      const cell = at(event);
      page.tip(cell && [page.counted(cell.count, 'call'), `of ${page.time(low_of(cell.bucket))} ` +
        `to ${page.time(low_of(cell.bucket + 1))}`], event.clientX, event.clientY);
    });
    canvas.addEventListener('pointerleave', () => page.tip(null));
    canvas.addEventListener('click', event => {
      const cell = at(event);
      if (cell) {
        page.show_call({ track: cell.track, start: cell.start, long: low_of(cell.bucket + 1) }, fn);
      }
    });
    return make('div', {}, make('h4', {}, 'Time by duration'), canvas, make('p',
      { className: 'note' }, text + '. A click shows one of these calls in the timeline.'));
  }

  // }======

  /* Returns the distributions of a function in one run as the page has them; undefined: it does
     not. */
  function stored(fn, told, run) {
    const found = distributions[run].get(fn), kinds = {};
    for (const kind of found ? Object.keys(titles).filter(name => found[name]) : []) {
      kinds[kind] = { ...found[kind], cells: cells_of(found[kind].cells, told) };
    }
    return found && { kinds, heat: heat_cells(found.heat, told) };
  }

  /* Returns those of the calls in a range. */
  function computed(fn, told, range) {
    const found = page.durations_in(fn, told, range), kinds = {};
    for (const kind of Object.keys(titles).filter(name => found[name].length > 0)) {
      kinds[kind] = distribution_of(found[kind]);
    }
    return { kinds, heat: heat_of(found.gross, told) };
  }

  /* Returns the durations of a function in one run. */
  function durations_of(fn, told, run) {
    if (told.is_sampled) { return ''; }
    const range = page.selected_range(), part = make('div');
    const data = range ? computed(fn, told, range) : stored(fn, told, run);
    const worst = page.worst_of(run, fn);
    if (!data && !worst) { return part; }
    part.append(make('h3', {}, 'Durations' + (page.tracks.runs.length > 1 ?
      ' ' + page.tracks.words[run] : '')));
    if (worst) {
      part.append(make('button', { type: 'button', onclick: () => page.show_call(worst, fn) },
        `Longest call: ${page.time(worst.long)} at ` +
        page.clock(page.tracks.first + worst.start, Math.max(1, worst.long / 100))));
    }
    if (data) {
      part.append(make('div', { className: 'histograms' }, ...Object.keys(data.kinds).map(kind =>
        histogram(kind, data.kinds[kind], fn, told))));
      if (data.heat.length > 1) { part.append(heat_map(fn, data.heat, told)); }
    } else {
      part.append(make('p', { className: 'note' }, 'The distributions of functions with less net ' +
        'time are left out of this page: --set size=N.'));
    }
    return part;
  }

  page.about.push(fn => make('div', { id: 'distribution' }, ...page.tracks.runs.map((told, run) =>
    durations_of(fn, told, run)).reverse()));
}(window.page));
