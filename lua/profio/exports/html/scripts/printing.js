/* The page on paper: light, its canvases in the width of the paper and as high as their pictures,
   notes about what is not printed, and the address and the name at the foot. */
(function (page) {
  'use strict';
  const make = page.make, RATIO = 2; // pixels of a canvas for each one of the page

  /* Width of A4 without margins, and the most that a picture may be high, in pixels of the page. */
  const papers = [{ name: 'portrait', width: 702, height: 900 },
    { name: 'landscape', width: 1029, height: 580 }];

  /* Returns a picture of a surface for a paper, with a note if its lower part is left out. The
     style sheet shows that of the paper which is printed. */
  function picture(surface, { name, width, height }) {
    const { height: whole, restore } = surface.for_paper ? surface.for_paper(width) : surface;
    const high = Math.min(whole, height);
    const canvas = make('canvas', { width: width * RATIO, height: high * RATIO });
    const pen = canvas.getContext('2d');
    pen.setTransform(RATIO, 0, 0, RATIO, 0, 0);
    page.begin_picture(pen);
    surface.draw(pen, width, 0, high);
    if (restore) { restore(); }
    return make('div', { className: 'printed ' + name }, canvas, high < whole ? make('p',
      { className: 'note' }, `Only the upper ${page.percent(high, whole)} of this picture fits ` +
      'on the sheet: zoom, or fold lanes.') : '');
  }

  /* States the name and the number of each sheet in its margin, where browsers can do that. */
  function number_sheets() {
    const { sheet } = document.querySelector('style'), style = 'font: 9px system-ui, sans-serif; ';
    const name = JSON.stringify(page.cut(document.title, 100));
    sheet.insertRule(`@page { @bottom-left { ${style} content: ${name} } ` +
      `@bottom-right { ${style} content: counter(page) " / " counter(pages) } }`,
    sheet.cssRules.length);
  }

  /* Returns what the table of functions leaves out, or "". */
  function rows_left() {
    const more = page.$('more'), rows = document.querySelectorAll('#functions tbody tr').length;
    return more.hidden ? '' : make('p', { className: 'note printed' },
      `${page.count(rows)} functions are printed, of ` +
      `${page.count(+more.textContent.replace(/\D/g, ''))}.`);
  }

  function end() {
    for (const element of document.querySelectorAll('.printed')) { element.remove(); }
    page.set_printing(false);
    page.redraw();
  }

  function begin() {
    end();
    page.set_printing(true);
    page.redraw();
    for (const surface of page.surfaces) {
      surface.box.after(...papers.map(paper => picture(surface, paper)));
    }
    page.$('more').after(rows_left());
    document.body.append(make('footer', { className: 'printed note' }, make('div', {},
      document.title), make('div', {}, window.location.href)));
  }

  number_sheets();
  window.addEventListener('beforeprint', begin);
  window.addEventListener('afterprint', end);
}(window.page));
