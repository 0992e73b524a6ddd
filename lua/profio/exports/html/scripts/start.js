/* Shows the state that the URL has. */
(function (page) {
  'use strict';
  for (const part of page.parts) { part(new Set(Object.keys(page.state))); }
  page.read_state();
}(window.page));
