// overlay.ts: what lies over the spans and changes without them: the pointer, the selection, search
// hits, a selected range, and the evidence of a story.

import { ns } from '../base/format';
import { boxOf, type Frame, seen, xOf } from './frame';
import { paintLight } from './lit';
import { arrow, outline, tag } from './marks';
import type { Scene } from './scene';
import type { Range } from './view';

export interface Pointer {
  x: number;
  y: number;
  span: number;
}

/** A graph launches thousands; arrows to the first say enough. */
const ARROWS = 40;

function paintRange(f: Frame, range: Range): void {
  const { ctx, palette } = f;
  const x0 = xOf(f, range.start);
  const x1 = xOf(f, range.end);
  ctx.fillStyle = palette.select;
  ctx.globalAlpha = 0.1;
  ctx.fillRect(x0, 0, x1 - x0, f.height);
  ctx.globalAlpha = 1;
  ctx.fillRect(Math.round(x0), 0, 1, f.height);
  ctx.fillRect(Math.round(x1), 0, 1, f.height);
  const middle = (Math.max(x0, 0) + Math.min(x1, f.width)) / 2;
  tag(f, middle, 4, ns(range.end - range.start), palette.select);
}

function paintHits(f: Frame, spans: Uint32Array): void {
  f.ctx.fillStyle = f.palette.hit;
  let lastX = -1;
  let lastY = -1;
  for (let k = 0; k < spans.length; k++) {
    const i = spans[k];
    const x = xOf(f, f.set.start[i]);
    if (x > f.width || x + f.set.dur[i] * f.scale < 0) continue;
    const b = seen(f, i);
    if (!b) continue;
    const px = Math.floor(b.x);
    if (px === lastX && b.y === lastY && b.width <= 2) continue;
    f.ctx.fillRect(b.x, b.y + b.height - 3, b.width, 3);
    f.ctx.fillRect(b.x, b.y, b.width, 1);
    lastX = px;
    lastY = b.y;
  }
}

function paintSelection(f: Frame, span: number): void {
  const own = seen(f, span);
  if (own) outline(f, own, f.palette.select, 2);
  const launch = f.set.launchOf(span);
  const works = launch >= 0 ? [span] : f.set.launchedBy(span).slice(0, ARROWS);
  for (const work of works) {
    const from = boxOf(f, launch >= 0 ? launch : span);
    const to = boxOf(f, work);
    if (from && to) arrow(f, from, to);
  }
}

function paintPointer(f: Frame, pointer: Pointer): void {
  f.ctx.fillStyle = f.palette.dim;
  f.ctx.globalAlpha = 0.5;
  f.ctx.fillRect(Math.round(pointer.x), 0, 1, f.height);
  f.ctx.globalAlpha = 1;
  const box = pointer.span >= 0 ? seen(f, pointer.span) : null;
  if (box) outline(f, box, f.palette.label, 1);
}

export function paintOverlay(f: Frame, scene: Scene, pointer: Pointer | null): void {
  const { light, hits, range, selected } = scene;
  if (light.value) paintLight(f, light.value);
  if (hits.value) paintHits(f, hits.value.spans);
  if (selected.value >= 0) paintSelection(f, selected.value);
  if (range.value) paintRange(f, range.value);
  if (pointer) paintPointer(f, pointer);
}
