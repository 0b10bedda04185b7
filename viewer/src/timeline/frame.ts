// frame.ts: one picture being painted: a canvas context with the mapping from time to pixels.

import type { DataSet } from '../data/dataset';
import type { Palette } from './palette';

export interface Frame {
  ctx: CanvasRenderingContext2D;
  set: DataSet;
  palette: Palette;
  /** Pixels. */
  width: number;
  height: number;
  /** Moment at the left edge, and pixels a nanosecond. */
  start: number;
  scale: number;
}

export const xOf = (f: Frame, t: number): number => (t - f.start) * f.scale;
export const timeAt = (f: Frame, x: number): number => f.start + x / f.scale;

export const FONT = '11px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';
/** Mean width of a letter of FONT: cutting by it is many times cheaper than measuring. */
export const LETTER = 5.8;
