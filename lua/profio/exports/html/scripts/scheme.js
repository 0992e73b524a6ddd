/* Light or dark, as an attribute of <html> for the style sheet. This script runs before the page is
   drawn, so that no page is white at first, and makes the object `page` of the other scripts. */
(function () {
  'use strict';
  const KEY = 'profio.scheme', root = document.documentElement;
  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  const page = window.page = { schemes: ['light', 'dark', 'system'] };
  let wanted = '', is_printing = false;

  /* Returns the last choice of the reader; some browsers have no memory for files. */
  function remembered() {
    try {
      return window.localStorage.getItem(KEY);
    } catch {
      return null;
    }
  }

  /* Returns the scheme that is chosen: by the address, or else before. */
  page.scheme = function () {
    return [wanted, remembered()].find(name => page.schemes.includes(name)) || 'system';
  };

  page.is_dark = function () { return root.dataset.scheme === 'dark'; };

  function apply(name) {
    const before = root.dataset.scheme;
    const shown = name !== 'system' ? name : dark.matches ? 'dark' : 'light';
    root.dataset.scheme = is_printing ? 'light' : shown;
    if (page.redraw && root.dataset.scheme !== before) { page.redraw(); }
  }

  /* Shows the scheme that the address states, "" if it states none. */
  page.show_scheme = function (name) {
    wanted = name;
    apply(page.scheme());
  };

  /* Paper is light. */
  page.set_printing = function (is_on) {
    is_printing = is_on;
    apply(page.scheme());
  };

  page.remember_scheme = function (name) {
    try {
      window.localStorage.setItem(KEY, name);
    } catch {
      // The address has the choice, too.
    }
  };

  dark.addEventListener('change', () => apply(page.scheme()));
  page.show_scheme(new URLSearchParams(window.location.hash.slice(1)).get('scheme') || '');
}());
