// node browse.mjs MODULES PAGE SCRIPT WIDTH SCHEME FRAGMENT - opens a page of export html in
// Chromium and runs SCRIPT, the body of an async function with these arguments:
//   tell(name, value)  adds a value to the answer
//   look(f, ...)       runs a function in the page and returns its result
//   wait()             waits until the page has drawn
//   axe()              returns what axe-core finds, as texts
//   tab                the page of puppeteer: keyboard, mouse, goBack(), ...
// Prints JSON: { told, errors of all scripts, requests that leave the page }. MODULES is where npm
// put puppeteer-core and axe-core.

import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [modules, file, script, width, scheme, fragment] = process.argv.slice(2);
const library = path.resolve(modules, 'puppeteer-core/lib/puppeteer/puppeteer-core.js');
const { default: puppeteer } = await import(pathToFileURL(library));
const AsyncFunction = (async () => {}).constructor;

const browser = await puppeteer.launch({ executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });
const answer = { told: {}, errors: [], requests: [] };
try {
  const tab = await browser.newPage(), address = pathToFileURL(path.resolve(file)).href;
  await tab.setViewport({ width: +width, height: 900 });
  await tab.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
  tab.on('pageerror', error => answer.errors.push(String(error.message || error)));
  tab.on('request', request => {
    if (!request.url().startsWith(address)) { answer.requests.push(request.url()); }
  });
  await tab.goto(address + fragment);
  const look = (f, ...values) => tab.evaluate(f, ...values);
  const wait = () => look(() => new Promise(done =>
    requestAnimationFrame(() => requestAnimationFrame(done))));
  const axe = async () => {
    await tab.addScriptTag({ content: fs.readFileSync(path.resolve(modules, 'axe-core/axe.min.js'),
      'utf8') });
    const found = await look(() => window.axe.run());
    return found.violations.map(one => `${one.id}: ` + one.nodes.map(node => node.html.slice(0, 120) +
      ' ' + node.failureSummary.replace(/\s+/g, ' ').slice(0, 200)).slice(0, 3).join(' | '));
  };
  await wait();
  await new AsyncFunction('tell', 'look', 'wait', 'axe', 'tab', fs.readFileSync(script, 'utf8'))(
    (name, value) => { answer.told[name] = value; }, look, wait, axe, tab);
} catch (error) {
  answer.errors.push(String(error.stack || error));
}
await browser.close();
console.log(JSON.stringify(answer));
