/* The bar of the page: search, metric and selected function. */
(function (page) {
  'use strict';
  const data = page.data, state = page.state, $ = page.$, make = page.make;
  const field = make('input', { type: 'search', id: 'find', placeholder: 'Search functions',
    'aria-label': 'Search functions and files' });
  const pattern = make('input', { type: 'checkbox', id: 'pattern' });
  const told = make('output', { id: 'count', className: 'note' });
  const next = make('button', { type: 'button', id: 'next' }, 'Next');
  const chip = make('span', { id: 'chosen', className: 'chip', hidden: true });
  const metrics = make('select', { id: 'metric', 'aria-label': 'Metric' });

  const schemes = page.switch('Colours of the page', [['light', 'Light'], ['dark', 'Dark'],
    ['system', 'System']], value => {
    page.remember_scheme(value);
    page.set({ scheme: value }, true);
  });

  /* Returns the ids of the functions in the table that match, in its order. */
  function found() {
    const hits = page.hits();
    return hits ? page.profile.table.function.filter(id => hits[id]) : [];
  }

  function found_lanes() { return page.lanes ? page.lanes.found() : []; }

  /* Returns the totals of functions, each weight once: those of the outermost contexts that match;
     null: without stacks this is not known. */
  function total_of(hits, metric) {
    const { tree } = page.profile;
    if (!tree) { return null; }
    const totals = page.totals(tree, metric), inside = new Uint8Array(totals.length);
    let sum = 0;
    for (let i = 1; i < totals.length; i++) {
      const is_one = hits[tree.function[i - 1]], is_below = inside[tree.parent[i]];
      inside[i] = is_one || is_below ? 1 : 0;
      sum += is_one && !is_below ? totals[i] : 0;
    }
    return sum;
  }

  function self_of(hits, metric) {
    const { table } = page.profile;
    return table.function.reduce((sum, fn, row) =>
      sum + (hits[fn] ? table.self[metric][row] : 0), 0);
  }

  /* Returns how much self or total functions have: its share; of a difference both sides and the
     change, since a share of changes of both signs says little. */
  function weight_of(kind, sum, metric) {
    if (data.difference) {
      const before = sum(1), after = sum(0), change = page.relative(before, after);
      return `${kind} ${page.amount(before, 1)} \u2192 ${page.amount(after, 0)}` +
        (change ? ` (${change})` : '');
    }
    const share = page.percent(sum(metric), page.profile.metrics[metric].total);
    return share && `${page.profile.about ? '\u2248 ' : ''}${share} of ${kind}`;
  }

  /* Returns the weights of the functions that the search finds, and whether the page may leave out
     some of it. */
  function weights(hits) {
    const metric = page.metric(), { tree, table } = page.profile;
    const has_all = tree ? page.filters.has_all(page.profile, hits) : table.left === 0;
    const texts = [weight_of('self', m => self_of(hits, m), metric)];
    if (tree) { texts.push(weight_of('total', m => total_of(hits, m), metric)); }
    return texts.filter(Boolean).map(text => (has_all ? '' : 'at least ') + text);
  }

  function show_count() {
    const hits = page.hits(), list = found(), place = list.indexOf(page.selected());
    told.textContent = page.hit_error || (hits === null ? '' : [...weights(hits),
      `${page.count(list.length)} of ` +
      page.counted(page.profile.table.function.length, 'function') +
      (place < 0 ? '' : ` (at ${place + 1})`),
      ...found_lanes().length ? [page.lanes.found_text()] : []].join(', '));
    next.disabled = list.length === 0 && !found_lanes().length;
  }

  function show_chosen() {
    const id = page.selected();
    chip.hidden = id < 0;
    if (id < 0) { return; }
    chip.replaceChildren(make('span', { title: page.name(id).slice(0, 2000) },
      page.cut(page.short(id), 40)), make('button', { type: 'button', id: 'clear',
      'aria-label': 'Clear the selection', onclick: () => page.select(-1) }, '\u00d7'));
  }

  function show(changed) {
    if (document.activeElement !== field) { field.value = state.find; }
    pattern.checked = state.pattern !== '';
    metrics.value = String(page.metric());
    if (changed.has('scheme')) {
      page.show_scheme(state.scheme);
      schemes.show(page.scheme());
    }
    if (['profile', 'select', 'find', 'pattern', 'metric'].some(name => changed.has(name))) {
      show_count();
      show_chosen();
    }
    for (const word of document.querySelectorAll('.metric')) {
      word.textContent = data.metrics[page.metric()].name;
    }
    for (const word of document.querySelectorAll('.goes')) {
      word.textContent = page.is_plural(data.metrics[page.metric()].name) ? 'go' : 'goes';
    }
  }

  field.addEventListener('input', () => page.set({ find: field.value }, true));
  field.addEventListener('keydown', event => {
    if (event.key === 'Enter') { next.click(); }
  });
  pattern.addEventListener('change', () => page.set({ pattern: pattern.checked ? 1 : '' }));
  next.addEventListener('click', () => {
    const list = found();
    if (list.length) {
      page.select(list[(list.indexOf(page.selected()) + 1) % list.length]);
    } else if (found_lanes().length) {
      page.timeline.next_lane(found_lanes());
    }
  });
  metrics.addEventListener('change', () =>
    page.set({ metric: data.metrics[+metrics.value].name }));
  document.addEventListener('keydown', event => {
    const typing = /^(input|select|textarea)$/i.test(event.target.tagName);
    if (event.key === '/' && !typing) {
      event.preventDefault();
      field.focus();
      field.select();
    } else if (event.key === 'Escape' && !event.defaultPrevented &&
        !document.querySelector('dialog[open]')) {
      field.value = '';
      page.tip(null);
      page.set({ find: '', select: '', call: '' });
      if (typing) { event.target.blur(); }
    }
  });

  data.metrics.forEach((metric, i) => metrics.append(make('option', { value: String(i) },
    metric.name + (metric.unit && metric.unit !== 'count' ? ` (${metric.unit})` : ''))));
  $('bar').append(field, make('label', { className: 'note', title: 'Patterns of Lua, for ' +
    'which letter case counts: %a %d . [set] * + - ? ^ $' }, pattern, ' pattern'), next);
  if (data.metrics.length > 1 && !data.difference) { $('bar').append(metrics); }
  $('bar').append(told, chip, schemes);
  for (const section of document.querySelectorAll('main section:not([hidden])')) {
    $('contents').append(make('li', {}, make('a', { href: '#', onclick: event => {
      event.preventDefault();
      section.scrollIntoView();
    } }, section.querySelector('h2').textContent)));
  }
  show_count();
  page.parts.push(show);
}(window.page));
