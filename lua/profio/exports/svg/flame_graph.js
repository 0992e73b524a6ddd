/* The script of a flame graph in SVG: it draws the frames for the width of the window and for each
   zoom, searches, and tells of the frame under the pointer. All frames of a colour are one path. */
/* global texts */
(function () {
  'use strict';
  const svg = document.currentScript.ownerSVGElement || document.documentElement;
  const file = svg.ownerSVGElement || svg; // which may have two pictures
  const { edge, row, root, scale } = Object.fromEntries(['edge', 'row', 'root', 'scale'].map(
    name => [name, Number(svg.dataset[name])]));
  const LETTER = 7.3, LINE = 15, GAP = 0.5; // pixels
  const upward = svg.dataset.upward === 'true', whole = { x: 0, w: 1, d: 0 };
  const names = lines('names'), unit = lines('unit')[0] || '', rows = [];
  const find = selector => svg.querySelector(selector);
  const labels = find('.labels'), words = find('.words'), foot = find('.foot');
  const group = find('.frames'), paths = [...group.querySelectorAll('path')];
  const back = find('.back'), hits = find('.hits'), button = find('.find');
  const matched = added('path', 'matched', labels), above = added('path', 'above', labels);
  const over = added('rect', 'over', labels), field = added('g', 'field', words);
  // Inside a page the keys are the page's; two pictures in one file share them.
  const is_page = document.documentElement.namespaceURI !== svg.namespaceURI;
  const keys = is_page ? svg : window;
  let full = Number(svg.getAttribute('width')), tall = Number(svg.getAttribute('height'));
  let base = full; // width of the picture for which the paths are drawn
  let zoom = whole, wanted = null, typed = null;
  const frames = lines('frames').map(line => {
    const [d, x, w, id, path, total, self, before] = line.split(' ').map(Number);
    const frame = { d, x: x / 1e7, w: w / 1e7, id, name: names[id], path, total, self, before,
      match: false };
    (rows[d] = rows[d] || []).push(frame);
    return frame;
  });

  function lines(name) {
    const text = svg.querySelector('metadata.' + name);
    return text ? text.textContent.split('\n').slice(0, -1) : [];
  }

  function set(element, attributes) {
    for (const name in attributes) { element.setAttribute(name, attributes[name]); }
    return element;
  }

  function added(kind, name, next) {
    const element = document.createElementNS('http://www.w3.org/2000/svg', kind);
    return next.parentNode.insertBefore(set(element, { class: name }), next);
  }

  // {====== Frames ======

  function inner() { return (full - 2 * edge) * scale; }

  function is_above(f) {
    return f.d < zoom.d && f.x <= zoom.x + 1e-7 && f.x + f.w >= zoom.x + zoom.w - 1e-7;
  }

  /* Returns where a frame is drawn, in pixels, or null: it is outside of the zoom. */
  function box(f) {
    let left = (f.x - zoom.x) / zoom.w, w = f.w / zoom.w;
    if (is_above(f)) {
      left = 0;
      w = 1;
    } else if (f.d < zoom.d || left + w <= 1e-7 || left >= 1 - 1e-7) { return null; }
    return { x: edge + left * inner(), y: upward ? root - (f.d + 1) * row : root + f.d * row,
      w: Math.max(0.2, w * inner()), h: row - 1 };
  }

  function label(f, b) {
    const letters = Math.floor((b.w - 6) / LETTER);
    if (letters < 3 && letters < f.name.length) { return; }
    const text = added('text', f.match ? 'matched' : is_above(f) ? 'upper' : '', labels);
    labels.append(set(text, { x: b.x + 3, y: b.y + row - 5 }));
    text.textContent = texts.cut(f.name, letters);
  }

  function draw_labels() {
    labels.textContent = '';
    tell();
    for (const f of frames) {
      const b = f.w / zoom.w * inner() > 6 || is_above(f) ? box(f) : null;
      if (b) { label(f, b); }
    }
  }

  /* Stretches the paths of all frames to the width, which is faster than drawing them again. */
  function stretch() {
    const part = inner() / ((base - 2 * edge) * scale);
    group.setAttribute('transform', `translate(${edge * (1 - part)},0) scale(${part},1)`);
    draw_labels();
  }

  /* Returns a frame as a part of a path; a gap is the border to the next one. */
  function rectangle(b) {
    const w = (b.w < 2 ? b.w : b.w - GAP).toFixed(2);
    return `M${b.x.toFixed(2)} ${b.y}h${w}v${b.h}h-${w}z`;
  }

  function draw() {
    const parts = paths.map(() => []), hit = [], veil = [];
    for (const f of frames) {
      const b = box(f), text = b && rectangle(b);
      if (b) { (f.match ? hit : parts[f.path]).push(text); }
      if (b && !f.match && is_above(f)) { veil.push(text); }
    }
    group.removeAttribute('transform');
    base = full;
    draw_labels();
    paths.forEach((path, i) => path.setAttribute('d', parts[i].join('')));
    matched.setAttribute('d', hit.join(''));
    above.setAttribute('d', veil.join(''));
    back.style.display = zoom.w < 1 ? '' : 'none';
  }

  /* Returns the frame of a depth at a part of the root, or undefined. */
  function frame_at(depth, part) {
    const list = rows[depth] || [];
    let low = 0, high = list.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (list[middle].x <= part) { low = middle + 1; } else { high = middle; }
    }
    return low > 0 && part < list[low - 1].x + list[low - 1].w ? list[low - 1] : undefined;
  }

  /* Returns the frame at a point of the picture, or undefined. */
  function at(x, y) {
    return x < edge || x >= edge + inner() ? undefined : frame_at(Math.floor((upward ? root - y :
      y - root) / row), zoom.x + (x - edge) / inner() * zoom.w);
  }

  // }======

  // {====== Words ======

  /* Returns the numbers of a frame. */
  function told(f) {
    const change = f.total - f.before, share = texts.percent(f.total, frames[0].total);
    return texts.weight(f.total, unit) + (share && ', ' + share) + (f.before === undefined ? '' :
      `; before ${texts.weight(f.before, unit)}, ${change < 0 ? '' : '+'}` +
      texts.weight(change, unit));
  }

  /* Shows the text of a frame beside the pointer at x and y of the picture; without one hides
     it. */
  function tell(f, x, y) {
    const text = words.querySelector('text'), b = f && box(f);
    words.style.display = b ? '' : 'none';
    svg.style.cursor = b ? 'pointer' : '';
    set(over, b ? { x: b.x, y: b.y, width: b.w, height: b.h } : { width: 0 });
    if (!b) { return; }
    text.textContent = texts.cut(f.name, Math.floor(full / LETTER) - 5 - told(f).length) +
      ` (${told(f)})`;
    const wide = text.getComputedTextLength() + 12;
    words.querySelector('rect').setAttribute('width', wide);
    words.setAttribute('transform', `translate(${Math.max(2, Math.min(x + 12, full - wide - 2))},` +
      `${y + 42 > tall ? y - 28 : y + 18})`);
  }

  /* Breaks the lines below the frames for the width. */
  function wrap() {
    const most = Math.floor((full - 2 * edge) / LETTER), list = [''];
    for (const word of foot.textContent.split(' ')) {
      const line = list[list.length - 1];
      if (line && line.length + word.length > most) { list.push(''); }
      list[list.length - 1] += word + ' ';
    }
    tall += LINE * (list.length - foot.children.length);
    foot.textContent = '';
    list.forEach((line, i) => {
      const part = foot.appendChild(added('tspan', '', labels));
      set(part, { x: edge, dy: i && LINE }).textContent = i < list.length - 1 ? line :
        line.slice(0, -1);
    });
  }

  // }======

  // {====== Search ======

  /* Marks the frames whose names match a regular expression, and states their weight: self, and the
     total, in which a frame inside of another one is not counted again. */
  function search(pattern) {
    let wrong = '', self = 0, sum = 0, end = -1;
    wanted = null;
    try { wanted = pattern ? new RegExp(pattern) : null; } catch (e) { wrong = e.message; }
    const found = names.map((name, i) => i > 0 && wanted !== null && wanted.test(name));
    for (const f of frames) { f.match = found[f.id]; }
    const list = frames.filter(f => f.match).sort((a, b) => a.x - b.x || b.w - a.w);
    for (const f of list) {
      self += f.self;
      if (f.x >= end - 1e-7) {
        sum += f.w;
        end = f.x + f.w;
      }
    }
    const own = frames[0] ? texts.percent(self, frames[0].total) : '';
    const text = wrong || (wanted === null ? '' : (own && own + ' of self, ') +
      `${texts.percent(sum, 1)} of total, ${texts.count(found.filter(Boolean).length)} of ` +
      texts.counted(names.length - 1, 'function'));
    hits.textContent = texts.cut(text, Math.floor((full - 100) / LETTER));
    draw();
  }

  /* Opens the field with a text, or closes it (null). */
  function type(text) {
    const is_open = text !== null;
    typed = text;
    field.style.display = is_open ? '' : 'none';
    button.style.display = is_open ? 'none' : '';
    field.lastChild.textContent = is_open ? `/${text.slice(-30)}\u258f` : '';
    if (is_open && is_page) { svg.focus(); }
  }

  function enter(text) {
    type(text);
    search(text);
  }

  /* Takes a key of the open field; returns whether it is one. */
  function take(key) {
    if (key === 'Enter') {
      type(null);
    } else if (key === 'Escape') {
      type(null);
      search('');
    } else if (key === 'Backspace') {
      enter(typed.slice(0, -1));
    } else if (key.length === 1) {
      enter(typed + key);
    } else { return false; }
    return true;
  }

  // }======

  // {====== Mouse and keys ======

  function to(part) {
    zoom = part;
    draw();
  }

  /* Acts on a key; returns whether it has a meaning. */
  function press(event) {
    const key = event.key, is_command = (event.ctrlKey || event.metaKey) &&
      !event.getModifierState('AltGraph');
    if (is_command ? key === 'f' : key === '/' && typed === null) {
      type(wanted ? wanted.source : '');
      return true;
    }
    if (typed !== null) { return !is_command && take(key); }
    if (key === 'Escape') {
      zoom = whole;
      search('');
    } else if (key === 'Backspace') {
      to(frame_at(zoom.d - 1, zoom.x + zoom.w / 2) || whole);
    }
    return key === 'Escape' || key === 'Backspace';
  }

  function place(event) {
    const point = svg.createSVGPoint();
    point.x = event.clientX;
    point.y = event.clientY;
    return point.matrixTransform(svg.getScreenCTM().inverse());
  }

  svg.addEventListener('mousemove', event => {
    const p = place(event);
    tell(at(p.x, p.y), p.x, p.y);
  });
  svg.addEventListener('mouseleave', () => tell());
  svg.addEventListener('click', event => {
    const p = place(event), f = at(p.x, p.y);
    if (event.target === back) {
      to(whole);
    } else if (event.target === button) {
      keys.dispatchEvent(new window.KeyboardEvent('keydown', { key: '/' }));
    } else if (f) { to(f); }
  });
  keys.addEventListener('keydown', event => {
    if (press(event)) { event.preventDefault(); }
  });
  if (is_page) { set(svg, { tabindex: 0 }); }

  // }======

  function put_right() {
    set(button, { x: full - edge });
    set(hits, { x: full - edge });
    set(field, { transform: `translate(${full - edge - 250},5)` });
  }

  /* Puts the pictures of a file one below the other. */
  function stack() {
    let y = 0;
    for (const one of file.querySelectorAll('.flames')) {
      set(one, { y });
      y += Number(one.getAttribute('height'));
    }
    set(file, { viewBox: `0 0 ${full} ${y}`, height: y });
  }

  /* Draws the frames again if the width of the file has changed, unless it is hidden. */
  function fit() {
    const { width } = file.getBoundingClientRect(), now = Math.max(200, Math.floor(width));
    if (now === full || width === 0) { return; }
    full = now;
    wrap();
    set(svg, { viewBox: `0 0 ${full} ${tall}`, height: tall });
    put_right();
    if (file !== svg) {
      set(svg, { width: full });
      stack();
    }
    if (zoom.w === 1 && zoom.d === 0 && wanted === null) { stretch(); } else { draw(); }
  }

  set(file, { width: '100%' });
  field.append(set(added('rect', '', labels), { width: 250, height: 22, rx: 3 }),
    set(added('text', '', labels), { x: 8, y: 15 }));
  type(null);
  put_right();
  window.addEventListener('resize', fit);
  svg.flames = { to, search, frames, box, tell, fit };
  back.style.display = 'none';
  fit();
}());
