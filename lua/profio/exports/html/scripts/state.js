/* The state of the page: search, selected function, metric and what the parts show. It is in the
   fragment of the URL, so a link shows what the sender sees, and back and forward work. */
(function (page) {
  'use strict';
  const data = page.data;
  const defaults = { find: '', pattern: '', select: '', metric: data.metrics[data.usual].name,
    order: 'heavy', zoom: '', part: '', from: '', to: '', range: '', call: '', fold: '',
    pin: '', hidden: '', lane: '', lanes: 'name', sort: '-self', side: 'difference', focus: '',
    ignore: '', hide: '', merge: '', drop: '', filters: '', graph: '', scheme: '' };
  const state = page.state = { ...defaults };
  let tells = false;

  function fragment() {
    const words = new URLSearchParams();
    for (const [name, value] of Object.entries(state)) {
      if (value !== defaults[name]) { words.set(name, value); }
    }
    return '#' + words.toString();
  }

  /* Returns the address of what is shown, which the browser may show a little later. */
  page.link = () => window.location.href.replace(/#.*$/, '') + fragment();

  function tell(changed) {
    tells = true;
    for (const part of page.parts) { part(changed); }
    tells = false;
  }

  const LATER = 250; // ms: browsers refuse addresses that change with each move of the mouse
  let timer = null;

  function write_address() {
    window.clearTimeout(timer);
    timer = null;
    window.history.replaceState(null, '', fragment());
  }

  /* Changes fields of the state, and tells all parts which fields have changed. A change is a step
     of the history unless it `replaces` the current one, which the address shows a little later. */
  page.set = function (fields, replaces) {
    const changed = new Set(), before = timer && fragment();
    for (const [name, value] of Object.entries(fields)) {
      if (state[name] !== String(value)) {
        state[name] = String(value);
        changed.add(name);
      }
    }
    if (changed.size === 0 || tells) { return; }
    if (replaces) {
      timer = timer || window.setTimeout(write_address, LATER);
    } else {
      window.clearTimeout(timer);
      timer = null;
      if (before) { window.history.replaceState(null, '', before); }
      window.history.pushState(null, '', fragment());
    }
    tell(changed);
  };

  /* Reads the state from the URL. */
  page.read_state = function () {
    window.clearTimeout(timer);
    timer = null;
    const words = new URLSearchParams(window.location.hash.slice(1)), changed = new Set();
    for (const name of Object.keys(defaults)) {
      const value = words.has(name) ? words.get(name) : defaults[name];
      if (state[name] !== value) {
        state[name] = value;
        changed.add(name);
      }
    }
    if (changed.size > 0) { tell(changed); }
  };

  page.metric = function () {
    const found = data.metrics.findIndex(metric => metric.name === state.metric);
    return found < 0 ? data.usual : found;
  };

  /* Returns the id of the selected function, or -1: `select` is its name, and ~N if other functions
     with smaller ids have the same name. */
  page.selected = function () {
    const names = data.functions.name;
    if (state.select === '') { return -1; }
    const [, name, rank] = /^([^]*?)(?:~(\d+))?$/.exec(state.select);
    let place = -1;
    for (let i = rank ? +rank : 0; i >= 0; i--) { place = names.indexOf(name, place + 1); }
    return place >= 0 || !rank ? place : names.indexOf(state.select);
  };

  /* Selects a function by id; -1: none. */
  page.select = function (id, more) {
    let rank = 0;
    const names = data.functions.name;
    for (let i = 0; i < id; i++) { rank += names[i] === names[id] ? 1 : 0; }
    page.set({ select: id < 0 ? '' : names[id] + (rank ? '~' + rank : ''), call: '', ...more });
  };

  // {====== Search ======

  let hits = null;

  /* Returns null, or an array that has 1 for each function that matches the search. */
  page.hits = function () { return hits; };
  page.hit_error = '';

  /* Returns a function that returns whether a text matches the search; null: nothing is searched
     for. */
  page.search_test = function () {
    const text = state.find.toLowerCase();
    return text === '' ? null : state.pattern === '' ?
      value => value.toLowerCase().includes(text) : page.pattern(state.find);
  };

  function search() {
    const { name, file } = data.functions;
    hits = null;
    page.hit_error = '';
    try {
      const is_found = page.search_test(), files = is_found && data.files.map(is_found);
      hits = is_found && Uint8Array.from(name, (text, id) =>
        is_found(text) || files[file[id]] ? 1 : 0);
    } catch (error) {
      page.hit_error = error.message;
    }
  }

  page.parts.push(changed => {
    if (changed.has('find') || changed.has('pattern')) { search(); }
  });

  // }======

  window.addEventListener('popstate', page.read_state);
  window.addEventListener('hashchange', page.read_state);
}(window.page));
