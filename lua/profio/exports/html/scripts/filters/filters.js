/* Filters of the profile: focus, ignore and hide with the words and numbers of the command's
   options (lua/profio/cli/function_spec.lua, csrc/kernels/contexts/transform_contexts.c), merged
   recursion, and contexts that are dropped as profile:prune does. They are a stage after the range,
   and need stacks. */
(function (page) {
  'use strict';
  const data = page.data, state = page.state, names = data.functions.name;
  const WORDS = ['focus', 'ignore', 'hide'], PLACE = /^(?:flat|graph|time)=([^]+)$/;
  if (!data.tree) { return; }

  // {====== Specifications of functions ======

  function is_file(path, wanted) { return path === wanted || path.endsWith('/' + wanted); }

  /* Returns the test of NAME, FILE, FILE:NAME, FILE:LINE or ~PATTERN for ids of functions; as in
     the command flat=, graph= or time= may precede it. Throws an error if a pattern is wrong. */
  function test_of(given) {
    const text = given.replace(PLACE, '$1');
    if (/^~[^]/.test(text)) {
      const is_found = page.pattern(text.slice(1));
      return fn => is_found(page.name(fn));
    }
    const [, file, rest] = /^([^]*?[^:]):([^:][^]*)$/.exec(text) || [];
    return fn => page.name(fn) === text || is_file(page.file(fn), text) ||
      (file !== undefined && is_file(page.file(fn), file) &&
      (page.name(fn) === rest || String(data.functions.line[fn]) === rest));
  }

  /* Returns the functions of a specification: by id, whether it is one of them. */
  function chosen_by(text) {
    const test = test_of(text);
    return Uint8Array.from(names, (_, fn) => test(fn) ? 1 : 0);
  }

  /* Returns the specification of one function: its name, with its file if there are others of this
     name. Names that would mean something else become patterns. */
  function spec_of(fn) {
    const name = page.name(fn), file = page.file(fn);
    if (/^~|\n/.test(name) || PLACE.test(name)) {
      return '~^' + name.replace(/[\^$()%.[\]*+\-?]/g, '%$&').replace(/\n/g, '%c') + '$';
    }
    const has_others = names.indexOf(name) !== names.lastIndexOf(name);
    return has_others && file && !/[:\n]/.test(file) ? `${file}:${name}` : name;
  }

  // }======

  // {====== Trees ======

  /* Metrics of which merged contexts add nothing: numbers of calls. */
  const is_calls = data.metrics.map((metric, m) => metric.name === 'calls' ||
    (Boolean(data.difference) && m === 1 && data.metrics[0].name === 'calls'));

  /* A tree that is built from the contexts of another one; context 0 is the root. */
  class Builder {
    constructor(from) {
      const lists = () => from.self.map(() => []);
      const has_calls = from.calls.length > 0 && from.calls[0] !== null;
      Object.assign(this, { from, function: [], parent: [0], begin: [], known: new Map(),
        self: lists(), rest: lists(), calls: has_calls ? [] : null,
        outside: from.self.map(() => 0), nodes: new Int32Array(from.function.length + 1) });
    }

    /* Returns the context of a function that a context calls. */
    node_of(above, fn) {
      const key = above * names.length + fn;
      let node = this.known.get(key);
      if (node === undefined) {
        node = this.function.push(fn);
        this.known.set(key, node);
        this.parent.push(above);
        this.begin.push(Infinity);
        for (const list of [...this.self, ...this.rest]) { list.push(0); }
        if (this.calls) { this.calls.push(0); }
      }
      return node;
    }

    /* Adds the weights of context i of the other tree to a context; if it is merged into that one,
       all but its calls. */
    add(i, to, is_merged) {
      const { from } = this, known = to > 0;
      from.self.forEach((self, m) => {
        if (is_merged && is_calls[m]) { return; }
        if (known) { this.self[m][to - 1] += self[i - 1]; } else { this.outside[m] += self[i - 1]; }
      });
      if (this.calls && known && !is_merged) { this.calls[to - 1] += from.calls[i - 1]; }
      this.begun(i, to);
    }

    /* Adds what the page leaves out below context i, or for 0 outside of all contexts. */
    add_rest(i, to) {
      this.from.self.forEach((_, m) => {
        const rest = i ? this.from.rest[m][i - 1] : this.from.outside[m];
        if (to) { this.rest[m][to - 1] += rest; } else { this.outside[m] += rest; }
      });
    }

    begun(i, to) {
      const { begin } = this.from;
      if (begin && to) { this.begin[to - 1] = Math.min(this.begin[to - 1], begin[i - 1]); }
    }

    tree() {
      const count = this.function.length, parent = Int32Array.from(this.parent);
      const first = new Int32Array(count + 1), next = new Int32Array(count + 1);
      for (let node = count; node > 0; node--) {
        next[node] = first[parent[node]];
        first[parent[node]] = node;
      }
      const numbers = lists => lists.map(list => Float64Array.from(list));
      return { function: Int32Array.from(this.function), parent, first, next,
        self: numbers(this.self), rest: numbers(this.rest), outside: this.outside,
        calls: this.calls || this.function.map(() => null), totals: new Map(),
        begin: this.from.begin && Float64Array.from(this.begin) };
    }
  }

  function has_rest(tree, i) {
    return tree.self.some((_, m) => (i ? tree.rest[m][i - 1] : tree.outside[m]) !== 0);
  }

  /* Whether a context has a weight other than calls. */
  function has_weight(tree, i) {
    return tree.self.some((self, m) => !is_calls[m] && self[i - 1] !== 0);
  }

  /* Returns by context whether any frame of its stack is of a chosen function. */
  function has_chosen(tree, chosen) {
    const count = tree.function.length, found = new Uint8Array(count + 1);
    for (let i = 1; i <= count; i++) {
      found[i] = found[tree.parent[i]] || chosen[tree.function[i - 1]];
    }
    return found;
  }

  /* Returns the tree of the stacks that have a chosen function (focus), have none (ignore), or of
     all stacks without the chosen functions (hide), whose cost goes to their callers. A hidden
     function without a caller keeps its self cost. */
  function narrow(tree, word, chosen) {
    const count = tree.function.length, found = has_chosen(tree, chosen), hides = word === 'hide';
    const kept = i => hides || Boolean(found[i]) === (word === 'focus');
    const copied = new Uint8Array(count + 1), to = new Builder(tree), { nodes } = to;
    for (let i = count; i > 0; i--) {
      if (kept(i)) { copied[i] = 1; }
      if (copied[i]) { copied[tree.parent[i]] = 1; }
    }
    if (kept(0)) { to.add_rest(0, 0); }
    for (let i = 1; i <= count; i++) {
      if (!copied[i]) { continue; }
      const fn = tree.function[i - 1], above = nodes[tree.parent[i]];
      nodes[i] = hides && chosen[fn] ? above : to.node_of(above, fn);
      to.begun(i, nodes[i]);
      if (kept(i)) {
        const charged = nodes[i] || !has_weight(tree, i) ? nodes[i] : to.node_of(0, fn);
        to.add(i, charged, charged === above);
        to.add_rest(i, nodes[i]);
      }
    }
    return to.tree();
  }

  /* Returns a tree of the same stacks in which some contexts are merged: `target(to, i, above)`
     returns the context of the new tree into which context i goes; -1: it has one of its own below
     `above`, that of its caller. */
  function merged(tree, target) {
    const to = new Builder(tree), { nodes } = to;
    to.add_rest(0, 0);
    for (let i = 1; i <= tree.function.length; i++) {
      const above = nodes[tree.parent[i]], into = target(to, i, above);
      nodes[i] = into < 0 ? to.node_of(above, tree.function[i - 1]) : into;
      to.add(i, nodes[i], into >= 0);
      to.add_rest(i, nodes[i]);
    }
    return to.tree();
  }

  /* Returns the tree in which a function is at most once in a stack: it is merged into its
     outermost frame, and so is all that it calls there. */
  function merge_recursion(tree) {
    return merged(tree, (to, i, above) => {
      const fn = tree.function[i - 1];
      let node = above;
      while (node && to.function[node - 1] !== fn) { node = to.parent[node]; }
      return node || -1;
    });
  }

  /* Returns the tree in which contexts whose totals in these metrics are all below a share of the
     whole are merged into their callers. */
  function drop(tree, share, metrics) {
    const joined = merged(tree, () => -1); // a caller may call a function from several lines
    const totals = metrics.map(m => page.totals(joined, m));
    const is_small = i => totals.every(list => Math.abs(list[i]) < share * Math.abs(list[0]));
    return merged(joined, (_, i, above) => is_small(i) ? above : -1);
  }

  // }======

  // {====== What the page leaves out ======

  /* Whether all contexts of chosen functions are in a profile. */
  function has_all(profile, chosen) {
    const { tree, table } = profile;
    if (!(tree.left > 0)) { return true; }
    if (table.left > 0) { return false; }
    tree.table = tree.table || page.table_of(tree);
    return table.function.every((fn, row) => !chosen[fn] || table.total.every((list, m) =>
      list[row] === (tree.table.row_of.has(fn) ? tree.table.total[m][tree.table.row_of.get(fn)] :
        0)));
  }

  /* Whether a filter leaves out weights that may belong to what it keeps, since the contexts below
     are not in the page. */
  function loses(profile, tree, word, chosen) {
    if (word !== 'focus' || has_all(profile, chosen)) { return false; }
    const found = has_chosen(tree, chosen);
    return found.some((is_inside, i) => !is_inside && has_rest(tree, i));
  }

  /* Returns why the numbers of a filtered tree are estimates; '': they are exact. */
  function reason(profile, tree, is_lossy) {
    if (!(profile.tree.left > 0)) { return ''; }
    const has_parts = tree.parent.some((_, i) => has_rest(tree, i));
    return is_lossy || has_parts ? `the page leaves out ${page.counted(profile.tree.left,
      'small context')}, to whose functions no filter is applied: --set size=N` : '';
  }

  // }======

  const filters = page.filters = { words: WORDS, problems: [], has_all,
    narrow, merge_recursion, drop, chosen_by,
    /* Returns the specifications of focus, ignore or hide. */
    list: word => state[word].split('\n').filter(text => text !== ''),
    /* Whether any filter is set. */
    is_set: () => state.merge !== '' || filters.share() > 0 || WORDS.some(word => state[word]),
    /* Returns the share below which contexts are dropped. */
    share: () => +state.drop > 0 && +state.drop <= 100 ? +state.drop / 100 : 0 };

  /* Applies focus, ignore or hide; of a specification that is wrong the problem is noted. */
  function narrowed(profile, tree, word, text) {
    let chosen;
    try {
      chosen = chosen_by(text);
    } catch (error) {
      filters.problems.push(`${word}: ${text}: ${error.message}`);
      return { tree, is_lossy: false };
    }
    if (!profile.table.function.some(fn => chosen[fn])) {
      const verb = text.startsWith('~') ? 'matches' : 'is';
      filters.problems.push(`${word}: no function ${verb} ${text}`);
    }
    return { tree: narrow(tree, word, chosen), is_lossy: loses(profile, tree, word, chosen) };
  }

  function apply(profile) {
    let tree = profile.tree, is_lossy = false;
    filters.problems = [];
    if (!filters.is_set()) { return profile; }
    if (!tree.begin && page.first_start) { tree.begin = begins_of(tree); }
    for (const word of WORDS) {
      for (const text of filters.list(word)) {
        const made = narrowed(profile, tree, word, text);
        tree = made.tree;
        is_lossy = is_lossy || made.is_lossy;
      }
    }
    if (state.merge) { tree = merge_recursion(tree); }
    if (filters.share() > 0) {
      tree = drop(tree, filters.share(), data.difference ? [0, 1] : [page.metric()]);
    }
    const about = [profile.about, reason(profile, tree, is_lossy)].filter(Boolean).join('; ');
    return { ...profile, ...page.profile_of(tree, about), is_filtered: true };
  }

  /* Returns where the contexts of a tree begin in the timeline. */
  function begins_of(tree) {
    const frames = [{}];
    for (let i = 1; i <= tree.function.length; i++) {
      frames.push({ fn: tree.function[i - 1], parent: frames[tree.parent[i]] });
    }
    return Float64Array.from(frames.slice(1), frame => page.first_start(frame));
  }

  page.stages.push({
    get fields() { return [...WORDS, 'merge', 'drop', ...state.drop ? ['metric'] : []]; }, apply });

  const of_range = page.of_all;
  page.of_all = () => filters.is_set() ? ', of the whole profile' : of_range();

  // {====== Changes ======

  /* Adds a specification to focus, ignore or hide. */
  filters.add = function (word, text) {
    const list = filters.list(word);
    if (!list.includes(text)) { page.set({ [word]: [...list, text].join('\n') }); }
    page.speak(`${word} ${text}: ${filters.summary()}`);
  };

  filters.add_function = (word, fn) => filters.add(word, spec_of(fn));

  filters.remove = function (word, text) {
    page.set({ [word]: filters.list(word).filter(other => other !== text).join('\n') });
    page.speak(`no ${word} ${text}: ${filters.summary()}`);
  };

  filters.clear = () => page.set({ focus: '', ignore: '', hide: '', merge: '', drop: '' });

  /* Returns how much of the whole profile the filters leave. */
  filters.summary = function () {
    const metric = page.metric(), totals = page.profile.metrics.map(({ total }) => total);
    return data.difference ? `${page.amount(totals[1], 1)} before, ${page.amount(totals[0], 0)} ` +
      'after' : `${page.amount(totals[metric], metric)} of ${data.metrics[metric].name}`;
  };

  // }======
}(window.page));
