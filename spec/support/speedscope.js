// node speedscope.js MODULES FILE... - what speedscope's own importer makes of
// each file, a line of JSON each: { name, profiles: [{ name, unit, total,
// samples, calls, frames: [{ name, self, total }] }] }, or { error } when it
// refuses, and always the seconds it took. MODULES is where npm put
// speedscope and jsdom.

'use strict';

const fs = require('fs');
const path = require('path');

const modules = path.resolve(process.argv[2]);
const { JSDOM, VirtualConsole } = require(path.join(modules, 'jsdom'));
const release = path.join(modules, 'speedscope/dist/release');

// The program is one long line and so are its errors.
const short = (what) => String(what && what.message || what).slice(0, 300);

// The program tells nobody what it imported: it is asked where it sets the
// title of the page.
function bundle () {
  const name = fs.readdirSync(release).find((file) => /^speedscope-.*\.js$/.test(file));
  const text = fs.readFileSync(path.join(release, name), 'utf8');
  const hooked = text.replace(/document\.title=`\$\{(\w+)\.name\} - speedscope`/,
    (all, group) => `window.imported(${group}),${all}`);
  if (hooked === text) { throw new Error('this speedscope sets no title'); }
  return hooked;
}

function page (ended) {
  const errors = [];
  const virtualConsole = new VirtualConsole();
  virtualConsole.on('error', (...words) => errors.push(words.map(short).join(' ')));
  virtualConsole.on('jsdomError', (error) => errors.push(short(error)));
  const dom = new JSDOM('<!DOCTYPE html><html><body></body></html>', {
    url: 'http://localhost/#localProfilePath=x', runScripts: 'outside-only',
    pretendToBeVisual: true, virtualConsole });
  const window = dom.window;
  window.matchMedia = () => ({ matches: false, addListener () {}, removeListener () {},
    addEventListener () {}, removeEventListener () {} });
  window.HTMLCanvasElement.prototype.getContext = () => null;
  window.Element.prototype.scrollIntoView = () => {};
  Object.assign(window, { TextDecoder, TextEncoder });
  window.alert = (message) => ended({ error: short(message) });
  window.imported = (group) => ended({ group });
  window.console.log = window.console.error = (...words) => {
    const message = words.map(short).join(' ');
    if (/^Failed to load format/.test(message)) { ended({ error: message }); }
    errors.push(message);
  };
  return { window, errors };
}

function summary (profile) {
  const frames = [];
  let calls = 0;
  profile.forEachFrame((frame) => frames.push({ name: frame.name,
    self: frame.getSelfWeight(), total: frame.getTotalWeight() }));
  profile.forEachCall(() => { calls++; }, () => {});
  return { name: profile.getName(), unit: profile.getWeightUnit(),
    total: profile.getTotalWeight(), samples: profile.samples.length, calls, frames };
}

function load (program, file) {
  return new Promise((resolve) => {
    let began = 0;
    const ended = (what) => {
      const seconds = (performance.now() - began) / 1000;
      clearTimeout(late);
      resolve(what.group ? { seconds, name: what.group.name,
        profiles: what.group.profiles.map(summary) } : { seconds, error: what.error });
    };
    const { window, errors } = page(ended);
    const late = setTimeout(() => ended({ error: errors[0] || 'no answer' }), 300000);
    window.eval(program);
    const bytes = fs.readFileSync(file).toString('base64');
    began = performance.now();
    window.speedscope.loadFileFromBase64(path.basename(file), bytes);
  });
}

(async () => {
  const program = bundle();
  for (const file of process.argv.slice(3)) {
    console.log(JSON.stringify(await load(program, file)));
  }
  process.exit(0);
})();
