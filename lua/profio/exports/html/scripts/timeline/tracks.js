/* The tracks of the timeline: lanes with their calls, states and values of variables, and how busy
   a lane is in any span of time. Times are ns from the first time of the trace on. */
(function (page) {
  'use strict';
  const runs = [page.data.timeline, page.data.timeline_before].filter(Boolean);
  if (runs.length === 0) { return; }
  const length = Math.max(1, ...runs.map(run => run.length)), is_pair = runs.length > 1;
  const { above, first_at, spans_of, columns_of_spans, columns_of_intervals } = page.activity;

  function sums(differences) {
    let last = 0;
    return Float64Array.from(differences || [], step => (last += step));
  }

  /* Returns the numbers of packed calls: start, stop, depth and frame of each. */
  function unpacked(text, count) {
    const bytes = window.atob(text), start = new Float64Array(count);
    const stop = new Float64Array(count);
    const depth = new Int32Array(count), frame = new Int32Array(count);
    let at = 0, time = 0;
    const next = () => {
      let value = 0;
      for (let scale = 1, byte = 128; byte > 127; scale *= 128) {
        byte = bytes.charCodeAt(at++);
        value += (byte & 127) * scale;
      }
      return value;
    };
    for (let i = 0; i < count; i++) {
      time += next();
      start[i] = time;
      stop[i] = time + next();
      depth[i] = next();
      frame[i] = next();
    }
    return { start, stop, depth, frame };
  }

  class Track {
    constructor(data, name, told) {
      Object.assign(this, { data, told, place: -1, kind: data.kind, name, plain: data.name,
        calls: data.calls, kept: data.kept, value: data.value, word: data.word || 'call' });
      this.is_whole = data.kept === data.calls;
      this.has_pauses = (data.pause_start || []).length === data.pauses;
      this.is_exact = this.is_whole && this.has_pauses;
      if (data.kind === 'values') {
        this.start = this.stop = sums(data.start);
        this.depth = [];
      } else {
        Object.assign(this, data.boxes || unpacked(data.packed, data.kept));
      }
      this.pause = sums(data.pause_start);
      this.pause_stop = this.pause.map((start, i) => start + data.pause_length[i]);
      this.busy = data.busy;
      this.top = data.top;
      this.core_start = data.core_start || [0];
      this.interval = data.width || 0;
      this.rows = [];
      if (data.kind === 'lane') { this.add_rows(); }
      if (data.begun) { this.count_left(); }
    }

    add_rows() {
      this.depth.forEach((depth, i) => {
        (this.rows[depth - 1] = this.rows[depth - 1] || []).push(i);
      });
    }

    fn(i) { return this.told.frames[this.frame[i]]; }

    /* Returns the core of a lane at a time, as far as it is known. */
    core(time) {
      const { core, core_at } = this.data;
      return core_at ? core_at[Math.max(0, above(this.core_start, time) - 1)] : core;
    }

    /* Counts the calls of each interval that the page leaves out. */
    count_left() {
      const left = Float64Array.from(this.data.begun);
      this.start.forEach(start => { left[Math.min(left.length - 1,
        Math.floor(start / this.interval))]--; });
      this.left = left;
    }

    /* Calls act(i, begin, end, extent) for each interval that a span touches: the part of it that
       is in the span, and the ns of all of it. */
    each_interval(from, to, act) {
      const each = this.interval, count = this.data.begun.length;
      for (let i = Math.max(0, Math.floor(from / each)); i < count && i * each < to; i++) {
        const end = Math.min(this.told.length, (i + 1) * each);
        act(i, Math.max(from, i * each), Math.min(to, end), end - i * each);
      }
    }

    /* Returns how many calls that begin in a span are left out, at least and at most. */
    left_in(from, to) {
      let least = 0, most = 0;
      if (this.left) {
        this.each_interval(from, to, (i, begin, end, extent) => {
          least += end - begin >= extent ? this.left[i] : 0;
          most += this.left[i];
        });
      }
      return [least, most];
    }

    /* Returns the parts of a span in which calls are left out: pairs of begin and end. */
    gaps_in(from, to) {
      const list = [];
      if (this.left) {
        this.each_interval(from, to, (i, begin, end) => {
          if (this.left[i] > 0 && list[list.length - 1] === begin) {
            list[list.length - 1] = end;
          } else if (this.left[i] > 0) {
            list.push(begin, end);
          }
        });
      }
      return list;
    }

    /* Returns the time in a span in which calls of the page were active, if all suspensions are
       known. */
    known_busy(from, to) {
      const { ran } = this;
      if (!ran.sum) {
        ran.sum = new Float64Array(ran.from.length);
        for (let i = 0, sum = 0; i < ran.from.length; i++) {
          sum += ran.to[i] - ran.from[i];
          ran.sum[i] = sum;
        }
      }
      const before = time => {
        const i = above(ran.from, time) - 1;
        return i < 0 ? 0 : ran.sum[i] - Math.max(0, ran.to[i] - time);
      };
      return to > from ? before(to) - before(from) : 0;
    }

    /* The spans in which calls of the page were the innermost ones. */
    get ran() {
      this.spans = this.spans || spans_of(this);
      return this.spans;
    }

    /* Returns how busy the lane was in columns of a span, and with what. */
    columns(from, to, count) {
      const key = `${from} ${to} ${count}`;
      if (count > 1 && this.drawn && this.drawn.key === key) { return this.drawn.columns; }
      const columns = this.is_exact ? columns_of_spans(this.ran, from, to, count) :
        columns_of_intervals(this, from, to, count);
      if (count > 1) { this.drawn = { key, columns }; }
      return columns;
    }

    /* Returns the ns of an interval in which the lane was busy, at least and at most. The page has
       thousandths, of which 0 and 1000 are exact. */
    busy_of(i) {
      const share = this.busy[i], each = this.interval;
      if (share <= 0 || share >= 1000) { return [share * each / 1000, share * each / 1000]; }
      return [share === 1 ? 0 : (share - 0.5) * each / 1000,
        share === 999 ? each : (share + 0.5) * each / 1000];
    }

    /* Returns the ns of a span in which the lane was busy, at least and at most. */
    busy_in(from, to) {
      if (this.is_exact) { return Array(2).fill(this.known_busy(from, to)); }
      const sum = [0, 0];
      this.each_interval(from, to, (i, begin, end, extent) => {
        const [low, high] = this.busy_of(i), part = end - begin;
        let least = Math.max(0, low - (extent - part)), most = Math.min(part, high);
        if (this.has_pauses) {
          const inside = this.known_busy(begin, end);
          const all = this.known_busy(i * this.interval, i * this.interval + extent);
          least = Math.max(least, Math.min(inside, most));
          most = Math.max(least, Math.min(most, high - (all - inside)));
        }
        sum[0] += least;
        sum[1] += most;
      });
      return sum;
    }

    /* Returns the calls of one depth that touch a span: indices from first to last - 1 of the row,
       whose calls do not overlap. */
    range(row, from, to) {
      let low = 0, high = row.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (this.stop[row[middle]] > from) { high = middle; } else { low = middle + 1; }
      }
      const first = low;
      for (high = row.length; low < high;) {
        const middle = (low + high) >> 1;
        if (this.start[row[middle]] >= to) { high = middle; } else { low = middle + 1; }
      }
      return [first, low];
    }

    /* Returns the index of a call by its start, and if they are given its depth and function; -1:
       the page does not have it. */
    find(start, depth, fn) {
      for (let i = above(this.start, start - 0.5); this.start[i] < start + 0.5; i++) {
        if ((!depth || this.depth[i] === depth) && (fn === undefined || this.fn(i) === fn)) {
          return i;
        }
      }
      return -1;
    }

    /* Returns the functions around a call and its own, the outermost first; null: some of them are
       not in the page. */
    path(call) {
      const list = [], start = this.start[call], stop = this.stop[call];
      for (let depth = 1; depth < this.depth[call]; depth++) {
        const row = this.rows[depth - 1] || [], [from, to] = this.range(row, start - 1, start + 1);
        const around = row.slice(from, to).find(i => this.start[i] <= start &&
          this.stop[i] >= stop);
        if (around === undefined) { return null; }
        list.push(this.fn(around));
      }
      return [...list, this.fn(call)];
    }

    /* Returns the suspensions that touch a span: the first one and the one after the last. */
    pauses_in(from, to) { return [above(this.pause_stop, from), first_at(this.pause, to)]; }

    is_suspended(time) {
      const [first, last] = this.pauses_in(time, time + 1);
      return first < last && this.pause[first] <= time;
    }

    /* Returns the time of a span in which the lane was not suspended. */
    active(from, to) {
      let time = to - from;
      if (this.pause.length === 0) { return time; }
      const [first, last] = this.pauses_in(from, to);
      for (let i = first; i < last; i++) {
        time -= Math.min(to, this.pause_stop[i]) - Math.max(from, this.pause[i]);
      }
      return time;
    }

    gross(call) { return this.active(this.start[call], this.stop[call]); }

    /* Returns the index of the first call that begins at a time or later. */
    first_from(time) { return first_at(this.start, time); }

    /* Returns net, gross and period of a call in ns; null where the page leaves out calls or
       suspensions that they depend on. */
    durations(call) {
      const gross = this.has_pauses ? this.gross(call) : null;
      if (!this.is_exact) { return { net: null, gross, period: null }; }
      const row = this.rows[this.depth[call]] || [];
      const [from, to] = this.range(row, this.start[call], this.stop[call]);
      const inner = row.slice(from, to).reduce((sum, i) => sum + this.gross(i), 0);
      let last = call - 1;
      while (last >= 0 && this.fn(last) !== this.fn(call)) { last--; }
      return { net: gross - inner, gross, period: last < 0 ? null :
        this.start[call] - this.start[last] };
    }

    /* Returns the number of calls that begin in a span, or of its samples, and the time in which
       the lane was busy, both at least and at most. */
    measure(from, to) {
      const until = to < this.told.length ? to : Infinity;
      const calls = this.data.count_in ? this.data.count_in(from, until) :
        first_at(this.start, until) - first_at(this.start, from);
      return { calls: this.left_in(from, to).map(left => calls + left),
        busy: this.busy_in(from, to) };
    }
  }

  // {====== Runs ======

  const words = ['after', 'before'];

  function name_of(name, run) { return is_pair ? `${name} \u00b7 ${words[run]}` : name; }

  /* The tracks of a run; those of the other one of a comparison have the same names. */
  const made = runs.map((told, run) => told.tracks.map(data =>
    new Track(data, name_of(data.name, run), told)));

  /* Returns the tracks of both runs: each one before its counterpart after the change. */
  function all_tracks() {
    const key = track => track.kind + track.plain;
    const [after, before = []] = made, left = new Map(before.map(track => [key(track), track]));
    const list = after.flatMap(track => {
      const other = left.get(key(track));
      left.delete(key(track));
      return other ? [other, track] : [track];
    });
    const rank = { lane: 0, states: 1, values: 2 };
    return [...list, ...left.values()].sort((a, b) => rank[a.kind] - rank[b.kind]);
  }

  const tracks = is_pair ? all_tracks() : made[0];
  tracks.forEach((track, place) => { track.place = place; });

  /* Returns the place of a track by its index in the data of a run. */
  page.place_of = (told, index) => made[runs.indexOf(told)][index].place;

  // }======

  // {====== Cores ======

  /* A core, or all of them if none is known: `lanes` are those that ever ran there. */
  class Core {
    constructor(number, lanes, run) {
      Object.assign(this, { number, lanes, kind: 'core', place: -1, told: runs[run],
        name: name_of(number < 0 ? 'runs' : 'core ' + number, run), start: [], rows: [],
        depth: [] });
    }

    /* Returns the lane that ran most in columns of a span, -1: none, and how busy it was. */
    columns(from, to, count) {
      const busy = new Float64Array(count), top = new Int32Array(count).fill(-1);
      for (const lane of this.lanes) {
        const one = lane.columns(from, to, count).busy;
        for (let n = 0; n < count; n++) {
          const is_here = this.number < 0 ||
            lane.core(from + (to - from) * (n + 0.5) / count) === this.number;
          if (is_here && one[n] > busy[n]) {
            busy[n] = one[n];
            top[n] = lane.place;
          }
        }
      }
      return { busy, top };
    }
  }

  /* Whether at most one of the lanes runs at a time, as on one core. */
  function take_turns(lanes) {
    return lanes.length > 1 && lanes.length <= 40 && lanes.reduce((sum, lane) =>
      sum + lane.columns(0, length, 1).busy[0], 0) < 1.01;
  }

  function cores_of(told, run) {
    const lanes = made[run].filter(track => track.kind === 'lane' && !track.data.chain);
    const found = new Map();
    for (const lane of lanes) {
      for (const core of lane.data.core_at || [lane.data.core]) {
        if (core !== undefined) { found.set(core, (found.get(core) || new Set()).add(lane)); }
      }
    }
    if (found.size > 0) {
      return [...found].sort((a, b) => a[0] - b[0]).map(([core, list]) =>
        new Core(core, [...list], run));
    }
    return told.has_cores || !take_turns(lanes) ? [] : [new Core(-1, lanes, run)];
  }

  // }======

  /* Returns the longest call of each function in a run. */
  function worst_of(told) {
    const worst = new Map();
    for (const [fn, index, start, long, depth] of told.worst) {
      const known = worst.get(fn);
      if (!known || known.long < long) {
        worst.set(fn, { track: page.place_of(told, index), start, long, depth });
      }
    }
    return worst;
  }

  /* Returns the order of a frame by time: the start of its first call that is in the page. */
  let starts = null;

  function index_track(track) {
    const path = [];
    track.start.forEach((start, i) => {
      const depth = track.depth[i];
      path.length = depth;
      path[depth] = (path[depth - 1] || '') + '.' + track.fn(i);
      if (!(starts.get(path[depth]) <= start)) { starts.set(path[depth], start); }
    });
  }

  function index_starts() {
    starts = new Map();
    tracks.filter(track => track.kind === 'lane').forEach(index_track);
  }

  function key_of(frame) {
    if (frame.key === undefined) {
      frame.key = frame.parent ? key_of(frame.parent) + '.' + frame.fn : '';
    }
    return frame.key;
  }

  page.first_start = function (frame) {
    if (!starts) { index_starts(); }
    const found = starts.get(key_of(frame));
    return found === undefined ? length : found;
  };

  // {====== The selected call ======

  let known = { word: '', found: null };

  /* Returns how the state names a call: its track, start and depth. */
  page.call_word = (track, call) =>
    [track.place, track.start[call], track.depth[call] || 0].join('.');

  /* Returns the selected call, { track, call }, or null. */
  page.chosen_call = function () {
    const word = page.state.call;
    if (known.word !== word) {
      const [place, start, depth] = word.split('.').map(Number), track = tracks[place];
      const call = track && track.kind !== 'values' ? track.find(start, depth) : -1;
      known = { word, found: call < 0 ? null : { track, call } };
    }
    return known.found;
  };

  /* Selects a call, and its function. */
  page.select_call = (track, call) =>
    page.select(track.fn(call), { call: page.call_word(track, call) });

  // }======

  const worsts = runs.map(worst_of);

  /* Returns the longest call of a function in a run, { track, start, long, depth }, or undefined:
     of the selected range, if there is one. */
  page.worst_of = (run, fn) => (page.profile.worsts || worsts)[run].get(fn);
  page.tracks = { list: tracks, cores: runs.map(cores_of).reverse().flat(), length, runs,
    measured: runs.filter(told => !told.is_sampled), words, first: is_pair ? 0 : runs[0].first };
}(window.page));
