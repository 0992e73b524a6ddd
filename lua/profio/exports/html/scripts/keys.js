/* The help of the page, which ? shows: keys, and what its address keeps. */
(function (page) {
  'use strict';
  const make = page.make;
  const groups = [
    ['Everywhere', [['/', 'search'], ['Enter', 'in the search: the next function that is found'],
      ['Esc', 'end the search and the selection'],
      ['Ctrl + C', 'copy the selected frame, call or function, or the table with the focus'],
      ['?', 'these keys']]],
    ['Flame graph', [['arrows', 'go to the frame beside, above or below'],
      ['Enter', 'select the frame and zoom to it'], ['Backspace', 'zoom out'],
      ['W S, + \u2212', 'make wider or narrower'], ['A D', 'move'], ['0', 'all'],
      ...page.filters ? [['F I H', 'focus on the function of the frame, ignore it or hide it']] :
        []]],
    ['Call graph', [['\u2191 \u2193', 'go to the heaviest caller or callee'],
      ['\u2190 \u2192', 'go to the function beside'], ['Enter', 'select the function'],
      ['W S, + \u2212', 'zoom'], ['A D', 'move'], ['0', 'the whole width']]],
    page.tracks && ['Timeline', [['W S, + \u2212', 'zoom'], ['A D, \u2190 \u2192', 'move'],
      ['\u2191 \u2193', 'go to the lane above or below'], ['F', 'fold or unfold the lane'],
      ['T', 'keep the lane on top, or no longer'], ['H', 'hide the lane'],
      ['U', 'show all lanes'], ['G', 'order lanes by name, time or core'],
      ['L', 'show lanes whose names have a text'],
      ['N P', 'select the next or previous call of the lane'],
      ['M', 'select the range that is visible'], ['0', 'all times'],
      ['Esc', 'end the selected range']]],
    ['Mouse and touch', [['Ctrl + wheel, two fingers', 'zoom'], ['drag', 'move'],
      page.tracks && ['Shift + drag', 'select a range in the timeline'],
      page.tracks && ['double click', 'fill the width of the timeline with a call']]],
    ['What the address keeps', [
      ['search', 'marks what is found in all parts, with its weight; a pattern is one of Lua'],
      ['selection', 'a function, and one of its calls: its numbers are beside the pictures'],
      ['metric, sort', 'the weight of frames and tables, and the order of rows'],
      ['order', 'of frames: the largest first, inverted (functions with their callers), by time'],
      ['zoom', 'the frame that fills the flame graph, and the part of it that is seen'],
      page.tracks && ['times', 'the span of the timeline that is seen'],
      page.tracks && ['range', 'all numbers but those of lines are of ' + (page.told_samples ?
        'samples that begin in these times' : 'calls in these times: calls that reach beyond are ' +
        'cut, and those count that begin in it')],
      page.tracks && ['lanes', 'which are folded, pinned, hidden and found, and their order'],
      page.filters && ['filters', 'focus: only stacks with these functions; ignore: without ' +
        'them; hide: their weight is that of their callers; merge recursion: calls of a function ' +
        'in itself are one frame; drop: small frames are parts of their callers'],
      page.data.difference && ['side', 'before, after, or both with the change as colour'],
      ['colours', 'light, dark or as the system; hues go by rank of modules or functions']]],
    ['Marks', [['\u2248', 'an estimate, as the page does not have all calls or contexts'],
      page.told_samples && ['boxes by time', page.told_samples],
      ['hatched', 'left out of the page' + (page.told_samples ? '' :
        ', or in the timeline suspended')],
      ['faded', 'not found by the search, or around the zoomed frame']]]];

  const box = make('dialog', { id: 'keys', 'aria-label': 'Help' },
    ...groups.filter(Boolean).map(([title, list]) => make('div', {}, make('h3', {}, title),
      make('dl', {}, ...list.filter(Boolean).map(([key, text]) => make('div', {},
        make('dt', {}, key), make('dd', {}, text)))))));
  box.append(make('button', { type: 'button', autofocus: true, onclick: () => box.close() },
    'Close'));
  document.body.append(box);

  document.addEventListener('keydown', event => {
    const typing = /^(input|select|textarea)$/i.test(event.target.tagName);
    if (event.key === '?' && !typing && !box.open) { box.showModal(); }
  });
  page.$('count').before(make('button', { type: 'button', id: 'show-keys', onclick: () =>
    box.showModal() }, 'Help'));
}(window.page));
