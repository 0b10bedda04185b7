// dataset.ts: one trace on the page: columns by span number, tracks over them, and the questions
// the page asks of them: what encloses a span, what launched it, what is at a moment.

import { classNumber, familyClass, kindClass } from './classes';
import type { PageInfo, SetInfo, TrackInfo } from './head';
import { Counter, RowLevels } from './levels';
import { HIDDEN, rowsOf, type Rows } from './rows';
import { Strings } from './strings';
import { ids, plain, rising, Reader, signed } from './varint';

export interface Track {
  info: TrackInfo;
  index: number;
  rows: Rows;
  /** The same without Python frames: what was under them moves up. */
  rowsNoPython: Rows;
  levels: RowLevels;
}

/** What is known of device work, by its number k among device work. */
export interface GpuColumns {
  span: Uint32Array;
  launch: Int32Array;
  how: Uint8Array;
  family: Uint8Array;
  delay: Float64Array;
  after: Float64Array;
  wait: Float64Array;
  depth: Uint32Array;
  config: Uint32Array;
  bytes: Float64Array;
  correlation: Float64Array;
  graph: Float64Array;
}

export interface StageCalls {
  stage: Uint32Array;
  start: Float64Array;
  dur: Float64Array;
  gpuStart: Float64Array;
  gpuDur: Float64Array;
}

export const FLAG_INSTANT = 2;

export class DataSet {
  readonly page: PageInfo;
  readonly n: number;
  readonly start: Float64Array;
  readonly dur: Float64Array;
  readonly name: Uint32Array;
  readonly depth: Uint8Array;
  readonly kind: Uint8Array;
  readonly flags: Uint8Array;
  /** Colour class of each span. */
  readonly look: Uint8Array;
  /** The enclosing span on the same track, or -1. */
  readonly parent: Int32Array;
  readonly names: Strings;
  /** Colour class of a name: where a bucket has a name but no spans. */
  readonly nameLook: Uint8Array;
  readonly tracks: Track[];
  readonly gpu: GpuColumns;
  readonly calls: StageCalls;
  readonly counters: Counter[];
  /** How long a kernel takes on average: decides from which zoom on families have colours. */
  readonly meanKernel: number;
  private launched: { launch: Int32Array; order: Uint32Array } | null = null;
  private ops: { span: Uint32Array; dims: Uint32Array; types: Uint32Array } | null = null;

  constructor(
    readonly info: SetInfo,
    private readonly bytes: Uint8Array,
  ) {
    const page = (this.page = info.page);
    this.n = this.count('dur');
    this.start = this.readStarts();
    this.dur = plain(bytes, this.offset('dur'), this.n, new Float64Array(this.n));
    this.name = plain(bytes, this.offset('name'), this.n, new Uint32Array(this.n));
    this.depth = this.byteColumn('depth');
    this.kind = this.byteColumn('kind');
    this.flags = this.byteColumn('flags');
    this.names = this.readStrings();
    this.gpu = this.readGpu();
    this.parent = this.findParents();
    this.look = this.readLooks();
    this.nameLook = this.readNameLooks();
    this.tracks = page.tracks.map((t, index) => this.makeTrack(t, index));
    this.calls = this.readCalls();
    this.counters = page.counters.map(c => new Counter(bytes, c));
    this.meanKernel = this.findMeanKernel();
  }

  private offset(column: string): number {
    return this.page.columns.list[column]?.offset ?? 0;
  }
  private count(column: string): number {
    return this.page.columns.list[column]?.n ?? 0;
  }

  private byteColumn(column: string): Uint8Array {
    const at = this.offset(column);
    return this.bytes.subarray(at, at + this.count(column));
  }

  private readStarts(): Float64Array {
    const out = new Float64Array(this.n);
    const reader = new Reader(this.bytes, this.offset('start'));
    for (const t of this.page.tracks) {
      let sum = 0;
      for (let i = t.first; i < t.first + t.n; i++) out[i] = sum += reader.next();
    }
    return out;
  }

