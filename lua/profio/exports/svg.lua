-- A flame graph as one self-contained SVG file: a click on a frame widens it to the full width,
-- Ctrl-F or / searches by a regular expression, a tip under the pointer shows the numbers. For a
-- difference of two profiles the widths are the totals of the new one, or the sums of both, and
-- colours show the change: red has grown and blue has shrunk.
--
-- All frames of a colour are one path and there is one tip, because browsers take long to read many
-- elements. The script draws the frames again for the width of the window, and for each zoom; the
-- picture without scripts has the width of its option.

local compared = require "profio.exports.compared"
local core = require "profio.core"
local lanes = require "profio.exports.lanes"
local markup = require "profio.internal.markup"
local profile_parts = require "profio.internal.bodies.profile_parts"
local texts = require "profio.internal.texts"

local widths_option = { name = "widths", type = "choice", choices = { "new", "both" },
   default = "new", help = "of a difference: totals of the new profile, or sums of both, which "
      .. "show what is gone" }

local svg = {
   name = "svg",
   help = "a flame graph as one SVG file, with search and zoom",
   endings = { ".svg" },
   takes = "profile",
   options = {
      { name = "metric", type = "text", help = "weight: time, samples, ..." },
      { name = "title", type = "text", help = "title of the picture" },
      { name = "width", type = "int", default = 1200, unit = "pixels",
        help = "width where no script runs" },
      { name = "rows", type = "int", default = 400, help = "most rows" },
      widths_option,
      { name = "pair", type = "bool", default = false,
        help = "of a difference: both profiles, one above the other in one scale" },
      { name = "lines", type = "bool", default = false,
        help = "a frame for each line, not for each function" },
      { name = "icicle", type = "bool", default = false, help = "draw the root at the top" },
   },
}

local HEAD, FOOT, ROW, EDGE = 44, 30, 17, 10

