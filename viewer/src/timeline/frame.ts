// frame.ts: one picture being painted: a canvas context with the mapping from time and tracks to
// pixels.

import type { DataSet } from '../data/dataset';
import type { Idle } from './idle';
import { type Layout, placeOf, type Strip } from './layout';
import type { Palette, Tone } from './palette';

export interface Frame {
  ctx: CanvasRenderingContext2D;
  set: DataSet;
  palette: Palette;
  /** Colours of spans at this zoom. */
  tone: Tone;
  layout: Layout;
  idle: Idle;
  /** Pixels. */
  width: number;
  height: number;
  /** Height of ruler and bands. */
  head: number;
  scroll: number;
  /** Moment at the left edge, and pixels per nanosecond. */
  start: number;
  scale: number;
  /** Mean width of a letter: cutting by it is many times cheaper than measuring. */
  letter: number;
}

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export const FONT = '11px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';

export const xOf = (f: Frame, t: number): number => (t - f.start) * f.scale;
export const timeAt = (f: Frame, x: number): number => f.start + x / f.scale;

/** Where the scrolling part begins. */
export const bodyTop = (f: Frame): number => f.head + f.layout.pinned;

export function yOf(f: Frame, strip: Strip): number {
  return strip.pinned ? f.head + strip.y : bodyTop(f) + strip.y - f.scroll;
}

/** The box of a span, cut to the sides of the screen; null when its track does not show it. */
export function boxOf(f: Frame, span: number): Box | null {
  const place = placeOf(f.layout, f.set, span);
  if (!place) return null;
  const [strip, row] = place;
  const x = Math.min(Math.max(xOf(f, f.set.start[span]), -4), f.width + 2);
  const width = Math.max(Math.min(xOf(f, f.set.end(span)), f.width + 4) - x, 2);
  return { x, y: yOf(f, strip) + row * strip.rowHeight, width, height: strip.rowHeight - 1 };
}

/** The same, and null as well when it is off screen. */
export function seen(f: Frame, span: number): Box | null {
  if (f.set.end(span) < f.start || f.set.start[span] > timeAt(f, f.width)) return null;
  const box = boxOf(f, span);
  if (!box) return null;
  const pinned = placeOf(f.layout, f.set, span)![0].pinned;
  const top = pinned ? f.head : bodyTop(f);
  return box.y < f.height && box.y + box.height > top ? box : null;
}

/** The strip at a height on screen. */
export function stripAt(f: Frame, y: number): Strip | null {
  const inPinned = y < bodyTop(f);
  if (y < f.head) return null;
  const hit = (s: Strip): boolean => y >= yOf(f, s) && y < yOf(f, s) + s.height;
  return f.layout.strips.find(s => s.pinned === inPinned && hit(s)) ?? null;
}
