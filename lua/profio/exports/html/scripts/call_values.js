/* The calls of the selected function by the line from which they come, and by their parameters. */
(function (page) {
  'use strict';
  if (!page.data.call_values) { return; }
  const make = page.make, by_function = new Map(page.data.call_values.map(one =>
    [one.function, one]));
  const titles = { line: 'By line of the call', params: 'By parameters' };

  function line_of(line, caller, source) {
    const text = line === null ? '(no line)' : `line ${line}${source ? ': ' + source : ''}`;
    return caller === null ? text : [make('button', { type: 'button', className: 'name',
      title: page.name(caller).slice(0, 2000), onclick: () => page.select(caller) },
    page.cut(page.short(caller), 40)), ', ' + text];
  }

  /* Returns all rows for csv. */
  function rows_of(kind, list) {
    const names = ['calls', 'time (ns)', 'longest (ns)'];
    return kind === 'params' ? [['parameters', ...names], ...list.rows] :
      [['line', 'caller', 'source', ...names], ...list.rows.map(([line, caller, ...rest]) =>
        [line, caller === null ? null : page.name(caller), ...rest])];
  }

  function table_of(kind, list) {
    const body = make('tbody');
    for (const row of list.rows) {
      const [calls, elapsed, longest] = row.slice(-3);
      const value = kind === 'line' ? line_of(...row) : row[0] === null ? '(none)' : row[0];
      body.append(make('tr', {}, make('td', { className: 'source' }, ...[value].flat()),
        make('td', { className: 'number' }, page.count(calls)),
        make('td', { className: 'number' }, page.time(elapsed)),
        make('td', { className: 'number' }, page.time(longest))));
    }
    const head = make('thead', {}, make('tr', {}, ...[kind === 'line' ? 'From' : 'Parameters',
      'Calls', 'Time', 'Longest'].map(text => make('th', { scope: 'col' }, text))));
    const part = make('div', {}, make('h3', {}, titles[kind] + page.of_all()), make('div',
      { className: 'wide', tabIndex: 0, role: 'group', 'aria-label': titles[kind] },
      make('table', {}, head, body)));
    part.append(page.csv_button(part, `calls ${titles[kind].toLowerCase()}`, () =>
      rows_of(kind, list)));
    if (list.left > 0) {
      part.append(make('p', { className: 'note' },
        page.counted(list.left, kind === 'line' ? 'more line' : 'more value') +
        ' with less time: profio explain lists all'));
    }
    return part;
  }

  page.about.push(fn => {
    const found = by_function.get(fn), part = make('div', { id: 'values' });
    for (const kind of found ? Object.keys(titles).filter(name => found[name]) : []) {
      part.append(table_of(kind, found[kind]));
    }
    return part;
  });
}(window.page));