local style = [[
.flames{font:12px ui-monospace,Menlo,Consolas,monospace}
.flames text{fill:#1b1b1b;pointer-events:none}
.flames .page{fill:#fff}
.flames .head{font-size:15px}
.flames .note,.flames .button{fill:#555}
.flames .button{pointer-events:auto;cursor:pointer}
.flames .over{fill:none;stroke:#000;pointer-events:none}
.flames path.matched{fill:#b03bd4}
.flames text.matched{fill:#fff}
.flames .above{fill:#fff;opacity:.45}
.flames .words{pointer-events:none}
.flames .words rect{fill:#1b1b1b;stroke:none}
.flames .words text{fill:#fff}
@media (prefers-color-scheme:dark){
.flames .page{fill:#16181c}
.flames .head,.flames .note,.flames .button{fill:#d7dae0}
.flames .over{stroke:#fff}
.flames .above{fill:#16181c}
}
]]

-- The tip: it is moved to the pointer and gets the text of a frame.
local tip = '<g class="words" style="display:none"><rect width="0" height="22" rx="3"/>' ..
   '<text x="6" y="15"></text></g>\n'

local program = [[
(function () {
  'use strict';
  var svg = document.currentScript.ownerSVGElement || document.documentElement;
  var edge = +svg.dataset.edge, row = +svg.dataset.row, root = +svg.dataset.root;
  var scale = +svg.dataset.scale;
  var upward = svg.dataset.upward === 'true', tall = +svg.getAttribute('height');
  var full = +svg.getAttribute('width'), names = lines('names');
  var back = svg.querySelector('.back'), hits = svg.querySelector('.hits');
  var words = svg.querySelector('.words'), labels = svg.querySelector('.labels');
  var paths = Array.prototype.slice.call(svg.querySelectorAll('.frames path'));
  var group = svg.querySelector('.frames'), base = full; // its paths are those of this width
  var zoom = { x: 0, w: 1, d: 0 }, wanted = null, rows = [];
  var matched = added('path', 'matched'), above = added('path', 'above');
  var over = added('rect', 'over');
  var frames = lines('frames').map(function (line) {
    var p = line.split(' ', 5), name = +p[3], f = { d: +p[0], x: p[1] / 1e7, w: p[2] / 1e7,
      name: names[name], path: +p[4], line: line, match: false };
    (rows[f.d] = rows[f.d] || []).push(f);
    return f;
  });
  function lines(name) {
    var text = svg.querySelector('metadata.' + name);
    return text ? text.textContent.split('\n').slice(0, -1) : [];
  }
  function added(kind, name) {
    var element = document.createElementNS('http://www.w3.org/2000/svg', kind);
    element.setAttribute('class', name);
    return svg.insertBefore(element, labels);
  }
  function cut(name, letters) {
    return letters >= name.length ? name : name.slice(0, letters - 2) + '..';
  }
  // Returns the numbers of a frame for people.
  function told(f) { return f.line.split(' ').slice(5).join(' '); }
  function inner() { return (full - 2 * edge) * scale; }
  function isAbove(f) {
    return f.d < zoom.d && f.x <= zoom.x + 1e-7 && f.x + f.w >= zoom.x + zoom.w - 1e-7;
  }
  // Returns where a frame is drawn, in pixels, or null: it is outside of the zoom.
  function box(f) {
    var left = (f.x - zoom.x) / zoom.w, w = f.w / zoom.w;
    if (isAbove(f)) { left = 0; w = 1; }
    else if (f.d < zoom.d || left + w <= 1e-7 || left >= 1 - 1e-7) { return null; }
    return { x: edge + left * inner(), y: upward ? root - (f.d + 1) * row : root + f.d * row,
      w: Math.max(0.2, w * inner()), h: row - 1 };
  }
  function label(f, b) {
    var letters = Math.floor((b.w - 6) / 7.3), text;
    if (letters < 3 && letters < f.name.length) { return; }
    text = document.createElementNS('http://www.w3.org/2000/svg', 'text');
    text.setAttribute('x', b.x + 3);
    text.setAttribute('y', b.y + row - 5);
    if (f.match) { text.setAttribute('class', 'matched'); }
    text.textContent = cut(f.name, letters);
    labels.appendChild(text);
  }
  function drawLabels() {
    labels.textContent = '';
    frames.forEach(function (f) {
      var b = f.w / zoom.w * inner() > 6 || isAbove(f) ? box(f) : null;
      if (b) { label(f, b); }
    });
  }
  // Stretches the paths of all frames to the width, which is faster than drawing them again.
  function stretch() {
    var part = inner() / ((base - 2 * edge) * scale);
    group.setAttribute('transform', 'translate(' + edge * (1 - part) + ',0) scale(' + part + ',1)');
    drawLabels();
  }
  function draw() {
    var parts = paths.map(function () { return []; }), hit = [], veil = [];
    frames.forEach(function (f) {
      var b = box(f), text;
      if (!b) { return; }
      text = 'M' + b.x.toFixed(2) + ' ' + b.y + 'h' + b.w.toFixed(2) + 'v' + b.h + 'h-' +
        b.w.toFixed(2) + 'z';
      (f.match ? hit : parts[f.path]).push(text);
      if (isAbove(f)) { veil.push(text); }
    });
    group.removeAttribute('transform');
    base = full;
    drawLabels();
    paths.forEach(function (path, i) { path.setAttribute('d', parts[i].join('')); });
    matched.setAttribute('d', hit.join(''));
    above.setAttribute('d', veil.join(''));
    over.setAttribute('width', 0);
    back.style.display = zoom.w < 1 ? '' : 'none';
  }
  // Returns the frame at a point of the picture, or undefined.
  function at(x, y) {
    var list = rows[Math.floor((upward ? root - y : y - root) / row)] || [];
    var p = zoom.x + (x - edge) / inner() * zoom.w, low = 0, high = list.length, middle;
    while (low < high) {
      middle = (low + high) >> 1;
      if (list[middle].x <= p) { low = middle + 1; } else { high = middle; }
    }
    return low > 0 && p < list[low - 1].x + list[low - 1].w && x >= edge && x < edge + inner() ?
      list[low - 1] : undefined;
  }
  function place(event) {
    var point = svg.createSVGPoint();
    point.x = event.clientX;
    point.y = event.clientY;
    return point.matrixTransform(svg.getScreenCTM().inverse());
  }
  // Shows the text of a frame beside the pointer at x and y of the picture; without one hides it.
  function tell(f, x, y) {
    var text = words.querySelector('text'), b = f && box(f), wide;
    words.style.display = b ? '' : 'none';
    svg.style.cursor = b ? 'pointer' : '';
    ['x', 'y', 'w', 'h'].forEach(function (key) {
      over.setAttribute({ w: 'width', h: 'height' }[key] || key, b ? b[key] : 0);
    });
    if (!b) { return; }
    text.textContent = cut(f.name, Math.floor(full / 7.3) - 5 - told(f).length) +
      ' (' + told(f) + ')';
    wide = text.getComputedTextLength() + 12;
    words.querySelector('rect').setAttribute('width', wide);
    words.setAttribute('transform', 'translate(' + Math.max(2, Math.min(x + 12, full - wide - 2)) +
      ',' + (y + 42 > tall ? y - 28 : y + 18) + ')');
  }
  svg.addEventListener('mousemove', function (event) {
    var p = place(event);
    tell(at(p.x, p.y), p.x, p.y);
  });
  svg.addEventListener('mouseleave', function () { tell(); });
  function to(place) { zoom = place; draw(); }
  function search(pattern) {
    var list = [], sum = 0, end = -1;
    wanted = null;
    if (pattern) {
      try { wanted = new RegExp(pattern); } catch (e) { hits.textContent = e.message; return; }
    }
    frames.forEach(function (f) {
      f.match = wanted !== null && f.d > 0 && wanted.test(f.name);
      if (f.match) { list.push(f); }
    });
    list.sort(function (a, b) { return a.x - b.x || b.w - a.w; });
    list.forEach(function (f) {
      if (f.x >= end - 1e-7) { sum += f.w; end = f.x + f.w; }
    });
    hits.textContent = wanted === null ? '' :
      list.length + ' frames match, ' + (100 * sum).toFixed(2) + '%';
    draw();
  }
  function ask() {
    var pattern = window.prompt('Search for a regular expression', wanted ? wanted.source : '');
    if (pattern !== null) { search(pattern); }
  }
  svg.addEventListener('click', function (event) {
    var p = place(event), f = at(p.x, p.y);
    if (event.target === back) { to({ x: 0, w: 1, d: 0 }); }
    else if (event.target.classList.contains('find')) { ask(); }
    else if (f) { to(f); }
  });
  // Inside a page the keys are the page's.
  (svg === document.documentElement ? window : svg).addEventListener('keydown', function (event) {
    if (event.key === 'Escape') { to({ x: 0, w: 1, d: 0 }); search(''); }
    if (event.key === '/' || (event.key === 'f' && (event.ctrlKey || event.metaKey))) {
      event.preventDefault();
      ask();
    }
  });
  // Draws the frames again if the width of the picture has changed, unless it is hidden, or a
  // part of another one.
  function fit() {
    var now = Math.max(200, Math.floor(svg.getBoundingClientRect().width));
    if (now === full || svg.ownerSVGElement || svg.getBoundingClientRect().width === 0) { return; }
    full = now;
    svg.setAttribute('viewBox', '0 0 ' + full + ' ' + tall);
    svg.querySelector('.find').setAttribute('x', full - edge);
    hits.setAttribute('x', full - edge);
    if (zoom.w === 1 && zoom.d === 0 && wanted === null) { stretch(); } else { draw(); }
  }
  if (!svg.ownerSVGElement) { svg.setAttribute('width', '100%'); }
  window.addEventListener('resize', fit);
  svg.flames = { to: to, search: search, frames: frames, box: box, tell: tell, fit: fit };
  back.style.display = 'none';
  fit();
}());
]]

-- Returns the losses as an element `desc`, for programs and screen readers.
local function description(notes)
   local list = {}
   for i, note in ipairs(notes) do
      list[i] = "damaged: " .. markup.escaped(note)
   end
   return #list > 0 and "<desc>" .. table.concat(list, "\n") .. "</desc>\n" or ""
end

-- Says what widths and colours of a difference mean.
local function foot_of(given, metric)
   local is_both = given.widths == "both"
   return ("widths: total %s of %s; colours: the change of the total, red grew, blue shrank%s")
      :format(metric or "", is_both and "both profiles" or "the new profile",
         is_both and "" or "; what is gone has no width")
end

local function height_of(rows)
   return HEAD + rows * ROW + FOOT
end

-- Returns the pixels between the edges that frames use.
local function inner_width(given)
   return (given.width - 2 * EDGE) * (given.scale or 1)
end

local function head(profile, given, height, root, before, metric)
   local lines = {
      ('<svg xmlns="http://www.w3.org/2000/svg" version="1.1" class="flames" y="%d" width="%d" ' ..
         'height="%d" ' ..
         'viewBox="0 0 %d %d" data-edge="%d" data-row="%d" data-root="%d" data-upward="%s" ' ..
         'data-scale="%s">\n'):format(given.top or 0, given.width, height, given.width, height,
         EDGE, ROW, root, not given.icicle, texts.float("%.9g", given.scale or 1)),
      description(profile:notes()),
      "<style>", style, "</style>\n",
      '<rect class="page" width="100%" height="100%"/>\n',
      ('<text class="head" x="%d" y="22">%s</text>\n'):format(EDGE, markup.escaped(given.title or
         profile_parts.title(profile))),
      ('<text class="button back" x="%d" y="38" style="display:none">Show all</text>\n')
         :format(EDGE),
      ('<text class="button find" x="%d" y="22" text-anchor="end">Search</text>\n')
         :format(given.width - EDGE),
      ('<text class="note hits" x="%d" y="38" text-anchor="end"></text>\n')
         :format(given.width - EDGE),
   }
   local notes = profile:notes()
   local foot = before and foot_of(given, metric) or ""
   if #notes > 0 then
      foot = foot .. (foot ~= "" and "; " or "") .. "damaged: " .. notes[1] ..
         (#notes > 1 and (" and %d more"):format(#notes - 1) or "")
   end
   lines[#lines + 1] = ('<text class="note" x="%d" y="%d">%s</text>\n'):format(EDGE, height - 10,
      markup.escaped(foot))
   return table.concat(lines)
end

-- Returns the contexts of a profile, and the options of core.write_flames.
local function drawn(profile, given)
   local contexts, metric, before = compared.contexts(profile, given.metric, given.lines)
   return contexts, { metric = metric, before = before, width = inner_width(given), row = ROW,
      min_width = given.min_width, rows = given.rows, upward = not given.icicle,
      both = given.widths == "both" }
end

---Writes the elements of a flame graph, for a file of its own or inside a page.
---@param profile profio.Profile
---@param given table metric, title, width, rows, lines, icicle, min_width (of a frame, in pixels),
---top (pixels above it in a document that contains it), scale (part of the width that is used)
---@param file file*
---@return true|nil
---@return string|nil message
---@return string|nil code
---@return "EPIPE"|nil
function svg.write_element(profile, given, file)
   local contexts, options = drawn(profile, given)
   local rows = core.flame_rows(contexts, options, file)
   local height = height_of(rows)
   options.root = given.icicle and HEAD or HEAD + rows * ROW
   local out = lanes.out(file)
   out:write(head(profile, given, height, options.root, options.before, options.metric))
   options.left = EDGE
   out:call(core.write_flames, contexts, options)
   out:write(tip, "<script><![CDATA[\n", program, "]]></script>\n</svg>\n")
   return out:result()
end

-- Returns the options of the picture of one side of a difference.
local function side_options(side, given, top)
   local own = { scale = side.scale, top = top,
      title = ("%s: %s"):format(side.word, given.title or profile_parts.title(side.profile)) }
   return setmetatable(own, { __index = given })
end

---Writes both sides of a difference as elements of one document, the older one above.
---@param sides table[] compared.sides
---@param given table
---@param file file*
---@return true|nil
---@return string|nil message
---@return string|nil code
---@return "EPIPE"|nil
local function write_pair(sides, given, file)
   local tops, height = {}, 0
   for i, side in ipairs(sides) do
      local contexts, options = drawn(side.profile, side_options(side, given))
      tops[i] = height
      height = height + height_of(core.flame_rows(contexts, options, file))
   end
   local out = lanes.out(file)
   out:write(('<svg xmlns="http://www.w3.org/2000/svg" version="1.1" '
      .. 'width="%d" height="%d" viewBox="0 0 %d %d">\n'):format(given.width, height, given.width,
      height))
   for i, side in ipairs(sides) do
      local ok, message, code, broken = svg.write_element(side.profile,
         side_options(side, given, tops[i]), file)
      if not ok then
         return nil, message, code, broken
      end
   end
   out:write "</svg>\n"
   return out:result()
end

---@param profile profio.Profile
---@param given table
---@param file file*
---@return true|nil
---@return string|nil message
---@return string|nil code
---@return "EPIPE"|nil
function svg.write(profile, given, file)
   given.width = math.max(given.width or 1200, 200)
   given.rows = given.rows or 400
   local sides = given.pair and compared.sides(profile, given.metric)
   if given.pair and not sides then
      error("svg: option pair needs a difference of two profiles", 0)
   end
   local ok, _, number = file:write '<?xml version="1.0" encoding="UTF-8"?>\n'
   if not ok then
      return core.write_failure(file, number)
   end
   return (sides and write_pair or svg.write_element)(sides or profile, given, file)
end

return svg
