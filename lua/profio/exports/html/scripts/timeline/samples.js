/* Samples with times: their sums in a range, and the timeline that they show. A stack lasts as long
   as its sample, or until the next one of its lane; consecutive samples with the same function and
   the same callers are one call. Times are ns from the first one on. */
(function (page) {
  'use strict';
  const data = page.data, told = [data.samples, data.samples_before].filter(Boolean);
  if (told.length === 0) { return; }
  const { first_at } = page.activity;
  const functions = Int32Array.from(data.functions.name, (name, fn) => fn);

  /* Returns the sums of differences, times a scale. */
  function summed(steps, scale) {
    let sum = 0;
    return Float64Array.from(steps, step => (sum += step) * scale);
  }

  const contexts = new page.Contexts();

  /* Returns the contexts of a run by their numbers in the data. */
  function places_of({ back, function: names }) {
    const place = new Int32Array(back.length + 1);
    back.forEach((step, i) => {
      place[i + 1] = contexts.child(place[i + 1 - step], names[i]);
    });
    return place;
  }

  // {====== Calls ======

  /* Returns the median distance of samples that are not at one time. */
  function usual_step(time) {
    const steps = time.subarray(1).map((at, i) => at - time[i]).filter(step => step > 0).sort();
    return steps[steps.length >> 1] || 1;
  }

  /* Calls act(start, stop, node) for samples i to end - 1, which the page has summed: they share
     the time until the next ones. */
  function share_time(run, lane, i, end, act) {
    const { width, lasts, counts } = run, { time, node, weights } = lane;
    const next = end < time.length ? time[end] : run.length;
    const part = weights[lasts < 0 ? counts : lasts];
    let sum = 0, at = time[i];
    for (let n = i; n < end; n++) { sum += part(n); }
    const long = lasts < 0 ? Math.min(width, next - at) : Math.min(sum, next - at);
    for (let n = i; n < end; n++) {
      const until = sum > 0 ? at + long * part(n) / sum : at;
      act(at, until, node[n]);
      at = until;
    }
  }

  /* Calls act(start, stop, node) for the stacks of a lane, one after the other. */
  function each_stack(run, lane, act) {
    const { width, lasts } = run, { time, node, weights } = lane;
    const step = width > 1 || lasts >= 0 ? 0 : usual_step(time);
    for (let i = 0, end = 1; i < time.length; i = end++) {
      if (width > 1) {
        while (end < time.length && time[end] === time[i]) { end++; }
        share_time(run, lane, i, end, act);
        continue;
      }
      const next = end < time.length ? time[end] : run.length;
      const until = time[i] + (lasts < 0 ? step : weights[lasts](i));
      act(time[i], lasts < 0 && next <= until + step ? next : Math.min(next, until), node[i]);
    }
  }

  /* Returns the calls that the samples of a lane show: start, stop, depth and frame of each. */
  function calls_of(run, lane) {
    const calls = { start: [], stop: [], depth: [], frame: [] }, open = [], path = [];
    let last = 0, ended = 0;
    const close = depth => {
      while (open.length > depth) { calls.stop[open.pop()] = ended; }
    };
    each_stack(run, lane, (start, stop, node) => {
      if (stop <= start) { return; }
      let shared = start > ended ? 0 : last;
      for (let other = node; shared !== other;) {
        if (contexts.depth[shared] > contexts.depth[other]) {
          shared = contexts.parent[shared];
        } else {
          path.push(other);
          other = contexts.parent[other];
        }
      }
      close(contexts.depth[shared]);
      while (path.length) {
        const one = path.pop();
        open.push(calls.start.push(start) - 1);
        calls.stop.push(start);
        calls.depth.push(contexts.depth[one]);
        calls.frame.push(contexts.function[one - 1]);
      }
      [last, ended] = [node, stop];
    });
    close(0);
    return { start: Float64Array.from(calls.start), stop: Float64Array.from(calls.stop),
      depth: Int32Array.from(calls.depth), frame: Int32Array.from(calls.frame) };
  }

  // }======

  /* Returns a function of the number of a sample: its weight. */
  function weight_of(list) {
    const values = typeof list === 'number' ? null : summed(list, 1);
    return values ? i => values[i] : () => list;
  }

  /* Calls act(i) for the samples of a lane that begin in a span. */
  function each_in({ time }, { from, to }, act) {
    const end = first_at(time, to);
    for (let i = first_at(time, from); i < end; i++) { act(i); }
  }

  /* Returns how many samples of a lane begin in a span. */
  function count_in(run, lane, from, to) {
    let count = 0;
    each_in(lane, { from, to }, i => { count += lane.weights[run.counts](i); });
    return count;
  }

  /* Returns the run of a timeline that samples show. */
  function run_of(run) {
    const place = places_of(run);
    const lanes = run.lanes.map(({ name, count, time, node, weights }) => ({ name, count,
      node: Int32Array.from(node, at => place[at >> 1]), is_cut: node.map(at => at % 2 > 0),
      time: summed(time, run.unit), weights: weights.map(weight_of) }));
    const tracks = lanes.slice(0, run.drawn).map(lane => ({ kind: 'lane', name: lane.name,
      word: 'sample', calls: lane.count, kept: lane.count, pauses: 0,
      count_in: (from, to) => count_in(run, lane, from, to),
      boxes: calls_of(run, lane) }));
    return { first: run.first, length: run.length, few: run.few, frames: functions, tracks,
      lanes, width: run.width, is_sampled: true, losses: [], variables_left: 0,
      worst: [], distributions: [], places: [], heat_width: 1 };
  }

  const runs = told.map(run_of);
  [data.timeline, data.timeline_before] = runs;

  /* Ranges are widened to the ends of samples that the page has summed. */
  page.range_step = Math.max(...runs.map(run => run.width));

  page.told_samples = 'Boxes join samples that follow each other: what begins and ends between ' +
    'two samples is not seen.' + (page.range_step > 1 ? ` Samples are summed over ` +
    `${page.time(page.range_step)}, to which ranges are widened: --set size=N.` : '');

  // {====== Ranges ======

  /* Adds the weights of a run in a range to those of contexts by metric; the metrics of a
     difference are one metric of each run. */
  function add_run(run, n, range, sums) {
    const metrics = runs.length > 1 ? [[n, 0]] : data.metrics.map((_, m) => [m, m]);
    for (const lane of run.lanes) {
      const { time, node, is_cut, weights } = lane;
      each_in(lane, range, i => {
        const at = node[i], lists = is_cut[i] ? sums.rest : sums.self;
        sums.begin[at] = Math.min(sums.begin[at], time[i]);
        for (const [m, weight] of metrics) { lists[m][at] += weights[weight](i); }
        sums.is_cut = sums.is_cut || is_cut[i];
      });
    }
  }

  /* Returns the weights in a range by metric and context, 0 for those of no context, and when
     contexts begin. */
  function sums_of(range) {
    const count = contexts.parent.length, zeros = () => data.metrics.map(() =>
      new Float64Array(count));
    const sums = { self: zeros(), rest: zeros(), begin: new Float64Array(count).fill(Infinity),
      is_cut: false };
    runs.forEach((run, n) => add_run(run, n, range, sums));
    for (let node = count - 1; node > 0; node--) {
      const parent = contexts.parent[node];
      sums.begin[parent] = Math.min(sums.begin[parent], sums.begin[node]);
    }
    return sums;
  }

  /* Returns the profile of a range. */
  page.sampled_profile = function (range) {
    const { self, rest, begin, is_cut } = sums_of(range);
    const below = lists => lists.map(list => list.subarray(1));
    const tree = page.tree_of(contexts, begin.subarray(1), below(self), below(rest));
    tree.outside = self.map((list, m) => list[0] + rest[m][0]);
    return { ...page.profile_of(tree, is_cut ? 'the page has no room for the innermost functions ' +
      'of some stacks: --set size=N' : ''), worsts: runs.map(() => new Map()) };
  };

  // }======
}(window.page));
