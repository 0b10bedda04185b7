// spans.ts: paints one row of spans. Where spans are narrower than a pixel, a pixel is painted once,
// and runs of equal pixels in one stroke; so the cost grows with the width of the screen and not with
// the number of spans.

import { cut } from '../base/format';
import type { Level } from '../data/levels';
import { firstEndingAfter, firstStartingAt, type Rows } from '../data/rows';
import { type Frame, LETTER, timeAt, xOf } from './frame';
import { SHARES } from './palette';

const LABEL_FROM = 26;
const INSTANT_WIDTH = 2;

interface Run {
  x0: number;
  x1: number;
  color: string;
}

function flush(f: Frame, run: Run, y: number, height: number): void {
  if (run.x1 <= run.x0) return;
  if (f.ctx.fillStyle !== run.color) f.ctx.fillStyle = run.color;
  f.ctx.fillRect(run.x0, y, run.x1 - run.x0, height);
}

function extend(
  f: Frame,
  run: Run,
  x0: number,
  x1: number,
  color: string,
  y: number,
  height: number,
): void {
  if (run.color === color && x0 <= run.x1) {
    if (x1 > run.x1) run.x1 = x1;
    return;
  }
  flush(f, run, y, height);
  run.x0 = x0;
  run.x1 = x1;
  run.color = color;
}

interface Label {
  x: number;
  width: number;
  name: number;
}

function paintLabels(f: Frame, labels: Label[], y: number, height: number): void {
  if (!labels.length || height < 12) return;
  f.ctx.fillStyle = f.palette.text;
  for (const label of labels) {
    const text = cut(f.set.names.brief(label.name), Math.floor((label.width - 6) / LETTER));
    f.ctx.fillText(text, label.x + 4, y + height / 2 + 0.5, label.width - 5);
  }
}

export function paintSpans(f: Frame, rows: Rows, row: number, y: number, height: number): void {
  const { set, palette, scale } = f,
    { order } = rows,
    last = rows.at[row + 1];
  const end = timeAt(f, f.width),
    run: Run = { x0: 0, x1: 0, color: '' };
  const labels: Label[] = [];
  let p = firstEndingAfter(set, order, rows.at[row], last, f.start);
  while (p < last) {
    const i = order[p];
    if (set.start[i] >= end) break;
    const x = xOf(f, set.start[i]),
      width = set.dur[i] * scale,
      look = set.look[i];
    if (width >= 1.5) {
      const x0 = Math.max(x, -1),
        x1 = Math.min(x + width, f.width + 1);
      const gap = width > 4 ? 0.75 : width > 2.5 ? 0.5 : 0;
      flush(f, run, y, height);
      run.x0 = x0;
      run.x1 = x1 - gap;
      run.color = palette.fill[look][set.name[i] & 1];
      if (x1 - x0 > LABEL_FROM)
        labels.push({ x: Math.max(x0, 0), width: x1 - Math.max(x0, 0), name: set.name[i] });
      p++;
    } else {
      const px = Math.floor(x),
        wide = set.dur[i] ? 1 : INSTANT_WIDTH;
      extend(f, run, px, px + wide, palette.fill[look][0], y, height);
      p = firstStartingAt(set, order, p + 1, last, timeAt(f, px + 1));
    }
  }
  flush(f, run, y, height);
  paintLabels(f, labels, y, height);
}

/** The same from buckets that C made: the shade says how much of each is covered. */
export function paintLevel(f: Frame, level: Level, y: number, height: number): void {
  const run: Run = { x0: 0, x1: 0, color: '' },
    { cover } = f.palette,
    { nameLook } = f.set;
  const first = Math.max(0, Math.floor(f.start / level.width_ns));
  const last = Math.min(level.n, Math.ceil(timeAt(f, f.width) / level.width_ns));
  const width = level.width_ns * f.scale;
  for (let b = first; b < last;) {
    const busy = level.busy[b];
    if (!busy) {
      b++;
      continue;
    }
    const x = Math.floor(xOf(f, b * level.width_ns));
    const look = nameLook[level.name[b]];
    const share = Math.min(SHARES - 1, (busy * SHARES) >> 8);
    extend(f, run, x, Math.max(x + 1, Math.floor(x + width + 0.5)), cover[look][share], y, height);
    b++;
  }
  flush(f, run, y, height);
}
