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

  function show_count() {
    const list = found(), place = list.indexOf(page.selected());
    told.textContent = page.hit_error || (page.hits() === null ? '' :
      (place < 0 ? '' : place + 1 + ' of ') + page.count(list.length) + ' of ' +
      page.count(page.profile.table.function.length));
    next.disabled = list.length === 0;
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
    if (['profile', 'select', 'find', 'pattern', 'hits'].some(name => changed.has(name))) {
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
    if (list.length) { page.select(list[(list.indexOf(page.selected()) + 1) % list.length]); }
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
  $('bar').append(field, make('label', { className: 'note' }, pattern, ' pattern'), next);
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
