/* The activity of a lane: the spans in which a call was the innermost one, and how busy it was. */
(function (page) {
  'use strict';

  /* Returns the index of the first element of an ascending list that passes a test. */
  function first_with(list, passes) {
    let low = 0, high = list.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (passes(list[middle])) { high = middle; } else { low = middle + 1; }
    }
    return low;
  }

  const above = (list, value) => first_with(list, one => one > value);
  const first_at = (list, value) => first_with(list, one => one >= value);

  /* Returns the spans in which one call was the innermost: arrays from, to, fn. */
  function innermost(track) {
    const list = { from: [], to: [], fn: [] }, open = [];
    let at = 0;
    const put = (until, fn) => {
      if (until > at) {
        list.from.push(at);
        list.to.push(until);
        list.fn.push(fn);
      }
      at = Math.max(at, until);
    };
    const end = time => {
      while (open.length && track.stop[open[open.length - 1]] <= time) {
        const i = open.pop();
        put(track.stop[i], track.fn(i));
      }
    };
    track.start.forEach((start, i) => {
      end(start);
      if (open.length) { put(start, track.fn(open[open.length - 1])); }
      at = Math.max(at, start);
      open.push(i);
    });
    end(Infinity);
    return list;
  }

  /* Returns spans without the times in which the lane was suspended. */
  function without_pauses(list, track) {
    const left = { from: [], to: [], fn: [] };
    let pause = 0;
    list.from.forEach((from, i) => {
      const to = list.to[i];
      let at = from;
      while (pause < track.pause.length && track.pause_stop[pause] <= at) { pause++; }
      for (let p = pause; p < track.pause.length && track.pause[p] < to; p++) {
        if (track.pause[p] > at) { push(left, at, track.pause[p], list.fn[i]); }
        at = Math.max(at, track.pause_stop[p]);
      }
      if (at < to) { push(left, at, to, list.fn[i]); }
    });
    return left;
  }

  function push(list, from, to, fn) {
    list.from.push(from);
    list.to.push(to);
    list.fn.push(fn);
  }

  /* Adds up the time in which functions ran in columns of a span: busy time and the function that
     ran longest. */
  function columns_of_spans(ran, from, to, count) {
    const wide = (to - from) / count, busy = new Float64Array(count);
    const top = new Int32Array(count).fill(-1), most = new Float64Array(count);
    for (let i = Math.max(0, above(ran.from, from) - 1); i < ran.from.length; i++) {
      if (ran.from[i] >= to) { break; }
      let a = Math.max(ran.from[i], from);
      const b = Math.min(ran.to[i], to);
      for (let n = Math.floor((a - from) / wide); a < b && n < count; n++) {
        const part = Math.min(b, from + (n + 1) * wide) - a;
        busy[n] += part;
        if (part > most[n]) {
          most[n] = part;
          top[n] = ran.fn[i];
        }
        a += Math.max(part, wide * 1e-9);
      }
    }
    return { busy: busy.map(time => Math.min(1, time / wide)), top };
  }

  /* The same from the intervals of a lane whose calls or suspensions are not all in the page: an
     estimate where a column does not begin and end with intervals. */
  function columns_of_intervals(track, from, to, count) {
    const wide = (to - from) / count, each = track.interval, busy = new Float64Array(count);
    const top = new Int32Array(count).fill(-1);
    for (let n = 0; n < count; n++) {
      const first = Math.max(0, Math.floor((from + n * wide) / each));
      const last = Math.min(track.busy.length - 1, Math.floor((from + (n + 1) * wide) / each));
      let most = -1, sum = 0, time = 0;
      for (let i = first; i <= last; i++) {
        const part = Math.min(from + (n + 1) * wide, (i + 1) * each) -
          Math.max(from + n * wide, i * each);
        sum += track.busy[i] / 1000 * part;
        time += part;
        if (track.busy[i] > most && track.top[i] >= 0) {
          most = track.busy[i];
          top[n] = track.told.frames[track.top[i]];
        }
      }
      busy[n] = time > 0 ? Math.min(1, sum / time) : 0;
    }
    return { busy, top };
  }

  /* Returns the spans in which a call of a lane ran. */
  const spans_of = track => without_pauses(innermost(track), track);

  page.activity = { above, first_at, spans_of, columns_of_spans, columns_of_intervals };
}(window.page));
