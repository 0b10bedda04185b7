// levels.ts: what C prepared for drawing when spans are narrower than a pixel: per row of a track,
// buckets of a fixed width with the share that is covered and the name that takes most of it.

import type { CounterInfo, TrackInfo } from './head';
import { plain, rising, summed } from './varint';

export interface Level {
  width_ns: number;
  n: number;
  busy: Uint8Array;
  /** The name of each bucket; meaningless where `busy` is 0. */
  name: Uint32Array;
}

/** The levels of each row, fine to coarse. Names are unpacked when a level is first drawn. */
export class RowLevels {
  private readonly rows = new Map<number, { info: TrackInfo['levels'][number]; level?: Level }[]>();

  constructor(
    private readonly bytes: Uint8Array,
    infos: TrackInfo['levels'],
  ) {
    for (const info of infos) {
      const list = this.rows.get(info.row) ?? [];
      list.push({ info });
      this.rows.set(info.row, list);
    }
  }

  /** The coarsest level whose buckets are no wider than `ns`; none: draw the spans. */
  pick(row: number, ns: number): Level | null {
    const list = this.rows.get(row);
    if (!list) return null;
    let best = -1;
    for (let i = 0; i < list.length && list[i].info.width_ns <= ns; i++) best = i;
    return best < 0 ? null : (list[best].level ??= this.unpack(list[best].info));
  }

  /** The finest level of a row: for where the spans themselves were left out. */
  finest(row: number): Level | null {
    const first = this.rows.get(row)?.[0];
    return first ? (first.level ??= this.unpack(first.info)) : null;
  }

  private unpack(info: TrackInfo['levels'][number]): Level {
    const busy = this.bytes.subarray(info.busy, info.busy + info.n);
    let covered = 0;
    for (let i = 0; i < info.n; i++) if (busy[i]) covered++;
    const packed = plain(this.bytes, info.name, covered, new Uint32Array(covered));
    const name = new Uint32Array(info.n);
    for (let i = 0, k = 0; i < info.n; i++) if (busy[i]) name[i] = packed[k++];
    return { width_ns: info.width_ns, n: info.n, busy, name };
  }
}

export interface Curve {
  width_ns: number;
  min: Float64Array | null;
  max: Float64Array;
}
export interface Points {
  t: Float64Array;
  v: Float64Array;
}

/** A counter's values: exact points where there are few enough, else buckets by level. */
export class Counter {
  private readonly curves: (Curve | undefined)[] = [];
  private exact: Points | undefined;

  constructor(
    private readonly bytes: Uint8Array,
    readonly info: CounterInfo,
  ) {}

  get points(): Points | null {
    const p = this.info.points;
    if (!p) return null;
    return (this.exact ??= {
      t: rising(this.bytes, p.t, p.n, new Float64Array(p.n)),
      v: summed(this.bytes, p.v, p.n, new Float64Array(p.n)),
    });
  }

  /** The coarsest curve whose buckets are no wider than `ns`, or the finest there is. */
  curve(ns: number): Curve | null {
    const { levels } = this.info;
    if (!levels.length) return null;
    let best = 0;
    while (best + 1 < levels.length && levels[best + 1].width_ns <= ns) best++;
    return (this.curves[best] ??= this.unpack(levels[best]));
  }

  private unpack(level: CounterInfo['levels'][number]): Curve {
    const read = (at: number): Float64Array =>
      summed(this.bytes, at, level.n, new Float64Array(level.n));
    return {
      width_ns: level.width_ns,
      min: level.min === null ? null : read(level.min),
      max: read(level.max),
    };
  }

  /** Value at a moment, as drawn. */
  at(t: number): number | null {
    const exact = this.points;
    if (exact) {
      let lo = 0;
      let hi = exact.t.length;
      while (lo < hi) {
        const mid = (lo + hi) >> 1;
        if (exact.t[mid] <= t) lo = mid + 1;
        else hi = mid;
      }
      return lo ? exact.v[lo - 1] : null;
    }
    const curve = this.curve(0);
    const i = curve ? Math.floor(t / curve.width_ns) : -1;
    return curve && i >= 0 && i < curve.max.length ? curve.max[i] : null;
  }
}
