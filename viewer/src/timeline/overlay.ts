// overlay.ts: what lies over the spans and changes without them: the pointer, the selection, search
// hits, a selected range, and the evidence of a story with its arrows.

import { ns } from '../base/format';
import { headHeight } from './bands';
import { type Frame, xOf } from './frame';
import { type Layout, placeOf } from './layout';
import type { Light, Scene } from './scene';
import type { Range } from './view';

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Pointer {
  x: number;
  y: number;
  span: number;
}

function boxOf(f: Frame, layout: Layout, scroll: number, span: number): Box | null {
  const place = placeOf(layout, f.set, span);
  if (!place) return null;
  const x0 = Math.max(xOf(f, f.set.start[span]), -4);
  const x1 = Math.min(xOf(f, f.set.end(span)), f.width + 4);
  return {
    x: x0,
    y: place.y - scroll + headHeight(f),
    width: Math.max(x1 - x0, 2),
    height: place.height - 1,
  };
}

const visible = (f: Frame, b: Box): boolean =>
  b.x < f.width && b.x + b.width > 0 && b.y < f.height && b.y + b.height > headHeight(f);

function outline(f: Frame, b: Box, color: string, width: number): void {
  f.ctx.strokeStyle = color;
  f.ctx.lineWidth = width;
  f.ctx.strokeRect(b.x - width / 2, b.y - width / 2, b.width + width, b.height + width);
}

function paintRange(f: Frame, range: Range): void {
  const x0 = xOf(f, range.start),
    x1 = xOf(f, range.end),
    { ctx, palette } = f;
  ctx.fillStyle = palette.select;
  ctx.globalAlpha = 0.1;
  ctx.fillRect(x0, 0, x1 - x0, f.height);
  ctx.globalAlpha = 1;
  ctx.fillRect(Math.round(x0), 0, 1, f.height);
  ctx.fillRect(Math.round(x1), 0, 1, f.height);
  tag(
    f,
    (Math.max(x0, 0) + Math.min(x1, f.width)) / 2,
    4,
    ns(range.end - range.start),
    palette.select,
  );
}

/** A small label on a coloured ground, centred on x. */
function tag(f: Frame, x: number, y: number, text: string, color: string): void {
  const { ctx } = f,
    width = ctx.measureText(text).width + 12;
  const left = Math.min(Math.max(x - width / 2, 2), f.width - width - 2);
  ctx.fillStyle = color;
  ctx.beginPath();
  ctx.roundRect(left, y, width, 16, 4);
  ctx.fill();
  ctx.fillStyle = f.palette.background;
  ctx.fillText(text, left + 6, y + 8.5);
}

function paintMark(f: Frame, mark: NonNullable<Light['mark']>): void {
  const x0 = xOf(f, mark.range.start),
    x1 = xOf(f, mark.range.end),
    { ctx, palette } = f;
  const color = mark.kind === 'exposed' ? palette.exposed : palette.blocked,
    top = headHeight(f);
  ctx.fillStyle = color;
  ctx.globalAlpha = 0.13;
  ctx.fillRect(x0, top, x1 - x0, f.height - top);
  ctx.globalAlpha = 1;
  ctx.fillRect(x0, top, 1.5, f.height - top);
  ctx.fillRect(x1 - 1.5, top, 1.5, f.height - top);
  const words = `${mark.kind} ${ns(mark.range.end - mark.range.start)}`;
  tag(f, (Math.max(x0, 0) + Math.min(x1, f.width)) / 2, top + 3, words, color);
}

function paintArrow(f: Frame, from: Box, to: Box): void {
  const { ctx, palette } = f;
  const down = to.y > from.y;
  const x0 = from.x + Math.min(from.width, 10) / 2,
    y0 = down ? from.y + from.height : from.y;
  const x1 = to.x,
    y1 = down ? to.y : to.y + to.height;
  const bend = Math.max(24, Math.abs(y1 - y0) * 0.4) * (down ? 1 : -1);
  ctx.strokeStyle = ctx.fillStyle = palette.arrow;
  ctx.lineWidth = 1.75;
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.bezierCurveTo(x0, y0 + bend, x1, y1 - bend, x1, y1);
  ctx.stroke();
  ctx.beginPath();
  ctx.moveTo(x1, y1);
  ctx.lineTo(x1 - 4, y1 - Math.sign(bend) * 8);
  ctx.lineTo(x1 + 4, y1 - Math.sign(bend) * 8);
  ctx.fill();
}

