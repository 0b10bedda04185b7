// idle.ts: when a device is idle. It is what the tool is about, so it is drawn: hatched on the
// strip of the device's load and between the work of its streams.

import { ns } from '../base/format';
import type { DataSet, Track } from '../data/dataset';
import { type Frame, timeAt, xOf } from './frame';
import type { CounterStrip } from './layout';
import type { RowBox } from './spans';

/** Stretches one after the other: begin, end, begin, end ... */
type Stretches = Float64Array;

const LABEL_FROM = 64;

/** The stretches in which a stream works. */
function busyOf(set: DataSet, { info }: Track): number[] {
  const work = set.page.kinds.map(k => k === 'kernel' || k === 'gpu_memcpy' || k === 'gpu_memset');
  const out: number[] = [];
  for (let i = info.first; i < info.first + info.n; i++) {
    if (!work[set.kind[i]]) continue;
    const end = set.end(i);
    const last = out.length - 1;
    if (last > 0 && set.start[i] <= out[last]) out[last] = Math.max(out[last], end);
    else out.push(set.start[i], end);
  }
  return out;
}

function union(a: number[], b: number[]): number[] {
  const out: number[] = [];
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    const [list, at] = j >= b.length || (i < a.length && a[i] <= b[j]) ? [a, i] : [b, j];
    if (list === a) i += 2;
    else j += 2;
    const last = out.length - 1;
    if (last > 0 && list[at] <= out[last]) out[last] = Math.max(out[last], list[at + 1]);
    else out.push(list[at], list[at + 1]);
  }
  return out;
}

/** What lies between, from the begin of the trace to its end. */
function between(busy: number[], from: number, to: number): Stretches {
  const out: number[] = [];
  let at = from;
  for (let i = 0; i < busy.length; i += 2) {
    if (busy[i] > at) out.push(at, busy[i]);
    at = busy[i + 1];
  }
  if (to > at) out.push(at, to);
  return Float64Array.from(out);
}

/** The idle times of the devices of a set, found when they are first drawn. Where the page does not
 *  hold every span, only the gaps that C lists. */
export class Idle {
  private readonly of = new Map<number, Stretches>();

  constructor(private readonly set: DataSet) {}

  at(device: number): Stretches {
    let known = this.of.get(device);
    if (!known) this.of.set(device, (known = this.find(device)));
    return known;
  }

  private find(device: number): Stretches {
    const { page, tracks } = this.set;
    if (!page.detail.complete) {
      const listed = page.gaps.filter(g => (g.device ?? 0) === device);
      listed.sort((a, b) => a.t0_ns - b.t0_ns);
      return Float64Array.from(listed.flatMap(g => [g.t0_ns, g.t1_ns]));
    }
    const streams = tracks.filter(t => t.info.kind === 'stream' && t.info.device === device);
    const busy = streams.map(t => busyOf(this.set, t)).reduce(union, []);
    return between(busy, page.window.t0_ns, page.window.t1_ns);
  }
}

/** Calls back with the pixels of every stretch in sight that is at least `least` wide. */
function eachSeen(
  f: Frame,
  list: Stretches,
  least: number,
  visit: (x0: number, x1: number, ns: number) => void,
): void {
  let lo = 0;
  let hi = list.length / 2;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (list[2 * mid + 1] <= f.start) lo = mid + 1;
    else hi = mid;
  }
  const end = timeAt(f, f.width);
  for (let i = 2 * lo; i < list.length && list[i] < end; i += 2) {
    const x0 = Math.max(xOf(f, list[i]), -2);
    const x1 = Math.min(xOf(f, list[i + 1]), f.width + 2);
    if (x1 - x0 >= least) visit(x0, x1, list[i + 1] - list[i]);
  }
}

/** Behind the work of a stream. */
export function paintIdle(f: Frame, device: number, box: RowBox, named: boolean): void {
  const { ctx, palette } = f;
  eachSeen(f, f.idle.at(device), 0.75, (x0, x1, length) => {
    ctx.fillStyle = palette.idle;
    ctx.fillRect(x0, box.y, x1 - x0, box.height);
    if (!named || x1 - x0 < LABEL_FROM) return;
    const text = `idle ${ns(length)}`;
    const width = ctx.measureText(text).width;
    const middle = (Math.max(x0, 0) + Math.min(x1, f.width)) / 2;
    ctx.fillStyle = palette.background;
    ctx.fillRect(middle - width / 2 - 4, box.y + 3, width + 8, box.height - 6);
    ctx.fillStyle = palette.idleText;
    ctx.fillText(text, middle - width / 2, box.y + box.height / 2 + 0.5);
  });
}

/** Buckets wider than this, in pixels, are coarser than the work itself. */
const COARSE = 2;

/** The ground of the strip that shows a device's load: all of it idle, until the curve covers it. Near
 *  enough, where the page holds every span, the load is exact and needs no curve: returns true then. */
export function paintLoadGround(f: Frame, { counter, height }: CounterStrip, y: number): boolean {
  const { window, detail } = f.set.page;
  const x0 = Math.max(xOf(f, window.t0_ns), 0);
  const width = Math.min(xOf(f, window.t1_ns), f.width) - x0;
  const curve = counter.curve(1 / f.scale);
  const exact = detail.complete && !!curve && curve.width_ns * f.scale > COARSE;
  if (width <= 0) return exact;
  f.ctx.fillStyle = exact ? f.palette.busy : f.palette.idle;
  f.ctx.fillRect(x0, y, width, height);
  if (exact) paintIdle(f, counter.info.device ?? 0, { y, height }, false);
  return exact;
}
