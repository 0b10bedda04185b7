// load.ts: takes the data out of the page: the head is JSON, the columns are base64 of raw deflate.

import { DataSet } from './dataset';
import type { Head } from './head';

const VERSION = 1;

function textOf(id: string): string {
  const el = document.getElementById(id);
  const text = el?.textContent ?? '';
  el?.remove();
  return text;
}

function fromBase64(text: string): Uint8Array {
  const fast = (Uint8Array as unknown as { fromBase64?: (s: string) => Uint8Array }).fromBase64;
  if (fast) return fast.call(Uint8Array, text);
  const raw = atob(text);
  const out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out;
}

async function inflate(packed: Uint8Array, size: number): Promise<Uint8Array> {
  const stream = new Blob([packed as BlobPart])
    .stream()
    .pipeThrough(new DecompressionStream('deflate-raw'));
  const out = new Uint8Array(await new Response(stream).arrayBuffer());
  if (out.length !== size) throw new Error(`the data has ${out.length} bytes instead of ${size}`);
  return out;
}

export interface Loaded {
  head: Head;
  sets: DataSet[];
}

export function readHead(): Head {
  const text = textOf('strata-head');
  if (text.startsWith('@'))
    throw new Error('This page is empty: `strata report TRACE --html FILE` writes one with data.');
  const head = JSON.parse(text) as Head;
  if (head.version !== VERSION)
    throw new Error(`The data has version ${head.version}, but this page shows version ${VERSION}.`);
  return head;
}

export async function readSets(head: Head): Promise<DataSet[]> {
  const packed = fromBase64(textOf('strata-columns'));
  return Promise.all(
    head.sets.map(async set => {
      const c = set.page.columns;
      const part = packed.subarray(c.offset, c.offset + c.packed_bytes);
      return new DataSet(set, await inflate(part, c.plain_bytes));
    }),
  );
}
