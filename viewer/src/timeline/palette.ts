// palette.ts: the colours of the canvas, read from the style sheet so that both themes live there.

import { cssColor } from '../base/theme';
import { CLASSES } from '../data/classes';

/** The colours of spans at some zoom. */
export interface Tone {
  /** fill[class][shade]: two shades, so that neighbours of one class can be distinguished. */
  fill: string[][];
  /** How much of a bucket is covered, in SHARES steps: cover[class][step]. */
  cover: string[][];
}

export interface Palette {
  /** From few hues, seen from afar, to a colour per kernel family. */
  tones: Tone[];
  /** Hatching: the device is idle. */
  idle: CanvasPattern | string;
  idleText: string;
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
  /** A stage under the ruler. */
  stage: string;
  busy: string;
}

export const SHARES = 6;
const TONES = 5;
/** Width of a mean kernel, in pixels, where families begin to get colours, and where they have them. */
const FAMILIES_FROM = 14;
const FAMILIES_FULL = 34;

function rgb(hex: string): [number, number, number] {
  const n = parseInt(hex.slice(1), 16);
  return [(n >> 16) & 255, (n >> 8) & 255, n & 255];
}

const mixed = (a: string, b: string, share: number): number[] => {
  const y = rgb(b);
  return rgb(a).map((v, i) => Math.round(v * share + y[i] * (1 - share)));
};

const hex = (a: string, b: string, share: number): string =>
  '#' + mixed(a, b, share).map(v => v.toString(16).padStart(2, '0')).join('');

function mix(a: string, b: string, share: number): string {
  return `rgb(${mixed(a, b, share).join()})`;
}

function toneOf(base: string[], background: string): Tone {
  return {
    fill: base.map(c => [c, mix(c, background, 0.82)]),
    cover: base.map(c =>
      Array.from({ length: SHARES }, (_, i) =>
        mix(c, background, 0.25 + (0.75 * (i + 1)) / SHARES),
      ),
    ),
  };
}

function readTones(background: string): Tone[] {
  const own = CLASSES.map(c => cssColor('--span-' + c.id));
  const far = CLASSES.map((c, i) => (c.group === 'compute' ? cssColor('--span-kernel') : own[i]));
  return Array.from({ length: TONES }, (_, k) =>
    toneOf(
      own.map((c, i) => hex(c, far[i], k / (TONES - 1))),
      background,
    ),
  );
}

/** Which tone fits: kernels of this mean length, at so many pixels per nanosecond. */
export function toneAt(meanNs: number, scale: number): number {
  const share = (meanNs * scale - FAMILIES_FROM) / (FAMILIES_FULL - FAMILIES_FROM);
  return Math.round(Math.min(Math.max(share, 0), 1) * (TONES - 1));
}

export const NEAREST = TONES - 1;

/** Thin diagonal lines. */
function hatching(background: string, line: string): CanvasPattern | string {
  const size = 6;
  const tile = document.createElement('canvas');
  tile.width = tile.height = size;
  const ctx = tile.getContext('2d')!;
  ctx.fillStyle = background;
  ctx.fillRect(0, 0, size, size);
  ctx.strokeStyle = line;
  ctx.lineWidth = 1.1;
  ctx.beginPath();
  for (const by of [-size, 0, size]) {
    ctx.moveTo(by - 1, size + 1);
    ctx.lineTo(by + size + 1, -1);
  }
  ctx.stroke();
  return ctx.createPattern(tile, 'repeat') ?? line;
}

export function readPalette(): Palette {
  const background = cssColor('--canvas');
  const text = cssColor('--ink');
  return {
    tones: readTones(background),
    idle: hatching(cssColor('--idle'), cssColor('--idle-line')),
    idleText: cssColor('--ink-2'),
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
    stage: cssColor('--stage'),
    busy: cssColor('--busy'),
  };
}