/** Boxes of spans, cut out of the veil that dims the rest, then outlined. */
function paintLit(f: Frame, layout: Layout, scroll: number, light: Light): void {
  const { ctx, palette } = f,
    top = headHeight(f);
  const frames = light.frames.map(i => boxOf(f, layout, scroll, i));
  const boxes = light.spans.map(i => boxOf(f, layout, scroll, i));
  ctx.fillStyle = palette.veil;
  ctx.beginPath();
  ctx.rect(0, top, f.width, f.height - top);
  for (const b of [...boxes, ...frames])
    if (b && visible(f, b)) ctx.rect(b.x + b.width, b.y, -b.width, b.height);
  ctx.fill('nonzero');
  for (const b of frames) if (b && visible(f, b)) outline(f, b, palette.dim, 1);
  for (const b of boxes) if (b && visible(f, b)) outline(f, b, palette.arrow, 2);
}

function paintHits(f: Frame, layout: Layout, scroll: number, spans: Uint32Array): void {
  f.ctx.fillStyle = f.palette.hit;
  let lastX = -1,
    lastY = -1;
  for (let k = 0; k < spans.length; k++) {
    const i = spans[k],
      x = (f.set.start[i] - f.start) * f.scale;
    if (x > f.width || x + f.set.dur[i] * f.scale < 0) continue;
    const b = boxOf(f, layout, scroll, i);
    if (!b || !visible(f, b)) continue;
    const px = Math.floor(b.x);
    if (px === lastX && b.y === lastY && b.width <= 2) continue;
    f.ctx.fillRect(b.x, b.y + b.height - 3, b.width, 3);
    f.ctx.fillRect(b.x, b.y, b.width, 1);
    lastX = px;
    lastY = b.y;
  }
}

function paintSelection(f: Frame, layout: Layout, scroll: number, span: number): void {
  const b = boxOf(f, layout, scroll, span);
  if (b && visible(f, b)) outline(f, b, f.palette.select, 2);
  const launch = f.set.launchOf(span);
  const pairs =
    launch >= 0
      ? [[launch, span]]
      : f.set
          .launchedBy(span)
          .slice(0, 40)
          .map(k => [span, k]);
  for (const [from, to] of pairs) {
    const a = boxOf(f, layout, scroll, from),
      c = boxOf(f, layout, scroll, to);
    if (a && c && (visible(f, a) || visible(f, c))) paintArrow(f, a, c);
  }
}

export function paintOverlay(
  f: Frame,
  layout: Layout,
  scroll: number,
  scene: Scene,
  pointer: Pointer | null,
): void {
  const light = scene.light.value,
    hits = scene.hits.value,
    range = scene.range.value;
  if (light) paintLit(f, layout, scroll, light);
  if (light?.mark) paintMark(f, light.mark);
  for (const arrow of light?.arrows ?? []) {
    const from = boxOf(f, layout, scroll, arrow.from),
      to = boxOf(f, layout, scroll, arrow.to);
    if (from && to) paintArrow(f, from, to);
  }
  if (hits) paintHits(f, layout, scroll, hits.spans);
  if (scene.selected.value >= 0) paintSelection(f, layout, scroll, scene.selected.value);
  if (range) paintRange(f, range);
  if (!pointer) return;
  f.ctx.fillStyle = f.palette.dim;
  f.ctx.globalAlpha = 0.5;
  f.ctx.fillRect(Math.round(pointer.x), 0, 1, f.height);
  f.ctx.globalAlpha = 1;
  const b = pointer.span >= 0 ? boxOf(f, layout, scroll, pointer.span) : null;
  if (b && visible(f, b)) outline(f, b, f.palette.label, 1);
}
