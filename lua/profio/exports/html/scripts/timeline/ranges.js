/* The profile of a range of time, from the calls in the page or from its samples, and the durations
   of a function in it: calls that reach beyond the range are cut, and those that begin in it are
   counted. */
(function (page) {
  'use strict';
  if (!page.tracks) { return; }
  const data = page.data, { list, length, runs } = page.tracks;
  const lanes = list.filter(track => track.kind === 'lane' && !track.data.chain);

  /* Returns the selected range, { from, to } in ns from the first time on, or null. */
  page.selected_range = function () {
    const step = page.range_step || 1, [begin, end] = page.state.range.split('-');
    const from = Math.floor(begin / step) * step, to = Math.ceil(end / step) * step;
    return from >= 0 && from < to && from < length ? { from, to } : null;
  };

  page.set_range = function (a, b) {
    const from = Math.max(0, Math.round(Math.min(a, b)));
    const to = Math.min(length + 1, Math.round(Math.max(a, b)));
    page.set({ range: from < to ? `${from}-${to}` : '' });
  };

  // {====== The contexts of calls ======

  let contexts = null;

  /* Finds the context and the net time of each call of a lane. */
  function index_lane(lane) {
    const { start, stop, depth } = lane, count = start.length, open = [];
    lane.node = new Int32Array(count);
    lane.net = new Float64Array(count);
    for (let i = 0; i < count; i++) {
      while (open.length) {
        const top = open[open.length - 1];
        if (depth[top] < depth[i] && stop[top] >= stop[i]) { break; }
        open.pop();
      }
      const around = open.length ? open[open.length - 1] : -1;
      const gross = lane.pause.length ? lane.gross(i) : stop[i] - start[i];
      lane.node[i] = contexts.child(around < 0 ? 0 : lane.node[around], lane.fn(i));
      lane.net[i] += gross;
      if (around >= 0) { lane.net[around] -= gross; }
      open.push(i);
    }
    lane.uncounted = new Set(lane.data.uncounted);
  }

  function index_calls() {
    if (!contexts) {
      contexts = new page.Contexts();
      lanes.forEach(index_lane);
    }
    return contexts;
  }

  // }======

  /* Prepares the selection of a range when the browser is idle. */
  page.prepare_range = function () {
    if (page.sampled_profile) { return; }
    window.requestIdleCallback(() => {
      index_calls();
      for (const lane of lanes) { lane.known_busy(0, 1); }
    });
  };

  // {====== The profile of a range ======

  /* Returns the calls of a lane that were open at a time, and began before it. */
  function open_at(lane, time) {
    return lane.rows.map(row => {
      const [from, to] = lane.range(row, time - 1, time + 1);
      return row.slice(from, to).find(i => lane.start[i] < time && lane.stop[i] >= time);
    }).filter(i => i !== undefined);
  }

  function gross_in(lane, i, { from, to }) {
    return lane.active(Math.max(from, lane.start[i]), Math.min(to, lane.stop[i]));
  }

  /* Returns the net time of a call in a range. */
  function net_in(lane, i, range) {
    if (lane.start[i] >= range.from && lane.stop[i] <= range.to) { return lane.net[i]; }
    const row = lane.rows[lane.depth[i]] || [];
    const [first, last] = lane.range(row, Math.max(lane.start[i], range.from),
      Math.min(lane.stop[i], range.to));
    let net = gross_in(lane, i, range);
    for (let n = first; n < last; n++) { net -= gross_in(lane, row[n], range); }
    return Math.max(0, net);
  }

  /* Calls act(i, is_counted) for each call of a lane that touches a range: whether it begins there.
     The ends of a trace are in it. */
  function each_call(lane, range, act) {
    const { start, uncounted } = lane, are_all_counted = uncounted.size === 0;
    for (const i of open_at(lane, range.from)) { act(i, false); }
    for (let i = lane.first_from(range.from); i < start.length && start[i] < range.to; i++) {
      act(i, are_all_counted || !uncounted.has(i));
    }
  }

  /* Adds the net times and the calls of a lane in a range to those of their contexts, whose longest
     calls are noted. */
  function add_lane(lane, range, { time, calls, longest, place, at }, begin) {
    const { node, net, stop, start } = lane, { from, to } = range;
    each_call(lane, range, (i, is_counted) => {
      const context = node[i] - 1, is_whole = start[i] >= from && stop[i] <= to;
      const long = is_whole ? stop[i] - start[i] : Math.min(to, stop[i]) - Math.max(from, start[i]);
      time[context] += is_whole ? net[i] : net_in(lane, i, range);
      calls[context] += is_counted ? 1 : 0;
      begin[context] = Math.min(begin[context], start[i]);
      if (long > longest[context]) {
        longest[context] = long;
        place[context] = lane.place;
        at[context] = i;
      }
    });
  }

  /* Returns the sums of a range by context, for each run; and where contexts begin. */
  function sums_of(range) {
    const count = index_calls().function.length, begin = new Float64Array(count).fill(Infinity);
    const sums = runs.map(() => ({ time: new Float64Array(count), calls: new Float64Array(count),
      longest: new Float64Array(count).fill(-1), place: new Int32Array(count),
      at: new Int32Array(count) }));
    for (const lane of lanes) { add_lane(lane, range, sums[runs.indexOf(lane.told)], begin); }
    return { sums, begin };
  }

  /* Returns the longest call of each function, as page.worst_of does. */
  function worsts_of({ longest, place, at }) {
    const best = new Int32Array(data.functions.name.length).fill(-1);
    for (let i = 0; i < longest.length; i++) {
      const fn = contexts.function[i];
      if (longest[i] >= 0 && (best[fn] < 0 || longest[i] > longest[best[fn]])) { best[fn] = i; }
    }
    const worst = new Map();
    best.forEach((i, fn) => {
      if (i < 0) { return; }
      const lane = list[place[i]], call = at[i];
      worst.set(fn, { track: lane.place, start: lane.start[call], long: longest[i],
        depth: lane.depth[call] });
    });
    return worst;
  }

  /* Returns what a metric of calls is, time or calls; undefined: something else. Those of a
     difference are both sides of one of them. */
  const kind_of = ({ name, unit }) => unit === 'ns' && (name === 'time' || data.difference) ?
    'time' : name === 'calls' || data.difference ? 'calls' : undefined;

  /* Returns the tree of the contexts that have a begin below Infinity, as their callers do; without
     `calls` their number is null. */
  page.tree_of = function (all, begin, self, rest, calls) {
    const count = begin.length, number = new Int32Array(count + 1), kept = [];
    for (let i = 0; i < count; i++) {
      if (begin[i] < Infinity) { number[i + 1] = kept.push(i); }
    }
    const few = (values, Type = Float64Array) => Type.from(kept, i => values[i]);
    const first = new Int32Array(kept.length + 1), next = new Int32Array(kept.length + 1);
    const parent = new Int32Array(kept.length + 1);
    for (let node = kept.length; node > 0; node--) {
      parent[node] = number[all.parent[kept[node - 1] + 1]];
      next[node] = first[parent[node]];
      first[parent[node]] = node;
    }
    return { function: few(all.function, Int32Array), parent, first, next,
      self: self.map(values => few(values)), rest: rest.map(values => few(values)),
      outside: self.map(() => 0), begin: few(begin),
      calls: calls ? few(calls) : kept.map(() => null), totals: new Map() };
  };

  /* Returns the profile of the calls in a range. */
  function profile_of_calls(range) {
    const { sums, begin } = sums_of(range), none = new Float64Array(begin.length);
    const self = data.metrics.map((metric, m) => kind_of(metric) ?
      sums[data.difference ? m : 0][kind_of(metric)] : none);
    const rest = self.map(() => none), tree = page.tree_of(contexts, begin, self, rest,
      sums[0].calls);
    return { ...page.profile_of(tree, reason()), worsts: sums.map(worsts_of) };
  }

  /* Returns why numbers of a range are estimates; '': they are exact. */
  function reason() {
    const parts = lanes.filter(lane => !lane.is_exact), words = [];
    const sum = name => lanes.reduce((all, lane) => all + lane[name], 0);
    if (parts.some(lane => !lane.is_whole)) {
      words.push(`the page has the ${page.count(sum('kept'))} longest of ` +
        `${page.count(sum('calls'))} calls, and the others count as their callers: --set size=N`);
    } else if (parts.length > 0) {
      words.push('the page does not have all suspensions of its lanes: --set size=N');
    }
    const others = data.metrics.filter(metric => !kind_of(metric)).map(metric => metric.name);
    if (others.length) { words.push(`of ${others.join(', ')} nothing is known in a range`); }
    for (const told of runs) {
      if (told.few) { words.push(`${told.few}: --set lanes=N`); }
    }
    return words.join('; ');
  }

  page.stages.push({ fields: ['range'], apply: profile => {
    const range = page.selected_range();
    return range ? (page.sampled_profile || profile_of_calls)(range) : profile;
  } });

  // }======

  // {====== Durations in a range ======

  /* Returns the durations of the calls of a function in a range in one run: lists net, gross and
     period of { value, track, start }. */
  page.durations_in = function (fn, told, range) {
    const found = { net: [], gross: [], period: [] };
    index_calls();
    for (const lane of lanes.filter(one => one.told === told)) {
      let last = lane.first_from(range.from) - 1;
      while (last >= 0 && (lane.fn(last) !== fn || lane.uncounted.has(last))) { last--; }
      each_call(lane, range, (i, is_counted) => {
        if (lane.fn(i) !== fn) { return; }
        const put = (kind, value) => found[kind].push({ value, track: lane.place,
          start: lane.start[i] });
        put('net', net_in(lane, i, range));
        put('gross', gross_in(lane, i, range));
        if (is_counted && last >= 0) { put('period', lane.start[i] - lane.start[last]); }
        last = is_counted ? i : last;
      });
    }
    return found;
  };

  // }======
}(window.page));
