// bands.ts: the head of the timeline: the ruler, the steps of the loop, and the stages inside them.

import { cut, moment } from '../base/format';
import type { DataSet } from '../data/dataset';
import { type Frame, timeAt, xOf } from './frame';

export const RULER = 22;
const BAND = 17;
const STAGE_ROWS = 3;

export function headHeight(set: DataSet): number {
  return RULER + (set.page.steps.length ? BAND : 0) + stageRows(set) * BAND + 2;
}

function stageRows(set: DataSet): number {
  let deepest = 0;
  for (const s of set.page.stages) deepest = Math.max(deepest, s.depth + 1);
  return set.calls.stage.length ? Math.min(deepest, STAGE_ROWS) : 0;
}

/** 1, 2 or 5 times a power of ten, so that ticks are about a hundred pixels apart. */
export function tickStep(scale: number): number {
  const raw = 110 / scale;
  const power = 10 ** Math.floor(Math.log10(raw));
  const m = raw / power;
  return power * (m <= 1 ? 1 : m <= 2 ? 2 : m <= 5 ? 5 : 10);
}

function paintRuler(f: Frame): void {
  const { ctx, palette } = f;
  const step = tickStep(f.scale);
  ctx.fillStyle = palette.dim;
  for (let k = Math.ceil(f.start / step); k * step < timeAt(f, f.width); k++) {
    const x = Math.round(xOf(f, k * step));
    ctx.fillRect(x, RULER - 5, 1, 5);
    ctx.fillText(tickText(k * step, step), x + 4, RULER / 2);
  }
}

function tickText(t: number, step: number): string {
  if (step >= 1e8) return moment(t, 5e9);
  if (step >= 1e6) return (t / 1e6).toFixed(0) + '\u202fms';
  const digits = Math.min(6, Math.max(0, 6 - Math.floor(Math.log10(step))));
  return (t / 1e6).toFixed(digits) + '\u202fms';
}

function box(f: Frame, t0: number, t1: number, y: number, fill: string, text: string): void {
  const x0 = Math.max(xOf(f, t0), -2);
  const x1 = Math.min(xOf(f, t1), f.width + 2);
  if (x1 < 0 || x0 > f.width || x1 - x0 < 0.3) return;
  f.ctx.fillStyle = fill;
  f.ctx.fillRect(x0, y, Math.max(1, x1 - x0 - 1), BAND - 2);
  const left = Math.max(x0, 0);
  const room = x1 - left - 10;
  if (room < 18) return;
  f.ctx.fillStyle = f.palette.label;
  f.ctx.fillText(cut(text, Math.floor(room / f.letter)), left + 5, y + BAND / 2 - 0.5, room + 2);
}

function paintSteps(f: Frame, y: number): void {
  f.set.page.steps.forEach((s, i) => {
    box(f, s.t0_ns, s.t1_ns, y, i % 2 ? f.palette.band : f.palette.faint, `step ${s.index}`);
  });
}

function paintStages(f: Frame, y: number): void {
  const { calls, page } = f.set;
  const end = timeAt(f, f.width);
  for (let k = 0; k < calls.stage.length; k++) {
    if (calls.start[k] > end || calls.start[k] + calls.dur[k] < f.start) continue;
    const stage = page.stages[calls.stage[k]];
    if (!stage || stage.depth >= STAGE_ROWS) continue;
    box(
      f,
      calls.start[k],
      calls.start[k] + calls.dur[k],
      y + stage.depth * BAND,
      f.palette.stage,
      stage.name,
    );
  }
}

/** Paints the head, opaque over what has scrolled under it. */
export function paintHead(f: Frame): void {
  const height = f.head;
  const { ctx, palette } = f;
  ctx.fillStyle = palette.background;
  ctx.fillRect(0, 0, f.width, height);
  paintRuler(f);
  let y = RULER;
  if (f.set.page.steps.length) {
    paintSteps(f, y);
    y += BAND;
  }
  paintStages(f, y);
  ctx.fillStyle = palette.line;
  ctx.fillRect(0, height - 1, f.width, 1);
}

/** Lines nearer to each other than this many pixels would be a grey area. */
const LINES_APART = 6;

/** Thin lines where steps begin, behind everything else. */
export function paintStepLines(f: Frame): void {
  f.ctx.fillStyle = f.palette.faint;
  let last = -Infinity;
  for (const s of f.set.page.steps) {
    const x = Math.round(xOf(f, s.t0_ns));
    if (x < 0 || x > f.width) continue;
    if (x - last >= LINES_APART) f.ctx.fillRect(x, 0, 1, f.height);
    last = x;
  }
}
