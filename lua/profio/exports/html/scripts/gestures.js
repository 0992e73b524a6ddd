/* Mouse, touch and wheel on a canvas: drag and pinch move and zoom, a click selects. */
(function (page) {
  'use strict';
  const LEAST = 3; // pixels: a pointer that moves less clicks

  /* Returns the middle of the pointers that are down, and their distance. */
  function middle(pointers) {
    const list = [...pointers.values()];
    const mean = name => list.reduce((sum, one) => sum + one[name], 0) / list.length;
    return { x: mean('x'), y: mean('y'),
      apart: list.length > 1 ? Math.max(1, Math.abs(list[0].x - list[1].x)) : 1 };
  }

  class Gestures {
    constructor(surface, acts) {
      Object.assign(this, { surface, acts, pointers: new Map(), held: null });
    }

    grab(event, moved) {
      const at = middle(this.pointers);
      this.held = { ...this.acts.grab(event, at.x, at.y), ...at, moved };
    }

    down(event) {
      if (event.button > 0) { return; }
      this.surface.canvas.setPointerCapture(event.pointerId);
      this.pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
      this.grab(event, this.pointers.size > 1);
    }

    move(event) {
      if (!this.pointers.has(event.pointerId)) {
        this.acts.hover(event);
        return;
      }
      this.pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
      const { x, y, apart } = middle(this.pointers), held = this.held;
      held.moved = held.moved || Math.abs(x - held.x) > LEAST ||
        (this.acts.moves_up && Math.abs(y - held.y) > LEAST);
      if (held.moved) {
        page.tip(null);
        this.acts.drag(held, x, held.apart / apart, y);
      }
    }

    up(event) {
      if (!this.pointers.delete(event.pointerId)) { return; }
      const last = this.held;
      this.held = null;
      if (this.pointers.size > 0) {
        this.grab(event, true);
      } else if (last.moved) {
        this.acts.drop(last);
      } else if (event.type === 'pointerup') {
        this.acts.click(event.offsetX, event.offsetY + this.surface.box.scrollTop);
      }
    }

    wheel(event) {
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        this.acts.zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 200))), event.offsetX,
          event.offsetY);
      } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        event.preventDefault();
        this.acts.pan(event.deltaX);
      }
    }
  }

  /* Listens on a surface. `acts` has grab(event, x, y): returns what is held at the begin of a
     drag; drag(held, x, factor, y): what was at held.x is at x, and the width that is shown is
     `factor` times that of the begin; drop(held); click(x, y); hover(event), null: the pointer has
     left; zoom(factor, x, y); pan(pixels); moves_up: a move up or down is a drag, too. Positions
     are pixels of the canvas, those of a click of the picture. */
  page.gestures = function (surface, acts) {
    const gestures = new Gestures(surface, acts), canvas = surface.canvas;
    canvas.addEventListener('pointerdown', event => gestures.down(event));
    canvas.addEventListener('pointermove', event => gestures.move(event));
    canvas.addEventListener('pointerup', event => gestures.up(event));
    canvas.addEventListener('pointercancel', event => gestures.up(event));
    canvas.addEventListener('pointerleave', () => acts.hover(null));
    canvas.addEventListener('wheel', event => gestures.wheel(event), { passive: false });
  };
}(window.page));
