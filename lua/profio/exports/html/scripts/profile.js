/* The profile that the page shows: that of the file, or what stages such as a range of time leave
   of it. It has `totals` (by metric), `table` (of functions: self and total by metric and row,
   calls, row_of), `tree` (or null, if only arcs are known) and `about` (why its numbers are
   estimates; '': they are exact). */
(function (page) {
  'use strict';
  const data = page.data;

  /* Adds to a tree in pre-order the parent, first child and next sibling of each context: context i
     is i + 1 there, and 0 is the root. */
  function linked(tree) {
    const count = tree.depth.length, open = [0], last = new Int32Array(count + 1);
    const parent = new Int32Array(count + 1), first = new Int32Array(count + 1);
    const next = new Int32Array(count + 1);
    for (let i = 1; i <= count; i++) {
      const depth = tree.depth[i - 1], above = open[depth - 1] || 0;
      parent[i] = above;
      open[depth] = i;
      if (last[above]) { next[last[above]] = i; } else { first[above] = i; }
      last[above] = i;
    }
    return { ...tree, parent, first, next, totals: new Map() };
  }

  function indexed(table) {
    return { ...table, row_of: new Map(table.function.map((fn, row) => [fn, row])) };
  }

  /* Calls act(node, is_outermost) for each context of a tree, after its callers: whether no caller
     is the same function. */
  function walk(tree, act) {
    const open = new Map();
    let node = tree.first[0];
    while (node) {
      const fn = tree.function[node - 1], count = open.get(fn) || 0;
      act(node, count === 0);
      if (tree.first[node]) {
        open.set(fn, count + 1);
        node = tree.first[node];
        continue;
      }
      while (node && !tree.next[node]) {
        node = tree.parent[node];
        if (node) { open.set(tree.function[node - 1], open.get(tree.function[node - 1]) - 1); }
      }
      node = node && tree.next[node];
    }
  }

  /* Returns the table of the functions in a tree. */
  page.table_of = function (tree) {
    const row_of = new Map(), metrics = tree.self.map((_, m) => m);
    const table = { function: [], calls: [], row_of, left: 0, left_self: metrics.map(() => 0),
      self: metrics.map(() => []), total: metrics.map(() => []) };
    const totals = metrics.map(m => page.totals(tree, m));
    walk(tree, (node, is_outermost) => {
      const fn = tree.function[node - 1], calls = tree.calls[node - 1];
      let row = row_of.get(fn);
      if (row === undefined) {
        row = table.function.push(fn) - 1;
        row_of.set(fn, row);
        table.calls.push(null);
        for (const m of metrics) {
          table.self[m].push(0);
          table.total[m].push(0);
        }
      }
      if (calls !== null) { table.calls[row] += calls; }
      for (const m of metrics) {
        table.self[m][row] += tree.self[m][node - 1];
        table.total[m][row] += is_outermost ? totals[m][node] : 0;
      }
    });
    return table;
  };

  const whole = { totals: data.metrics.map(metric => metric.total), table: indexed(data.table),
    tree: data.tree ? linked(data.tree) : null, about: '' };

  /* What reduces the profile, in order: { fields, apply }, with the fields of the state on which it
     depends, and a function that returns a reduced profile, or the same one. */
  page.stages = [];
  page.profile = whole;

  /* Returns the selected range of time, or null; a page with a timeline has one. */
  page.selected_range = () => null;

  /* Returns what follows the heading of numbers that no range of time changes. */
  page.of_all = () => page.selected_range() ? ', of the whole trace' : '';

  /* Returns a weight with its unit, and \u2248 if it is an estimate. */
  page.amount = (value, metric) => (page.profile.about ? '\u2248 ' : '') +
    page.weight(value, metric);

  page.parts.push(changed => {
    if (page.stages.some(stage => stage.fields.some(name => changed.has(name)))) {
      page.profile = page.stages.reduce((profile, stage) => stage.apply(profile), whole);
      changed.add('profile');
    }
  });
}(window.page));
