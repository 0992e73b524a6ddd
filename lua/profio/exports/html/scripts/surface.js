/* A canvas that fills the width of a section and scrolls inside it when its picture is high. */
(function (page) {
  'use strict';

  const BORDER = 1; // of a surface, pixels
  /* All surfaces of the page. */
  page.surfaces = [];

  /* Gives a canvas this size in pixels of the page. */
  page.fit_canvas = function (canvas, width, height) {
    const ratio = window.devicePixelRatio || 1;
    if (canvas.width !== Math.round(width * ratio) ||
        canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.style.width = width + 'px';
      canvas.style.height = height + 'px';
    }
  };

  /* Sets what the pictures expect of a pen. */
  page.begin_picture = function (pen) {
    pen.font = '12px ui-monospace, Menlo, Consolas, monospace';
    pen.textBaseline = 'middle';
  };

  /* Returns a surface: `draw(pen, width, top, height)` draws the part of the picture from `top` on.
     refresh(height, top) sets the height of the picture in pixels, and from where on it is shown,
     and draws it once before the next frame. */
  page.surface = function (label, draw) {
    const canvas = page.make('canvas', { tabIndex: 0, role: 'application', 'aria-label': label });
    const box = page.make('div', { className: 'surface' });
    const sizer = page.make('div', { className: 'sizer' }, canvas);
    const pen = canvas.getContext('2d');
    const surface = { box, canvas, draw, height: 0, top: null, pending: false };
    box.append(sizer);
    page.surfaces.push(surface);

    surface.paint = function () {
      surface.pending = false;
      const ratio = window.devicePixelRatio || 1, width = box.clientWidth;
      const height = Math.min(surface.height, Math.max(160, window.innerHeight * 0.6));
      box.style.height = height + 2 * BORDER + 'px';
      sizer.style.height = surface.height + 'px';
      if (surface.top !== null) { box.scrollTop = surface.top; }
      surface.top = null;
      page.fit_canvas(canvas, width, height);
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      pen.clearRect(0, 0, width, height);
      page.begin_picture(pen);
      draw(pen, width, box.scrollTop, height);
    };
    surface.refresh = function (height, top) {
      surface.height = height === undefined ? surface.height : height;
      surface.top = top === undefined ? surface.top : top;
      if (!surface.pending) {
        surface.pending = true;
        window.requestAnimationFrame(surface.paint);
      }
    };
    surface.width = function () { return box.clientWidth; };
    box.addEventListener('scroll', () => surface.refresh());
    new window.ResizeObserver(() => surface.refresh()).observe(box);
    canvas.addEventListener('redraw', () => surface.refresh());
    return surface;
  };

  /* Writes a text into a box of a picture, cut to its width. */
  page.label = function (pen, text, x, y, width) {
    const letters = Math.floor((width - 6) / 7.25);
    if (letters >= 5 || letters >= text.length) {
      pen.fillText(page.cut(text, letters), x + 3, y);
    }
  };

  /* Returns a row of buttons of which one is pressed. `choices` are [value, text] each. */
  page.switch = function (label, choices, choose) {
    const row = page.make('div', { className: 'switch', role: 'group', 'aria-label': label });
    for (const [value, text] of choices) {
      row.append(page.make('button', { type: 'button', value, onclick: () => choose(value) },
        text));
    }
    row.show = function (value) {
      for (const button of row.children) {
        button.setAttribute('aria-pressed', String(button.value === value));
      }
    };
    return row;
  };
}(window.page));
