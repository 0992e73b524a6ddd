/* The row of filters below the bar, and the buttons that filter by the selected function. */
(function (page) {
  'use strict';
  const state = page.state, $ = page.$, make = page.make, filters = page.filters;
  if (!filters) {
    $('flames').append(make('p', { className: 'note' }, 'The profile has no stacks, so this page ' +
      'cannot focus, ignore or hide functions: options --focus, --ignore and --hide of the ' +
      'command do, by the shares of calls.'));
    return;
  }
  const names = { focus: 'Focus', ignore: 'Ignore', hide: 'Hide' };
  const shares = ['0.1', '0.5', '1', '5'];
  const chips = make('span', { className: 'chips' });
  const word = make('select', { 'aria-label': 'Kind of filter' },
    ...filters.words.map(value => make('option', { value }, names[value])));
  const text = make('input', { type: 'text', id: 'filtered', placeholder: 'name or ~pattern',
    'aria-label': 'Functions: a name, a file, FILE:NAME, or ~ and a Lua pattern' });
  const toggle = make('button', { type: 'button', id: 'filter', 'aria-expanded': 'false',
    'aria-controls': 'filters', onclick: () => {
      page.set({ filters: state.filters && !filters.is_set() ? '' : 1 });
      if (state.filters) { text.focus(); }
    } }, 'Filter');
  const merge = make('input', { type: 'checkbox', onchange: () =>
    page.set({ merge: merge.checked ? 1 : '' }) });
  const drop = make('select', { 'aria-label': 'Drop frames below a share', onchange: () =>
    page.set({ drop: drop.value }) }, make('option', { value: '' }, 'drop nothing'),
  ...shares.map(value => make('option', { value }, `drop below ${value} %`)));
  const told = make('div', { className: 'note', role: 'status' });
  const clear = make('button', { type: 'button', onclick: filters.clear }, 'Clear');

  /* Adds the typed text. What is the name of no function and no file is taken as a pattern. */
  function add() {
    const given = text.value.trim();
    if (given === '' || given === '~') { return; }
    const is_known = given.startsWith('~') || filters.chosen_by(given).includes(1);
    filters.add(word.value, is_known ? given : '~' + given);
    text.value = '';
  }

  text.addEventListener('keydown', event => {
    if (event.key === 'Enter') { add(); }
    if (event.key === 'Escape') {
      event.preventDefault();
      page.set({ filters: '' });
      toggle.focus();
    }
  });

  const help = make('details', { className: 'note' }, make('summary', {}, 'What filters do'),
    make('dl', {}, ...[
      ['focus', 'only stacks with one of these functions (--focus of the command)'],
      ['ignore', 'only stacks without them (--ignore)'],
      ['hide', 'the cost of these functions goes to their callers; one without a caller keeps ' +
        'its self cost (--hide)'],
      ['names', 'NAME, FILE, FILE:NAME, FILE:LINE, or ~ and a pattern of Lua, for which letter ' +
        'case counts: ~^std matches names that begin with std, %d a digit, .- any text. A text ' +
        'that is no name is taken as a pattern. All focus come first, then ignore, then hide.'],
      ['merge recursion', 'a function that is called by itself, directly or through others, is ' +
        'merged into its outermost frame in the stack: self costs add up, the total counts once, ' +
        'and what it calls there moves along, so that functions between the two frames have ' +
        'only what remains'],
      ['drop', 'frames with a smaller share of the total are merged into their callers, as ' +
        'profile:prune of Lua does; of a comparison, where both sides are smaller'],
      ['calls', 'those of frames that are hidden or merged into others do not count'],
      ['unchanged', 'timeline, longest calls, durations and source lines']
    ].map(([name, meaning]) => make('div', {}, make('dt', {}, name), make('dd', {}, meaning)))));

  const row = make('div', { id: 'filters', role: 'group', 'aria-label': 'Filters', hidden: true },
    chips, make('span', { className: 'field' }, word, text, make('button', { type: 'button',
      onclick: add }, 'Add')), make('label', { className: 'note' }, merge, ' merge recursion'),
    drop, clear, told, help);
  $('bar').append(row);
  page.$('count').before(toggle);

  function chip(kind, spec) {
    return make('span', { className: 'chip' }, make('span', { title: spec.slice(0, 2000) },
      `${kind}: ${page.cut(spec, 40)}`), make('button', { type: 'button', 'aria-label':
      `Remove ${kind} ${spec.slice(0, 200)}`, onclick: () => {
        filters.remove(kind, spec);
        toggle.focus();
      } }, '\u00d7'));
  }

  function count() {
    return filters.words.reduce((sum, kind) => sum + filters.list(kind).length, 0) +
      (state.merge ? 1 : 0) + (filters.share() > 0 ? 1 : 0);
  }

  function show_told() {
    const { about } = page.profile, lines = [];
    if (filters.is_set()) { lines.push(`The numbers below are of ${filters.summary()}.`); }
    if (about) { lines.push(`\u2248: ${about}.`); }
    told.replaceChildren(...filters.problems.map(line => make('div', { className: 'problem' },
      line)), ...lines.map(line => make('div', {}, line)));
  }

  function show(changed) {
    const names_of = [...filters.words, 'merge', 'drop', 'filters', 'profile', 'metric'];
    if (!names_of.some(name => changed.has(name))) { return; }
    const is_open = filters.is_set() || state.filters !== '';
    row.hidden = !is_open;
    toggle.setAttribute('aria-expanded', String(is_open));
    toggle.textContent = count() ? `Filter (${count()})` : 'Filter';
    toggle.classList.toggle('set', count() > 0);
    chips.replaceChildren(...filters.words.flatMap(kind =>
      filters.list(kind).map(spec => chip(kind, spec))));
    merge.checked = state.merge !== '';
    if (filters.share() > 0 && !shares.includes(state.drop)) {
      shares.push(state.drop);
      drop.append(make('option', { value: state.drop }, `drop below ${state.drop} %`));
    }
    drop.value = filters.share() > 0 ? state.drop : '';
    clear.hidden = !filters.is_set();
    show_told();
  }

  page.about.unshift(fn => make('div', { className: 'tools filter-by' },
    ...filters.words.map(kind => make('button', { type: 'button', title:
      `${names[kind]} this function (${kind[0].toUpperCase()} in the flame graph)`,
    onclick: () => filters.add_function(kind, fn) }, names[kind]))));
  if (page.tracks) {
    page.about.splice(1, 0, () => filters.is_set() ? make('p', { className: 'note' },
      'Durations and longest calls are those without filters.') : '');
  }
  new window.ResizeObserver(() => document.documentElement.style.setProperty('--top',
    $('bar').offsetHeight + 'px')).observe($('bar'));
  page.parts.push(show);
}(window.page));
