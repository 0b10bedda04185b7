// lit.ts: the evidence of a story: everything else is dimmed, its spans are outlined and named, the
// stretches it speaks of are shaded, and arrows lead from launches to their work.

import { ns } from '../base/format';
import { type Box, boxOf, type Frame, seen, xOf } from './frame';
import { arrow, outline, tag } from './marks';
import type { Light } from './scene';
import type { Range } from './view';

function boxes(f: Frame, spans: number[]): Box[] {
  return spans.map(span => seen(f, span)).filter((b): b is Box => b !== null);
}

/** Dims all but some boxes: they are cut out of the veil. */
function veil(f: Frame, clear: Box[]): void {
  const { ctx } = f;
  ctx.fillStyle = f.palette.veil;
  ctx.beginPath();
  ctx.rect(0, f.head, f.width, f.height - f.head);
  for (const b of clear) ctx.rect(b.x + b.width, b.y, -b.width, b.height);
  ctx.fill('nonzero');
}

function paintMark(f: Frame, mark: NonNullable<Light['mark']>): void {
  const { ctx, palette } = f;
  const color = mark.kind === 'exposed' ? palette.exposed : palette.blocked;
  let longest: Range | null = null;
  ctx.fillStyle = color;
  for (const range of mark.ranges) {
    const x0 = Math.max(xOf(f, range.start), -3);
    const x1 = Math.min(xOf(f, range.end), f.width + 3);
    if (x1 < 0 || x0 > f.width) continue;
    ctx.globalAlpha = 0.14;
    ctx.fillRect(x0, f.head, Math.max(1, x1 - x0), f.height - f.head);
    ctx.globalAlpha = 1;
    ctx.fillRect(x0, f.head, Math.max(1, x1 - x0), 3);
    if (!longest || range.end - range.start > longest.end - longest.start) longest = range;
  }
  if (!longest) return;
  const middle = (Math.max(xOf(f, longest.start), 0) + Math.min(xOf(f, longest.end), f.width)) / 2;
  const what = mark.kind === 'exposed' ? 'GPU idle' : 'CPU blocked';
  const which = mark.ranges.length > 1 ? `, the longest of ${mark.ranges.length}` : '';
  tag(f, middle, f.head + 6, `${what} ${ns(longest.end - longest.start)}${which}`, color);
}

export function paintLight(f: Frame, light: Light): void {
  const frames = boxes(f, light.frames);
  const spans = boxes(f, light.spans);
  if (light.spans.length + light.frames.length) veil(f, [...spans, ...frames]);
  if (light.mark) paintMark(f, light.mark);
  for (const b of frames) outline(f, b, f.palette.dim, 1);
  for (const b of spans) outline(f, b, f.palette.arrow, 2);
  for (const { from, to } of light.arrows) {
    const a = boxOf(f, from);
    const b = boxOf(f, to);
    if (a && b) arrow(f, a, b);
  }
}
