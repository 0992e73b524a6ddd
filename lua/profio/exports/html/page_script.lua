-- The script of the report: the table of functions that sorts and filters, and the timeline of
-- lanes.

return [==[
(function () {
  'use strict';
  var data = JSON.parse(document.getElementById('data').textContent);
  var report = window.report = {};
  function $(id) { return document.getElementById(id); }

  function time(ns) {
    var size = Math.abs(ns);
    return size >= 1e9 ? (ns / 1e9).toFixed(3) + ' s' : size >= 1e6 ? (ns / 1e6).toFixed(3) + ' ms'
      : size >= 1e3 ? (ns / 1e3).toFixed(3) + ' \u00b5s' : ns + ' ns';
  }
  function weight(value) {
    return data.unit === 'ns' ? time(value) : value.toLocaleString('en-US');
  }

  // {====== Functions ======

  var FIRST = 100;
  var sorted = { column: 4, down: true }, shown = FIRST;

  function element(name, text, kind) {
    var e = document.createElement(name);
    if (text !== undefined) { e.textContent = text; }
    if (kind) { e.className = kind; }
    return e;
  }
  function weighed(value, whole) {
    var cell = element('td', weight(value), value < 0 ? 'bar less' : 'bar');
    var share = whole ? Math.min(1, Math.abs(value) / whole) : 0;
    cell.style.setProperty('--w', (100 * share).toFixed(1) + '%');
    return cell;
  }
  function percent(value) {
    return element('td', data.whole ? (100 * value / data.whole).toFixed(2) + ' %' : '');
  }
  function line(f) {
    var row = element('tr'), name = element('td', f[0], 'name l');
    var place = f[1] === null ? '' : f[1] + (f[2] ? ':' + f[2] : '');
    name.title = f[0];
    row.append(name, element('td', f[3] === null ? '' : f[3].toLocaleString('en-US')),
      weighed(f[4], data.most[0]), percent(f[4]), weighed(f[5], data.most[1]), percent(f[5]),
      element('td', place.replace(/^.*\//, ''), 'place l'));
    row.lastChild.title = place;
    return row;
  }
  function compare(a, b) {
    a = a[sorted.column];
    b = b[sorted.column];
    if (a === null || b === null) { return a === b ? 0 : a === null ? 1 : -1; }
    if (sorted.column > 2 && Math.abs(a) !== Math.abs(b)) { a = Math.abs(a); b = Math.abs(b); }
    return a === b ? 0 : (a < b ? -1 : 1) * (sorted.down ? -1 : 1);
  }
  function rows() {
    var words = $('filter').value.toLowerCase().split(/\s+/).filter(Boolean);
    return data.functions.filter(function (f) {
      var text = (f[0] + ' ' + (f[1] || '')).toLowerCase();
      return words.every(function (word) { return text.includes(word); });
    }).sort(compare);
  }
  function show() {
    var list = rows(), body = $('functions').tBodies[0];
    body.replaceChildren.apply(body, list.slice(0, shown).map(line));
    $('count').textContent = list.length === data.functions.length && !data.left
      ? list.length + ' functions' : list.length + ' of ' + (data.functions.length + data.left);
    $('more').style.display = list.length > shown ? '' : 'none';
    document.querySelectorAll('#functions th').forEach(function (th) {
      th.setAttribute('aria-sort', +th.dataset.column !== sorted.column ? 'none'
        : sorted.down ? 'descending' : 'ascending');
    });
  }
  report.sort = function (column) {
    sorted = { column: column, down: column === sorted.column ? !sorted.down : column > 2 };
    show();
  };
  $('functions').tHead.addEventListener('click', function (event) {
    var th = event.target.closest('th');
    if (th) { report.sort(+th.dataset.column); }
  });
  $('filter').addEventListener('input', show);
  $('more').addEventListener('click', function () { shown = Infinity; show(); });
  show();

  // }======

  // {====== The timeline ======

  if (!data.lanes) { return; }

  var ROW = 16, STRIP = 22, GAP = 14, TITLE = 18, AXIS = 22;
  var canvas = $('timeline'), tip = $('tip'), pen = canvas.getContext('2d');
  var all = { from: 0, to: Math.max(1, data.length) }, view = { from: all.from, to: all.to };
  var drag = null, height = AXIS;
  report.lanes = data.lanes;
  var utf8 = new TextEncoder();

  // The colours of the flame graph: a function has one everywhere.
  var colors = data.names.map(function (name) {
    var hash = 2166136261;
    utf8.encode(name).forEach(function (byte) {
      hash = Math.imul(hash ^ byte, 16777619) >>> 0;
    });
    hash = (hash ^ hash >>> 15) >>> 0;
    return 'rgb(' + [205 + (hash & 31) + (hash >>> 5 & 15), 90 + (hash >>> 9 & 127),
      30 + (hash >>> 16 & 31)] + ')';
  });

  data.lanes.forEach(function (lane) {
    lane.top = height;
    height += TITLE + STRIP + lane.depth * ROW + GAP;
  });

  function style(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }
  function x(at) { return (at - view.from) / (view.to - view.from) * canvas.clientWidth; }
  function at(x) { return view.from + x / canvas.clientWidth * (view.to - view.from); }
  function ago(ns) { return time(Math.round(ns)); }

  function axis(ink) {
    var step = Math.pow(10, Math.floor(Math.log10((view.to - view.from) / 4)));
    while ((view.to - view.from) / step > 9) { step *= step * 2 > view.to ? 2 : 2.5; }
    step = Math.max(1, step);
    pen.fillStyle = ink;
    for (var t = Math.ceil(view.from / step) * step; t <= view.to; t += step) {
      pen.globalAlpha = .18;
      pen.fillRect(Math.round(x(t)), AXIS - 4, 1, height);
      pen.globalAlpha = 1;
      if (x(t) < canvas.clientWidth - 70) { pen.fillText(ago(t), x(t) + 3, 12); }
    }
  }
  function strip(lane, color) {
    var wide = all.to / lane.load.length;
    pen.fillStyle = color;
    lane.load.forEach(function (share, i) {
      var left = x(i * wide), right = x((i + 1) * wide), tall = share / 100 * (STRIP - 4);
      if (right >= 0 && left <= canvas.clientWidth) {
        pen.fillRect(left, lane.top + TITLE + STRIP - 2 - tall, Math.max(1, right - left), tall);
      }
    });
  }
  function call(c, ink) {
    var lane = data.lanes[c[0]], left = x(c[2]), right = x(c[2] + c[3]);
    var top = lane.top + TITLE + STRIP + (c[1] - 1) * ROW;
    if (right < 0 || left > canvas.clientWidth) { return; }
    left = Math.max(-2, left);
    right = Math.min(canvas.clientWidth + 2, right);
    pen.fillStyle = colors[c[4]];
    pen.fillRect(left, top, Math.max(.5, right - left - (right - left > 3 ? .5 : 0)), ROW - 1);
    if (right - left > 24) {
      var name = data.names[c[4]], letters = Math.floor((right - left - 6) / 7.3);
      pen.fillStyle = ink;
      if (letters < name.length) { name = name.slice(0, Math.max(1, letters - 1)) + '\u2026'; }
      pen.fillText(name, Math.max(left, 0) + 3, top + 12);
    }
  }
  function draw() {
    var ratio = window.devicePixelRatio || 1, wide = canvas.clientWidth, ink = style('--text');
    canvas.width = wide * ratio;
    canvas.height = height * ratio;
    canvas.style.height = height + 'px';
    pen.scale(ratio, ratio);
    pen.font = '12px ui-monospace, Menlo, Consolas, monospace';
    axis(style('--soft'));
    data.lanes.forEach(function (lane) {
      pen.fillStyle = ink;
      pen.fillText(lane.name, 0, lane.top + 12);
      strip(lane, style('--bar'));
    });
    data.calls.forEach(function (c) { call(c, '#1b1b1b'); });
    if (drag) {
      pen.fillStyle = style('--accent');
      pen.globalAlpha = .25;
      pen.fillRect(Math.min(drag.from, drag.to), AXIS, Math.abs(drag.to - drag.from), height);
      pen.globalAlpha = 1;
    }
    $('span').textContent = ago(view.from) + ' \u2013 ' + ago(view.to);
  }
  report.zoom = function (from, to) {
    var shortest = Math.min(all.to, 10);
    from = Math.max(0, Math.min(from, all.to - shortest));
    view = { from: from, to: Math.min(all.to, Math.max(to, from + shortest)) };
    draw();
    return view;
  };
  report.hit = function (px, py) {
    var t = at(px);
    return data.calls.find(function (c) {
      var top = data.lanes[c[0]].top + TITLE + STRIP + (c[1] - 1) * ROW;
      return py >= top && py < top + ROW && t >= c[2] && t <= c[2] + c[3];
    }) || null;
  };
  function by(factor) {
    var middle = (view.from + view.to) / 2, half = (view.to - view.from) / 2 * factor;
    report.zoom(middle - half, middle + half);
  }
  function move(part) {
    var wide = view.to - view.from, from = Math.max(0, Math.min(all.to - wide,
      view.from + part * wide));
    report.zoom(from, from + wide);
  }
  $('in').addEventListener('click', function () { by(.5); });
  $('out').addEventListener('click', function () { by(2); });
  $('left').addEventListener('click', function () { move(-.5); });
  $('right').addEventListener('click', function () { move(.5); });
  $('all').addEventListener('click', function () { report.zoom(all.from, all.to); });
  canvas.addEventListener('dblclick', function () { report.zoom(all.from, all.to); });
  canvas.addEventListener('pointerdown', function (event) {
    drag = { from: event.offsetX, to: event.offsetX };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointerup', function () {
    var a = Math.min(drag.from, drag.to), b = Math.max(drag.from, drag.to);
    drag = null;
    if (b - a > 4) { report.zoom(at(a), at(b)); } else { draw(); }
  });
  canvas.addEventListener('pointermove', function (event) {
    var c = report.hit(event.offsetX, event.offsetY);
    if (drag) {
      drag.to = event.offsetX;
      draw();
    }
    tip.style.display = c ? 'block' : 'none';
    if (c) {
      tip.textContent = data.names[c[4]].slice(0, 200) + '  ' + ago(c[3]) + ' from ' + ago(c[2]);
      tip.style.left = Math.min(event.clientX + 12, window.innerWidth - tip.offsetWidth - 8) + 'px';
      tip.style.top = event.clientY + 14 + 'px';
    }
  });
  canvas.addEventListener('pointerleave', function () { tip.style.display = 'none'; });
  window.addEventListener('resize', draw);
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
  draw();

  // }======
}());
]==]
