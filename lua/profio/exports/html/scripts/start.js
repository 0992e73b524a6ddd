/* Shows the state that the URL has. */
(function (page) {
  'use strict';
  const all = new Set([...Object.keys(page.state), 'profile']);
  for (const part of page.parts) { part(all); }
  page.read_state();
}(window.page));
