// paint.ts: the picture of a timeline without what follows the pointer: tracks, then what is pinned
// over them, then the head.

import { paintHead, paintStepLines } from './bands';
import { paintCurve } from './curves';
import { bodyTop, type Frame, timeAt, yOf } from './frame';
import { paintIdle } from './idle';
import type { TrackStrip } from './layout';
import { firstEndingAfter, type Rows } from '../data/rows';
import { paintLevel, paintSpans, paintWide } from './spans';

/** Rows with more spans on screen than this are drawn from buckets. */
const CROWD = 40000;

function crowded(f: Frame, rows: Rows, row: number): boolean {
  const to = rows.at[row + 1];
  if (to - rows.at[row] < CROWD) return false;
  const from = firstEndingAfter(f.set, rows.order, rows.at[row], to, f.start);
  return firstEndingAfter(f.set, rows.order, from, to, timeAt(f, f.width)) - from > CROWD;
}

function paintRow(f: Frame, strip: TrackStrip, row: number, y: number): void {
  const { rows, track } = strip;
  const box = { y, height: strip.rowHeight - 1 };
  const own = rows === track.rows;
  const { complete } = f.set.page.detail;
  const many = crowded(f, rows, row);
  const coarse = own && (many || !complete) ? track.levels.pick(row, 1.2 / f.scale) : null;
  const level = coarse ?? (own && !complete ? track.levels.finest(row) : null);
  if (level) paintLevel(f, level, box);
  if (!coarse) paintSpans(f, rows, row, box);
  else if (!many) paintWide(f, rows, row, box);
}

function paintTrack(f: Frame, strip: TrackStrip, y: number): void {
  const shown = strip.folded ? Math.min(strip.rows.n, 1) : strip.rows.n;
  const top = strip.pinned ? f.head : bodyTop(f);
  const { kind, device } = strip.track.info;
  if (kind === 'stream') {
    const box = { y, height: Math.max(1, shown) * strip.rowHeight - 1 };
    paintIdle(f, device ?? 0, box, shown === 1);
  }
  for (let row = 0; row < shown; row++) {
    const at = y + row * strip.rowHeight;
    if (at + strip.rowHeight >= top && at <= f.height) paintRow(f, strip, row, at);
  }
}

function paintStrips(f: Frame, pinned: boolean): void {
  for (const strip of f.layout.strips) {
    const y = yOf(f, strip);
    if (strip.pinned !== pinned || y > f.height || y + strip.height < f.head) continue;
    if (strip.kind === 'counter') paintCurve(f, strip, y);
    else paintTrack(f, strip, y);
  }
}

export function paintAll(f: Frame): void {
  const { ctx, palette } = f;
  ctx.fillStyle = palette.background;
  ctx.fillRect(0, 0, f.width, f.height);
  paintStepLines(f);
  paintStrips(f, false);
  if (f.layout.pinned) {
    ctx.fillStyle = palette.background;
    ctx.fillRect(0, f.head, f.width, f.layout.pinned);
    paintStrips(f, true);
    ctx.fillStyle = palette.line;
    ctx.fillRect(0, bodyTop(f) - 1, f.width, 1);
  }
  paintHead(f);
}
