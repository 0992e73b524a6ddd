/* How the parts of the timeline are drawn: axis, lanes, states, values, minimap. A `view` has from
   and to (ns), left (width of the gutter) and width in pixels. */
(function (page) {
  'use strict';
  if (!page.tracks) { return; }
  const { list: tracks, first, length } = page.tracks;
  const draw = page.pictures = { AXIS: 24, STRIP: 20, ROW: 16, PLOT: 44, MOST_ROWS: 64 };
  const PAUSED = 0.28, HATCHED = 0.45; // parts of colours where calls are suspended

  draw.x = (view, time) =>
    view.left + (time - view.from) / (view.to - view.from) * (view.width - view.left);
  draw.time = (view, x) =>
    view.from + (x - view.left) / (view.width - view.left) * (view.to - view.from);

  const SECOND = 1e9; // ns
  const long_steps = [60, 120, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400];

  /* Returns the distance of the marks of an axis in ns: 1, 2 or 5 times a power of ten, and of long
     spans a number of minutes, hours or days. */
  draw.step = function (view) {
    const least = (view.to - view.from) / Math.max(1, (view.width - view.left) / 110);
    const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
    const long = view.to - view.from >= 1200 * SECOND && least <= 86400 * SECOND;
    return long ? long_steps.find(step => step * SECOND >= least) * SECOND :
      [1, 2, 5, 10].map(n => n * power).find(step => step >= least) || power * 10;
  };

  const FAR = 20; // spans from time 0 from which on marks are relative to a base

  /* Returns the time to which the marks of an axis are relative: 0, or one with few digits. */
  function base_of(view) {
    const span = view.to - view.from, power = 10 ** Math.ceil(Math.log10(Math.max(span, 1)));
    return Math.abs(view.from + first) < FAR * span ? 0 :
      Math.floor((view.from + first) / power) * power;
  }

  draw.axis = function (pen, view, height) {
    const step = draw.step(view), span = view.to - view.from, base = base_of(view);
    pen.fillStyle = page.style('--page');
    pen.fillRect(0, 0, view.width, draw.AXIS);
    pen.fillStyle = page.style('--soft');
    if (base !== 0) { pen.fillText(page.clock(base, span), 2, 10); }
    const begin = Math.ceil((view.from + first) / step) * step - first;
    for (let t = begin; t <= view.to; t += step) {
      const x = Math.round(draw.x(view, t)), time = first + t - base;
      const text = (base !== 0 && time >= 0 ? '+' : '') + page.mark(time, span, step);
      pen.globalAlpha = 0.25;
      pen.fillRect(x, draw.AXIS - 6, 1, height);
      pen.globalAlpha = 1;
      if (x + 3 + pen.measureText(text).width < view.width) { pen.fillText(text, x + 3, 10); }
    }
  };

  function hatch(pen, x, y, wide, high, gap) {
    pen.save();
    pen.beginPath();
    pen.rect(x, y, wide, high);
    pen.clip();
    pen.beginPath();
    for (let at = x - high; at < x + wide; at += gap) {
      pen.moveTo(at, y + high);
      pen.lineTo(at + high, y);
    }
    pen.stroke();
    pen.restore();
  }

  // {====== Lanes ======

  /* Draws how busy a lane was, in the colours of what ran. */
  draw.strip = function (pen, view, track, y, marks) {
    const wide = Math.max(1, Math.floor(view.width - view.left));
    const { busy, top } = track.columns(view.from, view.to, wide);
    for (let n = 0; n < wide; n++) {
      if (busy[n] > 0) {
        const high = Math.max(1, busy[n] * (draw.STRIP - 4));
        pen.fillStyle = top[n] < 0 ? page.style('--bar') : page.color(top[n]);
        pen.globalAlpha = marks.hits && top[n] >= 0 && !marks.hits[top[n]] ? 0.3 : 1;
        pen.fillRect(view.left + n, y + draw.STRIP - 2 - high, 1, high);
      }
    }
    pen.globalAlpha = 1;
  };

  /* Draws the box of a call; its text is drawn later, above all boxes. */
  function draw_call(pen, view, call, y, marks, texts) {
    const x = Math.max(call.x, view.left - 1), right = Math.min(call.right, view.width + 1);
    const wide = Math.max(0.6, right - x - (right - x > 3 ? 0.6 : 0));
    const faded = marks.hits && !marks.hits[call.fn];
    const fill = page.fill(call.color || page.color(call.fn), faded ? 0.3 : 1);
    pen.fillStyle = fill;
    pen.fillRect(x, y, wide, draw.ROW - 1);
    const pale = wide > 2 && call.pauses ? draw_pauses(pen, view, call, y, fill) : [];
    if (call.fn === marks.selected && wide > 1) {
      pen.strokeStyle = page.style(call.is_chosen ? '--accent' : '--text');
      pen.lineWidth = call.is_chosen ? 3 : 1.5;
      pen.strokeRect(x + 1, y + 1, Math.max(1, wide - 2), draw.ROW - 3);
    }
    if (wide > 20) {
      texts.push({ text: call.text || page.brief(call.fn, wide), x, y, wide, fill, pale });
    }
  }

  /* Draws where a call is suspended: its box is pale and hatched. Returns these parts, x and width
     each. */
  function draw_pauses(pen, view, call, y, fill) {
    const [from, to] = call.track.pauses_in(call.start, call.stop), parts = [];
    for (let i = from; i < to; i++) {
      const x = Math.max(view.left, draw.x(view, Math.max(call.start, call.track.pause[i])));
      const right = draw.x(view, Math.min(call.stop, call.track.pause_stop[i]));
      const wide = Math.min(view.width, right) - x;
      if (wide < 0.5) { continue; }
      pen.fillStyle = page.fill(fill, PAUSED);
      pen.fillRect(x, y, wide, draw.ROW - 1);
      pen.strokeStyle = page.fill(page.style('--soft'), HATCHED);
      pen.lineWidth = 1;
      if (wide > 3) { hatch(pen, x, y, wide, draw.ROW - 1, 7); }
      parts.push([x, wide]);
    }
    return parts;
  }

  /* Writes a text where its box is pale, or everywhere else, in the ink for the fill there. */
  function write_part(pen, { text, x, y, wide, pale, fill }, left, is_pale) {
    const at = Math.max(x, left);
    pen.save();
    pen.beginPath();
    for (const [begin, long] of pale) { pen.rect(begin, y, long, draw.ROW); }
    if (!is_pale) { pen.rect(x, y, wide, draw.ROW); }
    pen.clip('evenodd');
    pen.fillStyle = page.ink(is_pale ? page.fill(fill, PAUSED) : fill);
    page.label(pen, text, at, y + draw.ROW / 2, wide - (at - x));
    pen.restore();
  }

  function draw_texts(pen, view, texts) {
    for (const one of texts) {
      const { text, x, y, wide, fill } = one, at = Math.max(x, view.left);
      if (one.pale.length > 0) {
        write_part(pen, one, view.left, false);
        write_part(pen, one, view.left, true);
      } else {
        pen.fillStyle = page.ink(fill);
        page.label(pen, text, at, y + draw.ROW / 2, wide - (at - x));
      }
    }
  }

  const is_chosen = (marks, track, i) =>
    Boolean(marks.call) && marks.call.track === track && marks.call.call === i;

  /* Draws the calls of a lane; of calls that share a pixel only the first one. */
  draw.calls = function (pen, view, track, y, marks) {
    const texts = [];
    track.rows.slice(0, draw.MOST_ROWS).forEach((row, depth) => {
      const [from, to] = track.range(row, view.from, view.to);
      let last = -Infinity;
      for (let n = from; n < to; n++) {
        const i = row[n], start = track.start[i], stop = track.stop[i];
        const x = draw.x(view, start), right = draw.x(view, stop);
        if (right > last + 0.6) {
          draw_call(pen, view, { x, right, fn: track.fn(i), start, stop, track,
            pauses: track.pause.length > 0, is_chosen: is_chosen(marks, track, i) },
          y + depth * draw.ROW, marks, texts);
          last = Math.max(right, x + 0.6);
        }
      }
    });
    draw_texts(pen, view, texts);
  };

  /* States how many calls of the lane are left out of the page, and where. */
  draw.left_out = function (pen, view, track, y) {
    const count = track.left_in(view.from, view.to), gaps = track.gaps_in(view.from, view.to);
    if (count[1] === 0) { return; }
    pen.strokeStyle = page.style('--soft');
    pen.globalAlpha = 0.4;
    for (let i = 0; i < gaps.length; i += 2) {
      const x = draw.x(view, gaps[i]);
      hatch(pen, x, y, Math.max(1, draw.x(view, gaps[i + 1]) - x), draw.ROW - 2, 6);
    }
    pen.globalAlpha = 1;
    const text = page.counted_range(count, 'call') + (count[1] === 1 ? ' is' : ' are') +
      ' left out here (hatched): --set size=N';
    pen.fillStyle = page.style('--page');
    pen.fillRect(view.left + 4, y, text.length * 7.25 + 8, draw.ROW - 2);
    pen.fillStyle = page.style('--soft');
    pen.fillText(text, view.left + 8, y + draw.ROW / 2 - 1);
  };

  // }======

  // {====== Variables ======

  let state_ranks = null;

  /* Returns the name of a state without that of its variable. */
  function state_text(track, fn) {
    const name = page.name(fn);
    return name.startsWith(track.plain + '=') ? name.slice(track.plain.length + 1) : name;
  }

  /* Returns the colour of a state, the same for all variables: states get the ranks of their
     times. */
  function state_color(text) {
    if (!state_ranks) {
      const times = new Map();
      for (const track of tracks.filter(one => one.kind === 'states')) {
        track.start.forEach((start, i) => {
          const name = state_text(track, track.fn(i));
          times.set(name, (times.get(name) || 0) + track.stop[i] - start);
        });
      }
      state_ranks = page.ranks(times);
    }
    return page.ranked_color(state_ranks.get(text), text);
  }

  draw.states = function (pen, view, track, y, marks) {
    let last = -Infinity;
    const texts = [];
    track.start.forEach((start, i) => {
      const stop = track.stop[i];
      if (stop < view.from || start > view.to) { return; }
      const x = draw.x(view, start), right = draw.x(view, stop);
      if (right > last + 0.6) {
        const fn = track.fn(i), text = state_text(track, fn);
        draw_call(pen, view, { x, right, fn, text, color: state_color(text),
          is_chosen: is_chosen(marks, track, i) }, y, marks, texts);
        last = Math.max(right, x + 0.6);
      }
    });
    draw_texts(pen, view, texts);
  };

  /* Returns the least and greatest value of a variable. */
  draw.limits = function (track) {
    if (!track.limits) {
      const has_value = value => value !== null; // of writes without a number there is none
      const lows = (track.is_whole ? track.value : track.data.low).filter(has_value);
      const highs = (track.is_whole ? track.value : track.data.high).filter(has_value);
      track.limits = [lows.reduce((a, b) => Math.min(a, b), Infinity),
        highs.reduce((a, b) => Math.max(a, b), -Infinity)];
    }
    return track.limits;
  };

  /* Draws the values of a variable as a line of steps, or their range in intervals. */
  draw.values = function (pen, view, track, y) {
    const [low, high] = draw.limits(track), tall = draw.PLOT - 8;
    const at = value => y + 4 + tall - (high > low ? (value - low) / (high - low) : 0.5) * tall;
    pen.strokeStyle = pen.fillStyle = page.style('--accent');
    pen.lineWidth = 1.3;
    if (!track.is_whole) {
      track.data.low.forEach((least, i) => {
        const x = draw.x(view, i * track.interval), right = draw.x(view, (i + 1) * track.interval);
        if (least !== null && right > view.left && x < view.width) {
          pen.fillRect(Math.max(x, view.left), at(track.data.high[i]), Math.max(1, right - x),
            Math.max(1, at(least) - at(track.data.high[i])));
        }
      });
      return;
    }
    pen.beginPath();
    let begun = false;
    track.start.forEach((start, i) => {
      const next = i + 1 < track.start.length ? track.start[i + 1] : length;
      if (next < view.from || start > view.to) { return; }
      if (track.value[i] === null) {
        begun = false;
        return;
      }
      const x = Math.max(view.left, draw.x(view, start)), level = at(track.value[i]);
      if (begun) { pen.lineTo(x, level); } else { pen.moveTo(x, level); }
      pen.lineTo(Math.min(view.width, draw.x(view, next)), level);
      begun = true;
    });
    pen.stroke();
  };

  // }======

  let lane_ranks = null;

  /* Returns the colour of a lane on cores: lanes get the ranks of their busy times. */
  function lane_color(name) {
    if (!lane_ranks) {
      const times = new Map();
      for (const track of tracks.filter(one => one.kind === 'lane')) {
        times.set(track.plain, (times.get(track.plain) || 0) +
          track.columns(0, length, 1).busy[0]);
      }
      lane_ranks = page.ranks(times);
    }
    return page.ranked_color(lane_ranks.get(name), name);
  }

  /* Draws the lane that ran most on a core in each column. */
  draw.running = function (pen, view, core, y) {
    const wide = Math.max(1, Math.floor(view.width - view.left));
    const { top } = core.columns(view.from, view.to, wide);
    for (let n = 1, begin = 0; n <= wide; n++) {
      if (n === wide || top[n] !== top[begin]) {
        if (top[begin] >= 0) {
          const name = tracks[top[begin]].plain;
          pen.fillStyle = page.fill(lane_color(name), 1);
          pen.fillRect(view.left + begin, y + 2, n - begin, draw.ROW);
          pen.fillStyle = page.ink(page.fill(lane_color(name), 1));
          if (n - begin > 24) { page.label(pen, name, view.left + begin, y + 11, n - begin); }
        }
        begin = n;
      }
    }
  };

  /* Draws the times in which events are lost, pairs of begin and end, over a track; the first one
     says how much is lost. */
  draw.losses = function (pen, view, losses, { y, height, is_first }) {
    pen.strokeStyle = pen.fillStyle = page.style('--warn');
    pen.lineWidth = 1;
    for (let i = 0; i < losses.length; i += 2) {
      const from = Math.max(view.left, draw.x(view, losses[i]));
      const wide = Math.max(1, Math.min(view.width, draw.x(view, losses[i + 1])) - from);
      if (losses[i + 1] >= view.from && losses[i] <= view.to) {
        pen.globalAlpha = 0.12;
        pen.fillRect(from, y, wide, height);
        pen.globalAlpha = 0.8;
        if (wide > 4) { hatch(pen, from, y, wide, height, 8); }
        pen.fillRect(from, y, 1, height);
        pen.fillRect(from + wide - 1, y, 1, height);
        pen.globalAlpha = 1;
        if (wide > 110 && is_first) { lost_label(pen, losses[i + 1] - losses[i], from, y); }
      }
    }
  };

  function lost_label(pen, time, x, y) {
    const text = 'lost: ' + page.time(time);
    pen.fillStyle = page.style('--page');
    pen.fillRect(x + 4, y, text.length * 7.25 + 8, draw.ROW);
    pen.fillStyle = page.style('--warn');
    pen.fillText(text, x + 8, y + draw.ROW / 2);
  }

  /* Draws all lanes together over the whole trace, and where the view is. */
  draw.minimap = function (pen, view, height) {
    const all = { from: 0, to: length, left: view.left, width: view.width };
    const wide = Math.max(1, Math.floor(view.width - view.left)), sum = new Float64Array(wide);
    for (const track of tracks) {
      if (track.kind === 'lane') {
        track.columns(0, length, wide).busy.forEach((busy, n) => { sum[n] += busy; });
      }
    }
    const most = sum.reduce((a, b) => Math.max(a, b), 0) || 1;
    pen.fillStyle = page.style('--bar');
    sum.forEach((busy, n) => {
      const tall = busy / most * (height - 4);
      pen.fillRect(view.left + n, height - 2 - tall, 1, tall);
    });
    const from = draw.x(all, view.from), to = draw.x(all, view.to);
    pen.fillStyle = page.style('--page');
    pen.globalAlpha = 0.65;
    pen.fillRect(view.left, 0, from - view.left, height);
    pen.fillRect(to, 0, view.width - to, height);
    pen.globalAlpha = 1;
    pen.strokeStyle = page.style('--accent');
    pen.lineWidth = 1.5;
    pen.strokeRect(from, 1, Math.max(2, to - from), height - 2);
  };
}(window.page));
