// curves.ts: paints a counter as a filled curve: exact steps where the page has them, else the
// least and most of each bucket.

import { bytes, count, pct } from '../base/format';
import { classNumber } from '../data/classes';
import type { Counter } from '../data/levels';
import { type Frame, timeAt, xOf } from './frame';
import { paintLoadGround } from './idle';
import type { CounterStrip } from './layout';

/** More steps than this are drawn from buckets. */
const EXACT_UP_TO = 20000;

export function counterText(counter: Counter, value: number | null): string {
  if (value === null) return '–';
  if (counter.info.unit === 'bytes') return bytes(value);
  if (counter.info.unit === 'watts') return `${count(value)} W`;
  return counter.info.unit === 'pct' ? pct(value / 100) : count(value);
}

function top({ info }: Counter): number {
  if (info.unit === 'pct') return 10000;
  return info.max > 0 ? info.max : 1;
}

type Place = (value: number) => number;

function trace(f: Frame, counter: Counter, place: Place, base: number): boolean {
  f.ctx.beginPath();
  const few = counter.points && counter.points.t.length < EXACT_UP_TO;
  return few ? tracePoints(f, counter, place, base) : traceBuckets(f, counter, place, base);
}

export function paintCurve(f: Frame, strip: CounterStrip, y: number): void {
  const { ctx, palette } = f;
  const { counter, ceiling, height } = strip;
  const most = Math.max(top(counter), ceiling ? top(ceiling) : 0);
  const base = y + height;
  const place = (v: number): number => base - Math.max(0, Math.min(1, v / most)) * (height - 2);
  ctx.lineWidth = 1;
  if (counter.info.id === 'exposed') return paintShares(f, strip, place, base);
  if (counter.info.id === 'busy') return paintLoad(f, strip, y, place);
  if (ceiling && trace(f, ceiling, place, base)) {
    ctx.strokeStyle = palette.line;
    ctx.stroke();
  }
  if (trace(f, counter, place, base)) {
    ctx.fillStyle = palette.curveFill;
    ctx.fill();
    ctx.strokeStyle = palette.curve;
    ctx.stroke();
  }
  ctx.fillStyle = palette.faint;
  ctx.fillRect(0, base, f.width, 1);
}

/** A device's load: how much of each moment it works, over hatching for the rest. */
function paintLoad(f: Frame, strip: CounterStrip, y: number, place: Place): void {
  if (paintLoadGround(f, strip, y)) return;
  f.ctx.fillStyle = f.palette.busy;
  if (trace(f, strip.counter, place, y + strip.height)) f.ctx.fill();
}

/** Communication: pale where something else runs beside it, full where it is exposed. */
function paintShares(f: Frame, { counter, ceiling }: CounterStrip, place: Place, base: number): void {
  const { ctx, palette } = f;
  ctx.fillStyle = f.tone.fill[classNumber.comm][0];
  if (ceiling && trace(f, ceiling, place, base)) {
    ctx.globalAlpha = 0.35;
    ctx.fill();
    ctx.globalAlpha = 1;
  }
  if (trace(f, counter, place, base)) ctx.fill();
  ctx.fillStyle = palette.faint;
  ctx.fillRect(0, base, f.width, 1);
}

function tracePoints(f: Frame, counter: Counter, place: Place, base: number): boolean {
  const { t, v } = counter.points!;
  const end = timeAt(f, f.width);
  let lo = 0;
  let hi = t.length;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (t[mid] <= f.start) lo = mid + 1;
    else hi = mid;
  }
  let i = Math.max(0, lo - 1);
  if (i >= t.length) return false;
  let x = Math.max(-2, xOf(f, t[i]));
  let yy = place(v[i]);
  f.ctx.moveTo(x, base);
  f.ctx.lineTo(x, yy);
  for (i++; i < t.length && t[i] <= end; i++) {
    const nx = xOf(f, t[i]);
    const ny = place(v[i]);
    if (nx - x < 0.4 && Math.abs(ny - yy) < 0.5) continue;
    f.ctx.lineTo(nx, yy);
    f.ctx.lineTo(nx, ny);
    x = nx;
    yy = ny;
  }
  f.ctx.lineTo(f.width + 2, yy);
  f.ctx.lineTo(f.width + 2, base);
  return true;
}

function traceBuckets(f: Frame, counter: Counter, place: Place, base: number): boolean {
  const curve = counter.curve(1 / f.scale);
  if (!curve) return false;
  const first = Math.max(0, Math.floor(f.start / curve.width_ns) - 1);
  const last = Math.min(curve.max.length, Math.ceil(timeAt(f, f.width) / curve.width_ns) + 1);
  if (first >= last) return false;
  f.ctx.moveTo(xOf(f, first * curve.width_ns), base);
  for (let b = first; b < last; b++) {
    const x = xOf(f, b * curve.width_ns);
    const x1 = xOf(f, (b + 1) * curve.width_ns);
    f.ctx.lineTo(x, place(curve.max[b]));
    f.ctx.lineTo(x1, place(curve.min ? curve.min[b] : curve.max[b]));
  }
  f.ctx.lineTo(xOf(f, last * curve.width_ns), base);
  return true;
}