  private readStrings(): Strings {
    const n = this.count('string_len');
    const at = this.offset('string_bytes');
    const size = this.page.columns.list['string_bytes']?.bytes ?? 0;
    const nShort = this.count('string_short');
    return new Strings(
      plain(this.bytes, this.offset('string_len'), n, new Uint32Array(n)),
      this.bytes.subarray(at, at + size),
      plain(this.bytes, this.offset('string_short'), nShort, new Uint32Array(nShort)),
    );
  }

  /** Spans whose kind is one of these, in order. */
  private spansOf(...kinds: string[]): Uint32Array {
    const wanted = new Uint8Array(256);
    this.page.kinds.forEach((k, i) => {
      if (kinds.includes(k)) wanted[i] = 1;
    });
    let n = 0;
    for (let i = 0; i < this.n; i++) n += wanted[this.kind[i]];
    const out = new Uint32Array(n);
    for (let i = 0, k = 0; i < this.n; i++) if (wanted[this.kind[i]]) out[k++] = i;
    return out;
  }

  private readGpu(): GpuColumns {
    const span = this.spansOf('kernel', 'gpu_memcpy', 'gpu_memset');
    const n = span.length;
    const { bytes } = this;
    const at = (c: string): number => this.offset(c);
    const less = (a: Float64Array): Float64Array => {
      for (let i = 0; i < a.length; i++) a[i]--;
      return a;
    };
    return {
      span,
      launch: ids(bytes, at('gpu_launch'), n, new Int32Array(n)),
      how: this.byteColumn('gpu_how'),
      family: this.byteColumn('gpu_family'),
      delay: signed(bytes, at('gpu_delay'), n, new Float64Array(n)),
      after: signed(bytes, at('gpu_after'), n, new Float64Array(n)),
      wait: plain(bytes, at('gpu_wait'), n, new Float64Array(n)),
      depth: plain(bytes, at('gpu_depth'), n, new Uint32Array(n)),
      config: plain(bytes, at('gpu_config'), n, new Uint32Array(n)),
      bytes: less(plain(bytes, at('gpu_bytes'), n, new Float64Array(n))),
      correlation: ids(bytes, at('gpu_correlation'), n, new Float64Array(n)),
      graph: less(plain(bytes, at('gpu_graph'), n, new Float64Array(n))),
    };
  }

  private readCalls(): StageCalls {
    const n = this.count('stage_id');
    const { bytes } = this;
    const read = (c: string): Float64Array => plain(bytes, this.offset(c), n, new Float64Array(n));
    return {
      stage: plain(bytes, this.offset('stage_id'), n, new Uint32Array(n)),
      start: rising(bytes, this.offset('stage_start'), n, new Float64Array(n)),
      dur: read('stage_dur'),
      gpuStart: read('stage_gpu_start'),
      gpuDur: read('stage_gpu_dur'),
    };
  }

  /** The innermost span of the rows above that still runs when this one ends. */
  private findParents(): Int32Array {
    const out = new Int32Array(this.n);
    const last = new Int32Array(256);
    for (const t of this.page.tracks) {
      last.fill(-1);
      for (let i = t.first; i < t.first + t.n; i++) {
        const depth = this.depth[i];
        let above = depth ? last[depth - 1] : -1;
        while (above >= 0 && this.end(above) < this.end(i)) above = out[above];
        out[i] = above;
        last[depth] = i;
      }
    }
    return out;
  }

  private readLooks(): Uint8Array {
    const byKind = this.page.kinds.map(kindClass);
    const byFamily = this.page.families.map(familyClass);
    const kernel = classNumber.kernel;
    const call = classNumber.call;
    const waits = new Map<number, boolean>();
    const out = new Uint8Array(this.n);
    for (let i = 0; i < this.n; i++) {
      out[i] = byKind[this.kind[i]];
      if (out[i] !== call) continue;
      const id = this.name[i];
      if (!waits.has(id)) waits.set(id, /synchronize/i.test(this.names.get(id)));
      if (waits.get(id)) out[i] = classNumber.sync;
    }
    for (let k = 0; k < this.gpu.span.length; k++) {
      const i = this.gpu.span[k];
      if (out[i] === kernel) out[i] = byFamily[this.gpu.family[k]];
    }
    return out;
  }

  private readNameLooks(): Uint8Array {
    const byKind = this.page.kinds.map(kindClass);
    const out = Uint8Array.from(this.byteColumn('string_kind'), kind => byKind[kind] ?? 0);
    for (let i = 0; i < this.n; i++) out[this.name[i]] = this.look[i];
    return out;
  }

