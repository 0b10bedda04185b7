// marks.ts: the few shapes that lie over spans: an outline, a label, an arrow from launch to work.

import type { Box, Frame } from './frame';

export function outline(f: Frame, b: Box, color: string, width: number): void {
  f.ctx.strokeStyle = color;
  f.ctx.lineWidth = width;
  f.ctx.strokeRect(b.x - width / 2, b.y - width / 2, b.width + width, b.height + width);
}

/** A small label on a coloured ground, centred on x. */
export function tag(f: Frame, x: number, y: number, text: string, color: string): void {
  const { ctx } = f;
  const width = ctx.measureText(text).width + 12;
  const left = Math.min(Math.max(x - width / 2, 2), f.width - width - 2);
  ctx.fillStyle = color;
  ctx.beginPath();
  ctx.roundRect(left, y, width, 16, 4);
  ctx.fill();
  ctx.fillStyle = f.palette.background;
  ctx.fillText(text, left + 6, y + 8.5);
}

export function arrow(f: Frame, from: Box, to: Box): void {
  const { ctx } = f;
  const down = to.y > from.y;
  const x0 = from.x + Math.min(from.width, 10) / 2;
  const y0 = down ? from.y + from.height : from.y;
  const x1 = to.x;
  const y1 = down ? to.y : to.y + to.height;
  const bend = Math.max(24, Math.abs(y1 - y0) * 0.4) * (down ? 1 : -1);
  const barb = Math.sign(bend) * 8;
  ctx.strokeStyle = ctx.fillStyle = f.palette.arrow;
  ctx.lineWidth = 1.75;
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.bezierCurveTo(x0, y0 + bend, x1, y1 - bend, x1, y1);
  ctx.stroke();
  ctx.beginPath();
  ctx.moveTo(x1, y1);
  ctx.lineTo(x1 - 4, y1 - barb);
  ctx.lineTo(x1 + 4, y1 - barb);
  ctx.fill();
}
