// node browse.mjs MODULES - opens pages of exports in one Chromium or Firefox, each in a context of
// its own. A line of standard input is JSON: { page, script, width, scheme, fragment, browser },
// where `page` is the path of the file, `browser` "chromium" or "firefox", and `script` the body of
// an async function with these arguments:
//   tell(name, value)  adds a value to the answer
//   look(f, ...)       runs a function in the page and returns its result
//   wait()             waits until the page has drawn
//   axe()              returns what axe-core finds, as texts
//   tab                the page of puppeteer: keyboard, mouse, goBack(), ...
// Prints a line of JSON for each: { told, errors of all scripts, requests that leave the page }, and
// ends with its input, or with status 1 if a page takes two minutes. MODULES is where npm put
// puppeteer-core and axe-core.

import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import { pathToFileURL } from 'node:url';

const [modules] = process.argv.slice(2);
const library = path.resolve(modules, 'puppeteer-core/lib/puppeteer/puppeteer-core.js');
const { default: puppeteer } = await import(pathToFileURL(library));
const AsyncFunction = (async () => {}).constructor;

async function visit (tab, { page, script, width, scheme, fragment, browser }) {
  const answer = { told: {}, errors: [], requests: [] };
  try {
    const address = pathToFileURL(path.resolve(page)).href;
    await tab.setViewport({ width, height: 900 });
    if (browser === 'chromium') {
      await tab.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    }
    tab.on('pageerror', error => answer.errors.push(String(error.message || error)));
    tab.on('request', request => {
      const url = request.url(); // blob: is what the page has made itself; Firefox has a data: font
      if (!url.startsWith(address) && !/^(blob|data):/.test(url)) { answer.requests.push(url); }
    });
    await tab.goto(address + fragment);
    const look = (f, ...values) => tab.evaluate(f, ...values);
    const wait = () => look(() => new Promise(done =>
      requestAnimationFrame(() => requestAnimationFrame(done))));
    const axe = async () => {
      // As a script of the page it would be refused by the policy.
      await tab.evaluate(fs.readFileSync(path.resolve(modules, 'axe-core/axe.min.js'), 'utf8'));
      const found = await look(() => window.axe.run());
      return found.violations.map(one => `${one.id}: ` + one.nodes.map(node =>
        node.html.slice(0, 120) + ' ' + node.failureSummary.replace(/\s+/g, ' ').slice(0, 200))
        .slice(0, 3).join(' | '));
    };
    await wait();
    await new AsyncFunction('tell', 'look', 'wait', 'axe', 'tab', script)(
      (name, value) => { answer.told[name] = value; }, look, wait, axe, tab);
  } catch (error) {
    answer.errors.push(String(error.stack || error));
  }
  return answer;
}

const started = new Map();

/* Returns the browser of a name, which is started once. */
async function browser_of (name) {
  if (!started.has(name)) {
    started.set(name, await puppeteer.launch(name === 'firefox' ?
      { browser: 'firefox', executablePath: '/usr/bin/firefox-esr' } :
      { executablePath: '/usr/bin/chromium',
        args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] }));
  }
  return started.get(name);
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  const late = setTimeout(() => {
    console.error('the page takes more than two minutes');
    process.exit(1);
  }, 120000);
  const request = JSON.parse(line);
  const context = await (await browser_of(request.browser)).createBrowserContext();
  console.log(JSON.stringify(await visit(await context.newPage(), request)));
  await context.close();
  clearTimeout(late);
}
for (const browser of started.values()) { await browser.close(); }