  private findMeanKernel(): number {
    let sum = 0;
    for (const i of this.gpu.span) sum += this.dur[i];
    return this.gpu.span.length ? sum / this.gpu.span.length : 0;
  }

  private makeTrack(info: TrackInfo, index: number): Track {
    const depth = this.depth.subarray(info.first, info.first + info.n);
    const rows = rowsOf(depth, info.first);
    const python = classNumber.python;
    const some =
      info.kind === 'thread' &&
      this.look.subarray(info.first, info.first + info.n).includes(python);
    return {
      info,
      index,
      rows,
      rowsNoPython: some ? this.rowsWithout(info, python) : rows,
      levels: new RowLevels(this.bytes, info.levels),
    };
  }

  private rowsWithout(info: TrackInfo, look: number): Rows {
    const row = new Uint8Array(info.n);
    const under = new Uint8Array(info.n);
    for (let k = 0; k < info.n; k++) {
      const i = info.first + k;
      const parent = this.parent[i];
      const depth = parent < 0 ? 0 : under[parent - info.first];
      const hidden = this.look[i] === look;
      row[k] = hidden ? HIDDEN : depth;
      under[k] = Math.min(hidden ? depth : depth + 1, HIDDEN - 1);
    }
    return rowsOf(row, info.first);
  }

  end(i: number): number {
    return this.start[i] + this.dur[i];
  }

  trackOf(i: number): Track {
    let lo = 0;
    let hi = this.tracks.length - 1;
    while (lo < hi) {
      const mid = (lo + hi + 1) >> 1;
      if (this.tracks[mid].info.first <= i) lo = mid;
      else hi = mid - 1;
    }
    return this.tracks[lo];
  }

  /** Number of a span among device work, or -1. */
  gpuIndex(i: number): number {
    return indexIn(this.gpu.span, i);
  }

  /** The call that launched this device work, or -1. */
  launchOf(i: number): number {
    const k = this.gpuIndex(i);
    return k < 0 ? -1 : this.gpu.launch[k];
  }

  /** Device work that a call launched: a graph launches many. */
  launchedBy(i: number): number[] {
    if (!this.launched) {
      const order = Uint32Array.from(this.gpu.launch.keys());
      order.sort((a, b) => this.gpu.launch[a] - this.gpu.launch[b] || a - b);
      this.launched = { order, launch: Int32Array.from(order, k => this.gpu.launch[k]) };
    }
    const { launch, order } = this.launched;
    const out: number[] = [];
    let lo = 0;
    let hi = launch.length;
    while (lo < hi) {
      const mid = (lo + hi) >> 1;
      if (launch[mid] < i) lo = mid + 1;
      else hi = mid;
    }
    for (; lo < launch.length && launch[lo] === i; lo++) out.push(this.gpu.span[order[lo]]);
    return out;
  }

  /** Spans around this one, outermost first, itself last. */
  chain(i: number): number[] {
    const out: number[] = [];
    for (let at = i; at >= 0; at = this.parent[at]) out.unshift(at);
    return out;
  }

  /** Shapes and types of an operator's inputs, where they were recorded. */
  shapes(i: number): { dims: string; types: string } | null {
    if (!this.ops) {
      const span = this.spansOf('cpu_op', 'user_annotation');
      const n = this.count('op_dims');
      this.ops = {
        span,
        dims: plain(this.bytes, this.offset('op_dims'), n, new Uint32Array(n)),
        types: plain(this.bytes, this.offset('op_types'), n, new Uint32Array(n)),
      };
    }
    const k = indexIn(this.ops.span, i);
    if (k < 0 || k >= this.ops.dims.length || !this.ops.dims[k]) return null;
    const types = this.ops.types[k];
    return {
      dims: this.names.get(this.ops.dims[k] - 1),
      types: types ? this.names.get(types - 1) : '',
    };
  }
}

function indexIn(sorted: Uint32Array, value: number): number {
  let lo = 0;
  let hi = sorted.length;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (sorted[mid] < value) lo = mid + 1;
    else hi = mid;
  }
  return lo < sorted.length && sorted[lo] === value ? lo : -1;
}
