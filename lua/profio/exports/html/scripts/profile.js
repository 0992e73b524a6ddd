/* The profile that the page shows: that of the file, or what stages such as a range of time leave
   of it. It has `metrics` with their totals, `table` (of functions: self and total by metric and
   row, calls, row_of), `tree` (or null, if only `arcs` are known) and `about` (why its numbers are
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

  /* Calls enter(node) for each context of a tree after its callers, and leave(node) after its
     callees. */
  page.walk = function (tree, enter, leave) {
    let node = tree.first[0];
    while (node) {
      enter(node);
      if (tree.first[node]) {
        node = tree.first[node];
        continue;
      }
      leave(node);
      while (node && !tree.next[node]) {
        node = tree.parent[node];
        if (node) { leave(node); }
      }
      node = node && tree.next[node];
    }
  };

  /* Returns by context whether it is the outermost one of its function in its stack: recursive
     calls count once in totals. */
  function outermost_of(tree) {
    const found = new Uint8Array(tree.parent.length);
    const open = new Int32Array(data.functions.name.length);
    page.walk(tree, node => {
      found[node] = open[tree.function[node - 1]]++ === 0 ? 1 : 0;
    }, node => { open[tree.function[node - 1]]--; });
    return found;
  }

  page.outermost = function (tree) {
    tree.outermost = tree.outermost || outermost_of(tree);
    return tree.outermost;
  };

  /* Returns the table of the functions in a tree. */
  page.table_of = function (tree) {
    const count = tree.function.length, outermost = page.outermost(tree);
    const row_at = new Int32Array(data.functions.name.length).fill(-1), functions = [];
    for (let i = 0; i < count; i++) {
      const fn = tree.function[i];
      if (row_at[fn] < 0) { row_at[fn] = functions.push(fn) - 1; }
    }
    const sums = add => {
      const list = new Float64Array(functions.length);
      for (let i = 0; i < count; i++) { list[row_at[tree.function[i]]] += add(i); }
      return list;
    };
    const total = tree.self.map((_, m) => page.totals(tree, m));
    const has_calls = tree.calls.length > 0 && tree.calls[0] !== null;
    return { function: functions, row_of: new Map(functions.map((fn, row) => [fn, row])), left: 0,
      left_self: total.map(() => 0), self: tree.self.map(self => sums(i => self[i])),
      total: total.map(list => sums(i => outermost[i + 1] ? list[i + 1] : 0)),
      calls: has_calls ? sums(i => tree.calls[i]) : functions.map(() => null) };
  };

  const whole = { metrics: data.metrics, table: indexed(data.table), arcs: data.arcs,
    tree: data.tree ? linked(data.tree) : null, about: '' };

  /* Returns a profile of a tree, whose numbers are estimates because of `about`, if that is not
     ''. */
  page.profile_of = (tree, about) => ({ tree, about, table: page.table_of(tree), metrics:
    data.metrics.map((metric, m) => ({ ...metric, total: page.totals(tree, m)[0] })) });

  /* Stages that reduce the profile, in order: { fields, apply }, with the fields of the state on
     which they depend, and a function that returns a reduced profile, or the same one. */
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
