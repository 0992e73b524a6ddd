/* Copies what is selected, and saves tables and pictures as files. */
(function (page) {
  'use strict';
  const { $, make } = page, SHOWN = 2500; // ms
  const stated = make('span', { id: 'stated', className: 'chip', hidden: true });
  let timer = null;

  /* Says and shows for a short time what was done. */
  function state(text) {
    page.speak(text);
    stated.textContent = text;
    stated.hidden = false;
    window.clearTimeout(timer);
    timer = window.setTimeout(() => { stated.hidden = true; }, SHOWN);
  }

  /* Copies a text in the way of old browsers, and of pages that are not from a secure place. */
  function copy_by_field(text) {
    const field = make('textarea', { className: 'unseen', value: text, readOnly: true });
    const before = document.activeElement;
    document.body.append(field);
    field.select();
    const is_done = document.execCommand('copy');
    field.remove();
    if (before) { before.focus({ preventScroll: true }); }
    return is_done;
  }

  /* Copies a text, which is `words`. */
  page.copy = function (text, words) {
    const { clipboard } = window.navigator;
    const other = () => state(copy_by_field(text) ? `Copied ${words}` :
      'This browser does not let the page copy');
    if (clipboard && clipboard.writeText) {
      clipboard.writeText(text).then(() => state(`Copied ${words}`), other);
    } else {
      other();
    }
  };

  /* Saves a text or a blob as a file of this name, after the title of the page. */
  page.save = function (name, type, text) {
    const url = window.URL.createObjectURL(new window.Blob([text], { type }));
    const title = document.title.replace(/[^\w.-]+/g, '_').slice(0, 60), file = `${title}-${name}`;
    make('a', { href: url, download: file }).click();
    window.setTimeout(() => window.URL.revokeObjectURL(url), 60000);
    state(`Saved ${file}`);
  };

  function button(text, label, act) {
    return make('button', { type: 'button', 'aria-label': `${text}: ${label}`, title: label,
      onclick: act }, text);
  }

  // {====== Tables ======

  /* Returns rows as csv (RFC 4180): missing values are empty. */
  const csv = rows => rows.map(row => row.map(value => value === null || value === undefined ? '' :
    /[",\r\n]/.test(value) ? `"${String(value).replace(/"/g, '""')}"` : value).join(',') +
    '\r\n').join('');
  const tsv = rows => rows.map(row => row.map(value => value === null || value === undefined ? '' :
    String(value).replace(/[\t\r\n]+/g, ' ')).join('\t')).join('\n');

  /* Returns a button that saves a table as csv. `rows()` returns its names of columns and all of
     its rows; Ctrl+C copies them if the focus is in `element`. */
  page.csv_button = function (element, words, rows, title = 'CSV') {
    Object.assign(element, { table_rows: rows, table_words: words });
    const save = button(title, `save ${words} as csv`, () => page.save(words.replace(/\W+/g, '-') +
      '.csv', 'text/csv', csv(rows())));
    save.classList.add('csv');
    return save;
  };

  const unit_of = metric => metric.unit && metric.unit !== 'count' ? ` (${metric.unit})` : '';
  const place = fn => [page.name(fn), page.file(fn), page.data.functions.line[fn]];

  /* Returns names of columns of a weight in each metric, or in both sides of a difference. */
  const heads = words => page.profile.metrics.map((metric, m) => `${words} ` +
    (page.data.difference ? m ? 'before' : 'after' : metric.name) + unit_of(metric));

  function function_rows() {
    const { table } = page.profile, verdicts = page.data.verdicts && new Map(page.data.verdicts);
    const runs = page.tracks ? page.tracks.measured : [];
    return [['function', 'file', 'line', 'calls', ...heads('self'), ...heads('total'),
      ...(verdicts ? ['verdict'] : []), ...runs.map((_, run) => 'longest call' + (runs.length <
      2 ? '' : run ? ' before' : ' after') + ' (ns)')], ...table.function.map((fn, row) =>
      [...place(fn), table.calls[row], ...table.self.map(list => list[row]),
        ...table.total.map(list => list[row]), ...(verdicts ? [verdicts.get(fn)] : []),
        ...runs.map((_, run) => (page.worst_of(run, fn) || {}).long)])];
  }

  function line_rows() {
    const { lines, metrics, usual } = page.data;
    return [['file', 'line', 'function', 'self' + unit_of(metrics[usual]), 'source'],
      ...lines.list.flatMap(file => file.line.map((line, i) => [file.file, line,
        page.name(file.function[i]), file.self[i], file.text ? file.text[line - 1] :
          (file.near || {})[line]]))];
  }

  /* Returns the callers (up) or callees of a function. */
  function step_rows(fn, up) {
    const metric = page.metric(), is_pair = page.data.difference, unit = unit_of(
      page.profile.metrics[metric]);
    const view = is_pair ? { metric, up, before: 1, both: true } : { metric, up };
    const totals = is_pair ? ['total before' + unit, 'total after' + unit] :
      [`total ${page.profile.metrics[metric].name}${unit}`];
    return [['function', 'file', 'line', ...totals], ...page.function_frame(fn, view)
      .children().map(one => [...place(one.fn), ...(is_pair ? [one.before] : []), one.total])];
  }

  // }======

  // {====== Pictures ======

  /* A pen for page.surface that writes a document of SVG. */
  class SvgPen {
    constructor(width, height) {
      const space = ['http:', '', 'www.w3.org', '2000', 'svg'].join('/'); // no page asks for it
      Object.assign(this, { globalAlpha: 1, lineWidth: 1, hex: document.createElement('canvas')
        .getContext('2d'), list: [`<svg xmlns="${space}" width="${width}" height="${height}" ` +
        `viewBox="0 0 ${width} ${height}">`] });
    }

    /* Returns a colour in the form that all programs read. */
    color(name) {
      this.hex.fillStyle = name;
      return this.hex.fillStyle;
    }

    put(tag, values, text) {
      const safe = value => String(typeof value === 'number' ? +value.toFixed(2) : value).replace(
        /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '\ufffd').replace(/[&<>"]/g, letter =>
        `&#${letter.charCodeAt(0)};`);
      const words = Object.entries(values).map(([name, value]) => ` ${name}="${safe(value)}"`);
      this.list.push(`<${tag}${words.join('')}` + (text === undefined ? '/>' :
        `>${safe(text)}</${tag}>`));
    }

    filled() { return { fill: this.color(this.fillStyle), 'fill-opacity': this.globalAlpha }; }

    stroked() {
      return { fill: 'none', stroke: this.color(this.strokeStyle), 'stroke-width': this.lineWidth,
        'stroke-opacity': this.globalAlpha };
    }

    fillRect(x, y, width, height) { this.put('rect', { x, y, width, height, ...this.filled() }); }
    strokeRect(x, y, width, height) {
      this.put('rect', { x, y, width, height, ...this.stroked() });
    }

    fillText(text, x, y) {
      const [, weight, size, family] = /^(\d+ )?([\d.]+)px (.*)$/.exec(this.font);
      this.put('text', { x, y: y + size * 0.35, 'font-size': size, 'font-family': family,
        'font-weight': weight ? +weight : 400, 'xml:space': 'preserve', ...this.filled() }, text);
    }

    beginPath() { this.path = ''; }
    add(letter, ...values) {
      this.path += letter + values.map(value => +value.toFixed(2)).join(' ');
    }

    moveTo(...point) { this.add('M', ...point); }
    lineTo(...point) { this.add('L', ...point); }
    bezierCurveTo(...points) { this.add('C', ...points); }
    stroke() { this.put('path', { d: this.path, ...this.stroked() }); }
    fill() { this.put('path', { d: this.path, ...this.filled() }); }
    text() { return this.list.join('\n') + '\n</svg>\n'; }
  }

  const TALLEST = 8000; // pixels of a picture: of a taller one what is visible is saved

  /* Draws the picture of a surface with a pen that `made(width, height)` returns. */
  function draw(surface, made) {
    const { box } = surface, width = surface.width(), is_whole = surface.height <= TALLEST;
    const height = Math.ceil(is_whole ? surface.height : box.clientHeight);
    const pen = made(width, height);
    pen.fillStyle = page.style('--page');
    pen.fillRect(0, 0, width, height);
    page.begin_picture(pen);
    surface.draw(pen, width, is_whole ? 0 : box.scrollTop, height);
    return pen;
  }

  function save_png(surface, name) {
    const canvas = make('canvas');
    draw(surface, (width, height) => {
      Object.assign(canvas, { width: 2 * width, height: 2 * height });
      const pen = canvas.getContext('2d');
      pen.scale(2, 2);
      return pen;
    });
    canvas.toBlob(blob => blob ? page.save(name + '.png', 'image/png', blob) :
      state('This browser cannot save the picture'));
  }

  const save_svg = (surface, name) => page.save(name + '.svg', 'image/svg+xml', draw(surface,
    (width, height) => new SvgPen(width, height)).text());

  /* Adds buttons to a section, unless it has nothing to draw. */
  const add_tools = (section, ...buttons) => $(section).querySelector('.tools')?.append(...buttons);

  function add_pictures(section, surface, name) {
    const words = name.replace('-', ' ');
    add_tools(section, button('PNG', `save the ${words} as png`, () =>
      save_png(surface, name)), ...(name === 'timeline' ? [] : [button('SVG',
      `save the ${words} as svg`, () => save_svg(surface, name))]));
  }

  // }======

  // {====== What is selected ======

  /* Returns the names of functions, the outermost first, as lines. */
  const lines_of = path => path.map(fn => page.name(fn)).join('\n');

  page.copy_stack = path => page.copy(lines_of(path), `a stack of ${page.count(path.length)}`);

  /* Returns the frame of the flame graph to which the keys went, else the zoomed one, or null. */
  function frame_at_hand() {
    const frame = page.flames.current() || page.flames.zoomed();
    return frame && frame.fn >= 0 ? frame : null;
  }

  function copy_frame_stack() {
    const path = [];
    for (let frame = frame_at_hand(); frame && frame.fn >= 0; frame = frame.parent) {
      path.unshift(frame.fn);
    }
    if (page.state.order === 'inverted') { path.reverse(); }
    if (path.length) { page.copy_stack(path); } else { state('No frame is selected'); }
  }

  /* Returns the selected function with the facts that a list states. */
  function facts_of(selector) {
    const list = document.querySelector(selector), rows = list ? [...list.children] : [];
    return [page.name(page.selected()), ...rows.map(row =>
      [...row.children].map(cell => cell.textContent).join(': '))].join('\n');
  }

  /* Returns what is selected as a text, and what it is. */
  function selection() {
    const at = document.activeElement, frame = frame_at_hand(), chosen = page.selected();
    const call = page.chosen_call && page.chosen_call();
    for (let element = at; element; element = element.parentElement) {
      if (element.table_rows) { return [tsv(element.table_rows()), element.table_words]; }
    }
    const is_frame = at === page.flames.surface.canvas || (!call && frame && frame.fn === chosen);
    if (is_frame && frame) { return [page.flames.words(frame).join('\n'), 'the frame']; }
    if (at === page.call_graph.surface.canvas && page.call_graph.words_at_hand()) {
      return [page.call_graph.words_at_hand().join('\n'), 'the function'];
    }
    if (chosen < 0) { return null; }
    return call ? [facts_of('#call > dl'), 'the call'] : [facts_of('#details > dl'),
      'the function'];
  }

  document.addEventListener('keydown', event => {
    const is_copy = (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey &&
      event.key.toLowerCase() === 'c';
    const is_busy = /^(input|select|textarea)$/i.test(event.target.tagName) ||
      String(window.getSelection()) !== '' || document.querySelector('dialog[open]');
    const found = is_copy && !is_busy && selection();
    if (found) {
      event.preventDefault();
      page.copy(...found);
    }
  });

  // }======

  add_tools('flames', button('Copy stack', 'copy the functions of the selected frame, the ' +
    'outermost first', copy_frame_stack));
  add_pictures('flames', page.flames.surface, 'flame-graph');
  add_pictures('call-graph', page.call_graph.surface, 'call-graph');
  if (page.timeline) { add_pictures('timeline', page.timeline.surface, 'timeline'); }
  $('functions').append(page.csv_button($('functions'), 'functions', function_rows));
  if (page.data.lines.list.length) {
    $('lines').append(page.csv_button($('lines'), 'hot lines', line_rows));
  }
  page.about.push(fn => {
    const part = make('div', { className: 'tools' });
    for (const [words, up] of [['Callers', true], ['Callees', false]]) {
      part.append(page.csv_button({}, words.toLowerCase(), () => step_rows(fn, up),
        words + ': CSV'));
    }
    return part;
  });
  $('count').before(button('Copy link', 'copy the address of what is shown', () =>
    page.copy(page.link(), 'the address')));
  $('bar').append(stated);
}(window.page));
