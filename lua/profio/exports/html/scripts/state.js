/* The state of the page: search, selected function, metric and what the parts show. It is in the
   fragment of the URL, so a link shows what the sender sees, and back and forward work. */
(function (page) {
  'use strict';
  const data = page.data;
  const defaults = { find: '', pattern: '', select: '', metric: data.metrics[data.usual].name,
    order: 'heavy', zoom: '', part: '', from: '', to: '', range: '', call: '', fold: '',
    lanes: 'name', sort: '-self', side: 'difference', graph: '',
    scheme: '' };
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

  const LONGEST = 2000; // ms that a pattern may take: some take for ever
  let hits = null, searcher = null;

  /* Returns null, or an array that has 1 for each function that matches the search. */
  page.hits = function () { return hits; };
  page.hit_error = '';

  /* Takes the results for all names of functions, and then of files; null: there are none. */
  function set_hits(found) {
    const { name, file } = data.functions, files = found && found.slice(name.length);
    hits = found ? Uint8Array.from(name, (_, id) => found[id] || files[file[id]] ? 1 : 0) : null;
  }

  function end_search() {
    if (searcher) { searcher.end(); }
    searcher = null;
  }

  /* The program of the worker. */
  const worker_text = 'onmessage = ({ data: [pattern, texts] }) => {' +
    "const wanted = new RegExp(pattern, 'i'); postMessage(texts.map(text => wanted.test(text))); }";

  /* Searches for a pattern in a worker, as only that can be ended. */
  function search_pattern(texts) {
    const blob = new window.Blob([worker_text], { type: 'text/javascript' });
    const url = window.URL.createObjectURL(blob);
    const worker = new window.Worker(url);
    const limit = window.setTimeout(() => finish(null, 'this pattern takes too long'), LONGEST);
    searcher = { end() {
      window.clearTimeout(limit);
      worker.terminate();
      window.URL.revokeObjectURL(url);
    } };
    function finish(found, problem) {
      end_search();
      set_hits(found);
      page.hit_error = problem;
      tell(new Set(['hits']));
    }
    worker.onmessage = message => finish(message.data, '');
    worker.onerror = error => finish(null, error.message);
    worker.postMessage([state.find, texts]);
  }

  function search() {
    const text = state.find.toLowerCase(), texts = [...data.functions.name, ...data.files];
    end_search();
    set_hits(null);
    page.hit_error = '';
    if (state.pattern === '') {
      set_hits(text && texts.map(value => value.toLowerCase().includes(text)));
      return;
    }
    try {
      if (text && new RegExp(state.find, 'i')) { search_pattern(texts); }
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
