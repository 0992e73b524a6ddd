// node page_times.mjs MODULES ROUNDS ADDRESS PLACE [ACTION...] - opens a page in Chromium ROUNDS
// times and prints JSON, the medians in seconds: load, the processor time of the main thread until
// it is idle after loading; heap, the MB of its JavaScript objects then; action, that of an ACTION (JavaScript in the page) with the frame after it; and
// for the frames while the mouse zooms and drags at PLACE: frame and worst, the time between
// frames, and work, the processor time for each. PLACE is JavaScript that returns [x, y], or empty:
// then the frames are those of the actions. MODULES is where npm put puppeteer-core.

import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [modules, count, address, place, ...actions] = process.argv.slice(2);
const library = path.resolve(modules, 'puppeteer-core/lib/puppeteer/puppeteer-core.js');
const { default: puppeteer } = await import(pathToFileURL(library));
const median = list => list.slice().sort((a, b) => a - b)[Math.floor(list.length / 2)];
const rounds = { load: [], heap: [], action: [], frame: [], worst: [], work: [] };
const STEPS = 20;

const spent = async tab => (await tab.metrics()).TaskDuration;

async function settled (tab) {
  let last = -1, now = await spent(tab);
  while (now - last > 0.05) {
    await new Promise(done => setTimeout(done, 1000));
    last = now;
    now = await spent(tab);
  }
  return now;
}

/* Zooms in by the wheel with Ctrl, drags to the left, and zooms out. */
async function zoom_and_drag (tab) {
  const [x, y] = await tab.evaluate(place);
  const wheel = async deltaY => {
    await tab.keyboard.down('Control');
    for (let i = 0; i < STEPS; i++) { await tab.mouse.wheel({ deltaY }); }
    await tab.keyboard.up('Control');
  };
  await tab.mouse.move(x, y);
  await wheel(-40);
  await tab.mouse.down();
  for (let i = 0; i < STEPS; i++) { await tab.mouse.move(x - 10 * i, y); }
  await tab.mouse.up();
  await wheel(40);
}

/* Notes the times of frames while `run` runs. */
async function frames_of (tab, run) {
  await tab.evaluate(() => {
    window.frames_seen = [];
    const note = time => {
      window.frames_seen.push(time / 1000);
      window.frame_noted = requestAnimationFrame(note);
    };
    window.frame_noted = requestAnimationFrame(note);
  });
  const before = await spent(tab);
  await run();
  const times = await tab.evaluate(() => {
    cancelAnimationFrame(window.frame_noted);
    return window.frames_seen;
  });
  const between = times.slice(1).map((time, i) => time - times[i]);
  rounds.frame.push(median(between));
  rounds.worst.push(Math.max(...between));
  rounds.work.push((await spent(tab) - before) / times.length);
}

for (let round = 0; round < +count; round++) {
  const browser = await puppeteer.launch({ executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--allow-file-access-from-files'] });
  const tab = await browser.newPage();
  await tab.setViewport({ width: 1280, height: 900 });
  await tab.goto(address, { timeout: 120000 });
  let last = await settled(tab);
  rounds.load.push(last);
  rounds.heap.push((await tab.metrics()).JSHeapUsedSize / 1e6);
  for (const action of actions) {
    await tab.evaluate(action);
    const now = await settled(tab);
    rounds.action.push(now - last);
    last = now;
  }
  await frames_of(tab, () => place === '' ? actions.reduce((before, action) =>
    before.then(() => tab.evaluate(action)), Promise.resolve()) : zoom_and_drag(tab));
  await browser.close();
}
console.log(JSON.stringify(Object.fromEntries(Object.entries(rounds).map(([name, list]) =>
  [name, list.length ? median(list) : null]))));
