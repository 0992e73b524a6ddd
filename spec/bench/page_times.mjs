// node page_times.mjs MODULES ADDRESS [ACTION...] - opens a page in Chromium three times and prints
// JSON: { load, frame }, the medians of the processor time of its main thread until it is idle
// after loading, and for each ACTION with the frame after it, in seconds. An ACTION is JavaScript
// in the page; MODULES is where npm put puppeteer-core.

import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [modules, address, ...actions] = process.argv.slice(2);
const library = path.resolve(modules, 'puppeteer-core/lib/puppeteer/puppeteer-core.js');
const { default: puppeteer } = await import(pathToFileURL(library));
const median = list => list.sort((a, b) => a - b)[Math.floor(list.length / 2)];
const loads = [], frames = [];

async function settled (tab) {
  let last = -1, now = (await tab.metrics()).TaskDuration;
  while (now - last > 0.05) {
    await new Promise(done => setTimeout(done, 1000));
    last = now;
    now = (await tab.metrics()).TaskDuration;
  }
  return now;
}

for (let round = 0; round < 3; round++) {
  const browser = await puppeteer.launch({ executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--allow-file-access-from-files'] });
  const tab = await browser.newPage();
  await tab.setViewport({ width: 1280, height: 900 });
  await tab.goto(address, { timeout: 120000 });
  let last = await settled(tab);
  loads.push(last);
  for (const action of actions) {
    await tab.evaluate(action);
    const now = await settled(tab);
    frames.push(now - last);
    last = now;
  }
  await browser.close();
}
console.log(JSON.stringify({ load: median(loads), frame: median(frames) }));
