/* The functions that cost most, and the table of all functions: it sorts, and shows those that the
   search finds. */
(function (page) {
  'use strict';
  const data = page.data, state = page.state, $ = page.$, make = page.make;
  const FIRST = 30; // rows that are shown at first
  const phone = window.matchMedia('(max-width: 600px)');
  let shown = FIRST, { table } = page.profile;

  // {====== Columns ======

  const has_places = data.functions.file.some(file => file >= 0);
  const verdicts = new Map(data.verdicts);
  const number = (kind, metric) => row => table[kind][metric][row];
  const change = (kind) => row => table[kind][0][row] - table[kind][1][row];
  const before_after = (kind, row) => [table[kind][1][row], table[kind][0][row]];

  function longest_column(_, run, runs) {
    const title = runs.length < 2 ? 'Longest call' : run ? 'Longest before' : 'after';
    return { key: run ? 'longest_before' : 'longest', as: 'longest', run, title, value: row => {
      const found = page.worst_of(run, table.function[row]);
      return found ? found.long : null;
    } };
  }

  /* Returns the columns: key, title, value of a row, and how it is shown: text, weight, calls, bar
     (a share of the whole, drawn). */
  function columns() {
    const m = page.metric();
    const name = { key: 'name', title: 'Function', as: 'text',
      value: row => page.name(table.function[row]) };
    if (phone.matches) {
      const self = data.difference ? { value: change('self'), as: 'change' } :
        { value: number('self', m), as: 'share' };
      return [{ key: 'self', title: 'Self', ...self }, name];
    }
    const list = [name,
      { key: 'calls', title: 'Calls', value: row => table.calls[row], as: 'calls' }];
    if (table.calls.every(calls => calls === null)) { list.pop(); }
    if (verdicts.size > 0) {
      list.push({ key: 'verdict', title: 'Verdict', as: 'verdict',
        value: row => verdicts.get(table.function[row]) || '' });
    }
    for (const kind of ['self', 'total']) {
      const title = kind === 'self' ? 'Self' : 'Total';
      if (data.difference) {
        list.push({ key: kind + '_before', title: title + ' before', value: number(kind, 1) },
          { key: kind + '_after', title: 'after', value: number(kind, 0) },
          { key: kind, title: 'change', value: change(kind), as: 'change',
            has_bar: kind === 'self' });
      } else {
        list.push({ key: kind, title, value: number(kind, m), as: 'share', has_bar: true });
      }
    }
    list.push(...(page.tracks ? page.tracks.measured : []).map(longest_column).reverse());
    if (!has_places) { return list; }
    list.push({ key: 'place', title: 'Place', value: row => page.place(table.function[row]),
      as: 'text' });
    return list;
  }

  /* Returns the sum of the sizes of self, to which shares are relative. */
  function whole(metric) {
    return data.difference ? table.self[0].reduce((sum, value, row) =>
      sum + Math.abs(value - table.self[1][row]), 0) : page.profile.metrics[metric].total;
  }
  page.whole = whole;

  // }======

  // {====== Rows ======

  function compare(column, down) {
    const sign = down ? -1 : 1, value = column.value, by_size = down && column.as === 'change';
    return (a, b) => {
      let x = value(a), y = value(b);
      if (typeof x === 'string') { return sign * (x < y ? -1 : x > y ? 1 : a - b); }
      x = by_size ? Math.abs(x) : x;
      y = by_size ? Math.abs(y) : y;
      return sign * ((x === null ? -Infinity : x) - (y === null ? -Infinity : y)) || a - b;
    };
  }

  function sorted_rows(list) {
    const hits = page.hits(), key = state.sort.replace(/^-/, '');
    const column = list.find(one => one.key === key) || list.find(one => one.key === 'self');
    const rows = [];
    for (let row = 0; row < table.function.length; row++) {
      if (!hits || hits[table.function[row]]) { rows.push(row); }
    }
    return rows.sort(compare(column, state.sort.startsWith('-')));
  }

  function bar(share, extra) {
    const cell = make('td', { className: 'bar' }, make('span', { className: extra }));
    cell.firstChild.style.width = Math.min(100, Math.abs(share) * 100).toFixed(1) + '%';
    return cell;
  }

  function fitting(id, letters) { return page.cut(page.brief(id, letters * 7.25), letters); }

  function name_cell(id) {
    const button = make('button', { type: 'button', className: 'name',
      title: page.name(id).slice(0, 2000), onclick: () => page.select(id) },
    make('i', { className: 'hue' }),
    fitting(id, window.innerWidth < 600 ? 28 : 60));
    button.firstChild.style.background = page.color(id);
    return make('th', { scope: 'row', className: 'l' }, button);
  }

  /* Returns a cell whose click shows the longest call in the timeline. */
  function longest_cell(id, value, run) {
    const cell = make('td');
    if (value !== null) {
      cell.append(make('button', { type: 'button', className: 'jump', 'aria-label':
        `Show the longest call of ${page.short(id).slice(0, 80)}, ${page.time(value)}`,
      onclick: () => page.show_call(page.worst_of(run, id), id) }, page.time(value)));
    }
    return cell;
  }

  /* Returns the cells of one value. */
  function cells(column, row, metric, all) {
    const value = column.value(row);
    if (column.as === 'longest') { return [longest_cell(table.function[row], value,
      column.run)]; }
    if (column.key === 'name') { return [name_cell(table.function[row])]; }
    if (column.as === 'verdict') {
      return [make('td', {}, make('span', { className: 'verdict ' + value }, value))];
    }
    if (column.as === 'text') {
      return [make('td', { className: 'l place', title: value },
        page.cut(value.replace(/^.*[/\\]/, ''), 36))];
    }
    const text = value === null ? '' : column.as === 'calls' ? page.count(value) :
      (column.as === 'change' && value > 0 ? '+' : '') + page.amount(value, metric);
    const cell = make('td', { className: value === 0 ? 'zero' : '' }, text);
    if (column.as !== 'share' && column.as !== 'change') { return [cell]; }
    return [cell, ...column.has_bar ? [bar(value / (column.most || 1), value < 0 ? 'less' :
      column.as === 'change' ? 'grown' : '')] : [],
    make('td', { className: value === 0 ? 'zero' : '' }, column.as === 'change' ?
      page.relative(...before_after(column.key, row)) : page.percent(value, all))];
  }

  // }======

  const head = make('tr'), body = make('tbody');
  const more = make('button', { type: 'button', id: 'more' });
  const left = make('p', { className: 'note' });

  function put_head(list) {
    const key = state.sort.replace(/^-/, ''), down = state.sort.startsWith('-');
    head.replaceChildren(...list.map(column => make('th', { scope: 'col',
      colSpan: column.has_bar ? 3 : column.as === 'share' || column.as === 'change' ? 2 : 1,
      className: column.as === 'text' ? 'l' : '',
      'aria-sort': key !== column.key ? 'none' : down ? 'descending' : 'ascending' },
    make('button', { type: 'button', value: column.key, onclick: () => page.set({
      sort: (column.key === key ? !down : column.as !== 'text') ? '-' + column.key : column.key },
    true) }, column.title))));
  }

  function put_rows(list) {
    const rows = sorted_rows(list), metric = page.metric(), all = whole(metric);
    const chosen = page.selected(), visible = rows.slice(0, shown);
    for (const column of list) {
      column.most = rows.reduce((most, row) => Math.max(most, Math.abs(column.value(row)) || 0), 0);
    }
    body.replaceChildren(...visible.map(row => {
      const line = make('tr', {}, ...list.flatMap(column => cells(column, row, metric, all)));
      line.dataset.id = table.function[row];
      line.classList.toggle('chosen', table.function[row] === chosen);
      return line;
    }));
    more.hidden = rows.length <= shown;
    more.textContent = `Show all ${page.count(rows.length)}`;
  }

  /* Returns a function that costs much, with a bar that is relative to the largest cost. */
  function cost_item(row, value, most, metric) {
    const id = table.function[row], bar_of = make('span', { className: 'meter' }, make('span', {
      className: value < 0 ? 'less' : data.difference ? 'grown' : '' }));
    bar_of.firstChild.style.width = (100 * Math.abs(value) / (most || 1)).toFixed(1) + '%';
    const [before, after] = data.difference ? before_after('self', row) : [];
    return make('li', {}, make('button', { type: 'button', className: 'name',
      title: page.name(id).slice(0, 2000), onclick: () => page.select(id) }, fitting(id, 48)),
    bar_of, make('span', { className: 'amount' }, data.difference ?
      `${value > 0 ? '+' : ''}${page.amount(value, metric)}: ${page.amount(before, metric)} to ` +
      `${page.amount(after, metric)}, ${page.relative(before, after)}` :
      `${page.amount(value, metric)}, ${page.percent(value, whole(metric))}`));
  }

  /* Writes the total of each metric in the summary, as "X of Y" if a range or a filter selects a
     part. */
  function put_facts() {
    for (const fact of document.querySelectorAll('#summary [data-metric]')) {
      const m = +fact.dataset.metric, all = data.metrics[m].total;
      const { total } = page.profile.metrics[m];
      fact.textContent = (total === all ? '' : `${page.amount(total, m)} of `) +
        page.weight(all, m);
    }
  }

  function put_costs() {
    const metric = page.metric();
    const value = data.difference ? change('self') : number('self', metric);
    const rows = table.function.map((_, row) => row)
      .sort(compare({ as: data.difference ? 'change' : '', value }, true))
      .filter(value).slice(0, 5);
    $('costs-of').textContent = (page.selected_range() ? ' in the selected range' : '') +
      (page.profile.is_filtered ? ' with filters' : '');
    $('costs').replaceChildren(...rows.map(row =>
      cost_item(row, value(row), Math.abs(value(rows[0])), metric)));
    if (rows.length === 0) {
      $('costs').append(make('li', { className: 'note' }, 'No function has any.'));
    }
  }

  function show(changed) {
    const has = (...names) => names.some(name => changed.has(name));
    if (!has('profile', 'find', 'pattern', 'metric', 'sort', 'select')) { return; }
    table = page.profile.table;
    const list = columns();
    if (has('find', 'pattern')) { shown = FIRST; }
    if (has('profile', 'metric')) {
      put_costs();
      put_facts();
      put_left();
    }
    put_head(list);
    put_rows(list);
  }

  phone.addEventListener('change', () => show(new Set(['sort'])));
  more.addEventListener('click', () => {
    shown = Infinity;
    put_rows(columns());
  });

  /* States how many functions the page has, and what the others cost. */
  function put_left() {
    const metric = page.metric(), count = table.function.length, rest = table.left_self[metric];
    left.textContent = (table.left > 0 ? `${page.count(count)} of ` +
      `${page.counted(count + table.left, 'function')}; the rest, of smaller self, have ` +
      `${page.weight(rest, metric)}, ${page.percent(rest, page.profile.metrics[metric].total)}: ` +
      '--set size=N or functions=N. ' : '') + (data.difference ?
      'Shares are parts of the sum of all changes of self.' : '');
  }

  $('functions').classList.toggle('pair', Boolean(data.difference) && has_places);
  $('functions').append(make('div', { className: 'wide', tabIndex: 0, role: 'region',
    'aria-label': 'Table of functions' }, make('table', {}, make('thead', {}, head), body)),
  more, left);
  page.parts.push(show);
}(window.page));
