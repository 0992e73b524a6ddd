-- A flame graph as one self-contained SVG file: a click on a frame widens it to the full width,
-- Ctrl-F or / searches by a regular expression, a tip under the pointer shows the numbers. For a
-- difference of two profiles the widths are the totals of the new one, or the sums of both, and
-- colours show the change: red has grown and blue has shrunk.
--
-- There is one tip for all frames, because browsers search all elements `title` for each one that
-- they read.

local compared = require "profio.exports.compared"
local core = require "profio.core"
local markup = require "profio.exports.markup"

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
      { name = "width", type = "int", default = 1200, unit = "pixels", help = "width" },
      { name = "rows", type = "int", default = 400, help = "most rows" },
      widths_option,
      { name = "icicle", type = "bool", default = false, help = "draw the root at the top" },
   },
}

---The option that the HTML page has, too.
svg.widths_option = widths_option

local HEAD, FOOT, ROW, EDGE = 44, 30, 17, 10

local style = [[
.flames{font:12px ui-monospace,Menlo,Consolas,monospace}
.flames text{fill:#1b1b1b;pointer-events:none}
.flames .page{fill:#fff}
.flames .head{font-size:15px}
.flames .note,.flames .button{fill:#555}
.flames .button{pointer-events:auto;cursor:pointer}
.flames .f{cursor:pointer}
.flames .f:hover rect{stroke:#000;stroke-width:1}
.flames .f.match rect{fill:#b03bd4}
.flames .f.match text{fill:#fff}
.flames .f.above rect{opacity:.55}
.flames .f.gone{display:none}
.flames .words{pointer-events:none}
.flames .words rect{fill:#1b1b1b;stroke:none}
.flames .words text{fill:#fff}
@media (prefers-color-scheme:dark){
.flames .page{fill:#16181c}
.flames .head,.flames .note,.flames .button,.flames .f.above text{fill:#d7dae0}
.flames .f:hover rect{stroke:#fff}
}
]]

-- The tip: it is moved to the pointer and gets the text of a frame.
local tip = '<g class="words" style="display:none"><rect width="0" height="22" rx="3"/>' ..
   '<text x="6" y="15"></text></g>\n'

local program = [[
(function () {
  'use strict';
  var svg = document.currentScript.ownerSVGElement || document.documentElement;
  var frames = Array.prototype.slice.call(svg.querySelectorAll('.f'));
  var width = +svg.getAttribute('data-width'), edge = +svg.getAttribute('data-edge');
  var back = svg.querySelector('.back'), hits = svg.querySelector('.hits');
  var zoom = { x: 0, w: 1, d: 0 }, wanted = null;
  var words = svg.querySelector('.words'), full = width + 2 * edge;
  frames.forEach(function (g) {
    var told = g.dataset.t;
    g.place = { x: +g.dataset.x, w: +g.dataset.w, d: +g.dataset.d };
    g.name = told.slice(0, told.lastIndexOf(' ('));
  });
  function cut(name, letters) {
    return letters >= name.length ? name : name.slice(0, letters - 2) + '..';
  }
  // Shows the text of a frame beside the pointer at x and y of the picture; without g hides it.
  function tell(g, x, y) {
    if (!g) { words.style.display = 'none'; return; }
    var told = g.dataset.t, text = words.querySelector('text'), numbers = told.lastIndexOf(' (');
    words.style.display = '';
    text.textContent = cut(g.name, Math.floor(full / 7.3) - 2 - (told.length - numbers)) +
      told.slice(numbers);
    var wide = text.getComputedTextLength() + 12, tall = +svg.getAttribute('height');
    words.querySelector('rect').setAttribute('width', wide);
    words.setAttribute('transform', 'translate(' + Math.max(2, Math.min(x + 12, full - wide - 2)) +
      ',' + (y + 42 > tall ? y - 28 : y + 18) + ')');
  }
  svg.addEventListener('mousemove', function (event) {
    var place = svg.createSVGPoint();
    place.x = event.clientX;
    place.y = event.clientY;
    place = place.matrixTransform(svg.getScreenCTM().inverse());
    tell(event.target.closest ? event.target.closest('.f') : null, place.x, place.y);
  });
  svg.addEventListener('mouseleave', function () { tell(null); });
  function label(text, name, pixels) {
    var letters = Math.floor((pixels - 6) / 7.3);
    text.textContent = letters >= 3 || letters >= name.length ? cut(name, letters) : '';
  }
  function draw() {
    frames.forEach(function (g) {
      var p = g.place, left = (p.x - zoom.x) / zoom.w, w = p.w / zoom.w;
      var above = p.d < zoom.d && p.x <= zoom.x + 1e-9 && p.x + p.w >= zoom.x + zoom.w - 1e-9;
      var gone = !above && (p.d < zoom.d || left + w <= 1e-9 || left >= 1 - 1e-9);
      g.classList.toggle('gone', gone);
      g.classList.toggle('above', above);
      if (gone) { return; }
      if (above) { left = 0; w = 1; }
      var pixels = w * width, rect = g.querySelector('rect'), text = g.querySelector('text');
      rect.setAttribute('x', edge + left * width);
      rect.setAttribute('width', Math.max(0.2, pixels));
      text.setAttribute('x', edge + left * width + 3);
      label(text, g.name, pixels);
    });
    back.style.display = zoom.w < 1 ? '' : 'none';
  }
  function to(place) { zoom = place; draw(); }
  function search(pattern) {
    var matched = [], sum = 0, end = -1;
    wanted = null;
    if (pattern) {
      try { wanted = new RegExp(pattern); } catch (e) { hits.textContent = e.message; return; }
    }
    frames.forEach(function (g) {
      var hit = wanted !== null && g.place.d > 0 && wanted.test(g.name);
      g.classList.toggle('match', hit);
      if (hit) { matched.push(g.place); }
    });
    matched.sort(function (a, b) { return a.x - b.x || b.w - a.w; });
    matched.forEach(function (p) {
      if (p.x >= end - 1e-9) { sum += p.w; end = p.x + p.w; }
    });
    hits.textContent = wanted === null ? '' :
      matched.length + ' frames match, ' + (100 * sum).toFixed(2) + '%';
  }
  function ask() {
    var pattern = window.prompt('Search for a regular expression', wanted ? wanted.source : '');
    if (pattern !== null) { search(pattern); }
  }
  svg.addEventListener('click', function (event) {
    var g = event.target.closest ? event.target.closest('.f') : null;
    if (g) { to(g.place); }
    if (event.target === back) { to({ x: 0, w: 1, d: 0 }); }
    if (event.target.classList.contains('find')) { ask(); }
  });
  // Inside a page the keys are the page's.
  (svg === document.documentElement ? window : svg).addEventListener('keydown', function (event) {
    if (event.key === 'Escape') { search(''); to({ x: 0, w: 1, d: 0 }); }
    if (event.key === '/' || (event.key === 'f' && (event.ctrlKey || event.metaKey))) {
      event.preventDefault();
      ask();
    }
  });
  svg.flames = { to: to, search: search, frames: frames, tell: tell };
  back.style.display = 'none';
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

local function head(profile, given, height, before, metric)
   local lines = {
      ('<svg xmlns="http://www.w3.org/2000/svg" version="1.1" class="flames" width="%d" ' ..
         'height="%d" ' ..
         'viewBox="0 0 %d %d" data-width="%d" data-edge="%d">\n'):format(given.width, height,
         given.width, height, given.width - 2 * EDGE, EDGE),
      description(profile:notes()),
      "<style>", style, "</style>\n",
      '<rect class="page" width="100%" height="100%"/>\n',
      ('<text class="head" x="%d" y="22">%s</text>\n'):format(EDGE, markup.escaped(given.title or
         profile:title())),
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

---Writes the elements of a flame graph, for a file of its own or inside a page.
---@param profile profio.Profile
---@param given table metric, title, width, rows, icicle, min_width (of a frame, in pixels)
---@param file file*
---@return true|nil
---@return string|nil message
---@return string|nil code
---@return "EPIPE"|nil
function svg.write_element(profile, given, file)
   local contexts, metric, before = compared.contexts(profile, given.metric)
   local options = { metric = metric, before = before, width = given.width - 2 * EDGE, row = ROW,
      min_width = given.min_width, rows = given.rows, upward = not given.icicle,
      both = given.widths == "both" }
   local rows = core.flame_rows(contexts, options, file)
   local height = HEAD + rows * ROW + FOOT
   options.root = given.icicle and HEAD or HEAD + rows * ROW
   local ok, message = file:write(head(profile, given, height, before, metric))
   if not ok then
      return nil, message, "io"
   end
   options.left = EDGE
   local done, words, code, broken = core.write_flames(contexts, options, file)
   if not done then
      return nil, words, code, broken
   end
   ok, message = file:write(tip, "<script><![CDATA[\n", program, "]]></script>\n</svg>\n")
   if not ok then
      return nil, message, "io"
   end
   return true
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
   local ok, message = file:write '<?xml version="1.0" encoding="UTF-8"?>\n'
   if not ok then
      return nil, message, "io"
   end
   return svg.write_element(profile, given, file)
end

return svg
