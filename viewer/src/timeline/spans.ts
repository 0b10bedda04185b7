// spans.ts: paints one row of spans. Where spans are narrower than a pixel, a pixel is painted
// once, and runs of equal pixels in one stroke; so the cost grows with the width of the screen and
// not with the number of spans.

import { cut } from '../base/format';
import type { Level } from '../data/levels';
import { firstEndingAfter, type Rows } from '../data/rows';
import { type Frame, timeAt, xOf } from './frame';
import { SHARES } from './palette';

const LABEL_FROM = 26;
const INSTANT_WIDTH = 2;
/** Spans thinner than this share their pixel with others. */
const NARROW = 1.5;

interface Run {
  x0: number;
  x1: number;
  color: string;
}

/** Where a row lies on the canvas. */
export interface RowBox {
  y: number;
  height: number;
}

function flush(f: Frame, run: Run, box: RowBox): void {
  if (run.x1 <= run.x0) return;
  f.ctx.fillStyle = run.color;
  f.ctx.fillRect(run.x0, box.y, run.x1 - run.x0, box.height);
}

function extend(f: Frame, run: Run, x0: number, x1: number, color: string, box: RowBox): void {
  if (run.color === color && x0 <= run.x1) {
    if (x1 > run.x1) run.x1 = x1;
    return;
  }
  flush(f, run, box);
  run.x0 = x0;
  run.x1 = x1;
  run.color = color;
}

interface Label {
  x: number;
  width: number;
  name: number;
}

function paintLabels(f: Frame, labels: Label[], { y, height }: RowBox): void {
  if (!labels.length || height < 12) return;
  f.ctx.fillStyle = f.palette.text;
  for (const label of labels) {
    const text = cut(f.set.names.brief(label.name), Math.floor((label.width - 6) / f.letter));
    f.ctx.fillText(text, label.x + 4, y + height / 2 + 0.5, label.width - 5);
  }
}

/** One pixel of spans narrower than it: the longest gives the colour, the covered share the
 * shade. */
function paintCrowd(
  f: Frame,
  rows: Rows,
  from: number,
  last: number,
  run: Run,
  box: RowBox,
): number {
  const { set, scale, tone } = f;
  const px = Math.floor(xOf(f, set.start[rows.order[from]]));
  const next = timeAt(f, px + 1);
  let longest = rows.order[from];
  let covered = 0;
  let p = from;
  for (; p < last; p++) {
    const i = rows.order[p];
    if (set.start[i] >= next || set.dur[i] * scale >= NARROW) break;
    covered += set.dur[i];
    if (set.dur[i] > set.dur[longest]) longest = i;
  }
  const share = Math.min(SHARES - 1, Math.floor(covered * scale * SHARES));
  const width = set.dur[longest] ? 1 : INSTANT_WIDTH;
  extend(f, run, px, px + width, tone.cover[set.look[longest]][share], box);
  return p;
}

/** A span wide enough to be distinguished from its neighbours, with its name if there is room. */
function paintOne(f: Frame, i: number, run: Run, labels: Label[], box: RowBox): void {
  const { set } = f;
  const x = xOf(f, set.start[i]);
  const width = set.dur[i] * f.scale;
  const x0 = Math.max(x, -1);
  const x1 = Math.min(x + width, f.width + 1);
  flush(f, run, box);
  run.x0 = x0;
  run.x1 = x1 - (width > 4 ? 0.75 : width > 2.5 ? 0.5 : 0);
  run.color = f.tone.fill[set.look[i]][set.name[i] & 1];
  const left = Math.max(x0, 0);
  if (x1 - left > LABEL_FROM) labels.push({ x: left, width: x1 - left, name: set.name[i] });
}

export function paintSpans(f: Frame, rows: Rows, row: number, box: RowBox): void {
  const { set, scale } = f;
  const { order } = rows;
  const last = rows.at[row + 1];
  const end = timeAt(f, f.width);
  const run: Run = { x0: 0, x1: 0, color: '' };
  const labels: Label[] = [];
  let p = firstEndingAfter(set, order, rows.at[row], last, f.start);
  while (p < last && set.start[order[p]] < end) {
    if (set.dur[order[p]] * scale < NARROW) p = paintCrowd(f, rows, p, last, run, box);
    else paintOne(f, order[p++], run, labels, box);
  }
  flush(f, run, box);
  paintLabels(f, labels, box);
}

/** Only the spans that have room for a name: over a row drawn from buckets. */
export function paintWide(f: Frame, rows: Rows, row: number, box: RowBox): void {
  const { set, scale } = f;
  const last = rows.at[row + 1];
  const end = timeAt(f, f.width);
  const run: Run = { x0: 0, x1: 0, color: '' };
  const labels: Label[] = [];
  let p = firstEndingAfter(set, rows.order, rows.at[row], last, f.start);
  for (; p < last && set.start[rows.order[p]] < end; p++)
    if (set.dur[rows.order[p]] * scale >= LABEL_FROM) paintOne(f, rows.order[p], run, labels, box);
  flush(f, run, box);
  paintLabels(f, labels, box);
}

/** The same from buckets that C made: the shade says how much of each is covered. */
export function paintLevel(f: Frame, level: Level, box: RowBox): void {
  const run: Run = { x0: 0, x1: 0, color: '' };
  const { cover } = f.tone;
  const first = Math.max(0, Math.floor(f.start / level.width_ns));
  const last = Math.min(level.n, Math.ceil(timeAt(f, f.width) / level.width_ns));
  const width = level.width_ns * f.scale;
  for (let b = first; b < last; b++) {
    const busy = level.busy[b];
    if (!busy) continue;
    const x = Math.floor(xOf(f, b * level.width_ns));
    const share = Math.min(SHARES - 1, (busy * SHARES) >> 8);
    const right = Math.max(x + 1, Math.floor(x + width + 0.5));
    extend(f, run, x, right, cover[f.set.nameLook[level.name[b]]][share], box);
  }
  flush(f, run, box);
}
