/* Frames of flame graphs and of trees of callers and callees. A frame is computed when it is first
   looked at, so that a page of 100,000 contexts opens at once. Each frame has fn (id of its
   function), self, total, before (of a difference), parent, depth, calls and children(), the
   largest first. */
(function (page) {
  'use strict';
  
  // {====== The tree of contexts ======

  /* Returns totals of all contexts (index 0 is the root, context i is i + 1). */
  function totals_of(tree, metric) {
    const count = tree.function.length, totals = new Float64Array(count + 1);
    for (let i = count; i > 0; i--) {
      totals[i] += tree.self[metric][i - 1] + tree.rest[metric][i - 1];
      totals[tree.parent[i]] += totals[i];
    }
    totals[0] += tree.outside[metric];
    return totals;
  }

  page.totals = function (tree, metric) {
    if (!tree.totals.has(metric)) { tree.totals.set(metric, totals_of(tree, metric)); }
    return tree.totals.get(metric);
  };

  /* Contexts of one function that are shown as one frame. With `up` the children are callers, and
     `origins` states for which contexts below they stand. */
  class Contexts {
    constructor(view, parent, fn, nodes, origins) {
      Object.assign(this, { view, parent, fn, nodes, origins });
      this.depth = parent ? parent.depth + 1 : 0;
      this.total = this.sum(view.metric);
      this.before = view.before === undefined ? undefined : this.sum(view.before);
      this.width = view.both ? Math.max(0, this.total) + Math.max(0, this.before) : this.total;
    }

    sum(metric) {
      const { by_self, tree } = this.view;
      const of = by_self ? null : page.totals(tree, metric), self = tree.self[metric];
      let sum = 0;
      for (const node of this.origins || this.nodes) {
        sum += of ? of[node] : self[node - 1];
      }
      return sum;
    }

    get self() {
      if (this.origins) { return this.depth > 1 ? 0 : this.total; }
      const self = this.view.tree.self[this.view.metric];
      return this.nodes.reduce((sum, i) => sum + (i ? self[i - 1] : 0), 0);
    }

    /* How much of the total lies in contexts that the page leaves out. */
    get rest() {
      const { metric, tree } = this.view;
      return this.origins ? 0 : this.nodes.reduce((sum, i) =>
        sum + (i ? tree.rest[metric][i - 1] : tree.outside[metric]), 0);
    }

    get calls() {
      if (this.origins) { return null; }
      return this.nodes.reduce((sum, i) => {
        const calls = i ? this.view.tree.calls[i - 1] : null;
        return calls === null ? sum : (sum || 0) + calls;
      }, null);
    }

    children() {
      this.list = this.list || this.group();
      return this.list;
    }

    group() {
      const groups = new Map(), { tree } = this.view;
      const put = (node, origin) => {
        const fn = tree.function[node - 1];
        if (!groups.has(fn)) { groups.set(fn, [[], this.origins ? [] : null]); }
        groups.get(fn)[0].push(node);
        if (this.origins) { groups.get(fn)[1].push(origin); }
      };
      this.nodes.forEach((node, i) => {
        if (this.origins) {
          if (tree.parent[node]) { put(tree.parent[node], this.origins[i]); }
          return;
        }
        for (let child = tree.first[node]; child; child = tree.next[child]) {
          put(child);
        }
      });
      return ordered(this.view, [...groups].map(([fn, [nodes, origins]]) =>
        new Contexts(this.view, this, fn, nodes, origins)));
    }
  }

  // }======

  // {====== The call graph ======

  let index = null;

  /* Returns the arcs of the page by caller and by callee. */
  function arcs_of() {
    if (!index) {
      index = { out: new Map(), into: new Map() };
      for (const arc of page.data.arcs.list) {
        for (const [arcs, key] of [[index.out, arc[0]], [index.into, arc[1]]]) {
          if (!arcs.has(key)) { arcs.set(key, []); }
          arcs.get(key).push(arc);
        }
      }
    }
    return index;
  }

  function of_function(kind, fn, metric) {
    const { table } = page.profile, row = table.row_of.get(fn);
    return row === undefined ? 0 : table[kind][metric][row];
  }

  /* A path of calls whose weight is estimated: of the total of each function its callers have the
     shares that the arcs state. */
  class Estimate {
    constructor(view, parent, fn, total, calls) {
      Object.assign(this, { view, parent, fn, total, calls, width: total, rest: 0 });
      this.depth = parent ? parent.depth + 1 : 0;
      this.share = fn < 0 ? 1 : total / (of_function('total', fn, view.metric) || 1);
    }

    get self() {
      if (this.fn < 0) { return 0; }
      if (this.view.up) { return this.depth > 1 ? 0 : this.total; }
      return of_function('self', this.fn, this.view.metric) * this.share;
    }

    children() {
      this.list = this.list || ordered(this.view, this.fn < 0 ? this.roots() : this.next());
      return this.list;
    }

    is_open(fn) {
      for (let frame = this; frame; frame = frame.parent) {
        if (frame.fn === fn) { return true; }
      }
      return false;
    }

    next() {
      const { up, metric } = this.view, list = [];
      const arcs = arcs_of();
      for (const arc of (up ? arcs.into : arcs.out).get(this.fn) || []) {
        const other = up ? arc[0] : arc[1], weight = arc[3][metric] * this.share;
        if (weight > 0 && this.depth < 200 && !this.is_open(other)) {
          list.push(new Estimate(this.view, this, other, up ? Math.min(weight, this.total) : weight,
            arc[2]));
        }
      }
      return list;
    }

    /* Functions without callers, or with what their callers do not explain. */
    roots() {
      const { metric, up } = this.view, list = [], arcs = arcs_of();
      for (const fn of page.profile.table.function) {
        const all = of_function(up ? 'self' : 'total', fn, metric);
        const known = up ? [] : (arcs.into.get(fn) || []).filter(arc => arc[0] !== fn);
        const weight = all - known.reduce((sum, arc) => sum + arc[3][metric], 0);
        if (weight > all * 1e-6 && weight > 0) {
          list.push(new Estimate(this.view, this, fn, weight, null));
        }
      }
      return list;
    }
  }

  // }======

  function ordered(view, list) {
    if (view.begin) {
      return list.sort((a, b) => view.begin(a) - view.begin(b) || b.width - a.width);
    }
    return list.sort((a, b) => b.width - a.width || a.fn - b.fn);
  }

  /* Returns the root of a flame graph, whose fn is -1. `given` has metric; up: the graph is
     inverted, functions with their callers; before: the metric of the old side; both: widths are
     sums of both sides; begin: a function that returns the order of a frame. */
  page.root = function (given) {
    const { tree, metrics } = page.profile, view = { ...given, tree };
    if (!tree) { return new Estimate(view, null, -1, metrics[view.metric].total, null); }
    if (!view.up) { return new Contexts(view, null, -1, [0]); }
    const groups = new Map(), root = new Contexts(view, null, -1, [0]);
    for (let i = 0; i < tree.function.length; i++) {
      if (tree.self[view.metric][i] || (view.before !== undefined && tree.self[view.before][i])) {
        if (!groups.has(tree.function[i])) { groups.set(tree.function[i], []); }
        groups.get(tree.function[i]).push(i + 1);
      }
    }
    const of_self = { ...view, by_self: true };
    root.list = ordered(view, [...groups].map(([fn, nodes]) =>
      new Contexts(of_self, root, fn, nodes, nodes)));
    return root;
  };

  function outermost(tree, fn) {
    const list = [], is_outermost = page.outermost(tree);
    tree.function.forEach((other, i) => {
      if (other === fn && is_outermost[i + 1]) { list.push(i + 1); }
    });
    return list;
  }

  /* Returns a function as the root of a tree of its callers (up) or callees. */
  page.function_frame = function (fn, given) {
    const { tree } = page.profile, view = { ...given, tree };
    if (!tree) {
      return new Estimate(view, null, fn, of_function('total', fn, view.metric), null);
    }
    const nodes = outermost(tree, fn);
    return new Contexts(view, null, fn, nodes, view.up ? nodes : undefined);
  };
}(window.page));
