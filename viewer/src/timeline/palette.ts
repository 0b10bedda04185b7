// palette.ts: the colours of the canvas, read from the style sheet so that both themes live there.

import { cssColor } from '../base/theme';
import { CLASSES } from '../data/classes';

export interface Palette {
  /** fill[class][shade]: two shades, so that neighbours of one class can be distinguished. */
  fill: string[][];
  /** How much of a bucket is covered, in SHARES steps: cover[class][step]. */
  cover: string[][];
  text: string;
  dim: string;
  line: string;
  faint: string;
  background: string;
  band: string;
  select: string;
  hit: string;
  blocked: string;
  exposed: string;
  arrow: string;
  curve: string;
  curveFill: string;
  label: string;
  veil: string;
}

export const SHARES = 6;

function rgb(hex: string): [number, number, number] {
  const n = parseInt(hex.slice(1), 16);
  return [(n >> 16) & 255, (n >> 8) & 255, n & 255];
}

function mix(a: string, b: string, share: number): string {
  const x = rgb(a);
  const y = rgb(b);
  return `rgb(${x.map((v, i) => Math.round(v * share + y[i] * (1 - share))).join()})`;
}

export function readPalette(): Palette {
  const background = cssColor('--canvas');
  const text = cssColor('--ink');
  const base = CLASSES.map(c => cssColor('--span-' + c.id));
  return {
    fill: base.map(c => [c, mix(c, background, 0.8)]),
    cover: base.map(c =>
      Array.from({ length: SHARES }, (_, i) =>
        mix(c, background, 0.25 + (0.75 * (i + 1)) / SHARES),
      ),
    ),
    text: cssColor('--span-ink'),
    label: text,
    dim: cssColor('--ink-2'),
    line: cssColor('--line'),
    faint: cssColor('--line-2'),
    background,
    band: cssColor('--band'),
    select: cssColor('--accent'),
    hit: cssColor('--hit'),
    blocked: cssColor('--blocked'),
    exposed: cssColor('--exposed'),
    arrow: cssColor('--arrow'),
    curve: cssColor('--curve'),
    curveFill: cssColor('--curve-fill'),
    veil: cssColor('--veil'),
  };
}
