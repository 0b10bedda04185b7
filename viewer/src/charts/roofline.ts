// roofline.ts: kernels under the roof of their GPU: FLOP per byte moved on one axis, FLOP/s on the
// other. The roof is memory bandwidth on the slope and arithmetic on the flat.

import { h } from '../base/dom';
import { pct, us } from '../base/format';
import { explain } from '../base/glossary';
import type { Row } from '../data/head';
import { kernelVerdict } from './kernel_verdict';
import { type Dot, type Line, plot } from './plot';

interface Point {
  name: string;
  ai_flop_per_byte: number | null;
  gflops: number | null;
  time_us: number | null;
  share_pct: number | null;
  verdict: string | null;
  precision: string | null;
}

export interface Dive extends Row {
  kernels: Row[];
  trouble?: string | null;
  remedy?: string | null;
  roofline: {
    gpu: string | null;
    memory_gb_per_s: number | null;
    compute: { precision: string; tflop_per_s: number }[];
    points: Point[];
  };
}

const flops = (gflops: number): string =>
  gflops >= 1000 ? `${gflops / 1000} TFLOP/s` : `${gflops} GFLOP/s`;

/** The roof of one precision: up the slope of the memory, then flat. */
function roof(memory: number, peak: number, from: number, to: number): [number, number][] {
  const ridge = Math.min(Math.max(peak / memory, from), to);
  return [
    [from, Math.min(peak, from * memory)],
    [ridge, Math.min(peak, ridge * memory)],
    [to, Math.min(peak, to * memory)],
  ];
}

function words(p: Point): string {
  const parts = [
    p.name.slice(0, 120),
    `${p.ai_flop_per_byte} FLOP per byte`,
    flops(Math.round(p.gflops!)),
    p.time_us ? us(p.time_us) : '',
    p.share_pct ? pct(p.share_pct) + ' of the time' : '',
  ];
  return parts.filter(Boolean).join(' · ');
}

function dotOf(p: Point, number: number): Dot {
  const hue =
    p.verdict === 'memory' ? 1 : p.verdict === 'compute' || p.verdict === 'tensor' ? 0 : 3;
  const radius = 4 + Math.sqrt(Math.max(0, p.share_pct ?? 0));
  return {
    x: p.ai_flop_per_byte!,
    y: p.gflops!,
    hue,
    radius,
    tip: `${number}: ${words(p)}`,
    label: String(number),
  };
}

/** Roofs of the precisions that the kernels use, or of all if none is known. */
function roofs({ roofline }: Dive, from: number, to: number): Line[] {
  const used = new Set(roofline.points.map(p => p.precision));
  const some = roofline.compute.filter(c => used.has(c.precision));
  const memory = roofline.memory_gb_per_s;
  if (!memory) return [];
  return (some.length ? some : roofline.compute).map((c, i) => ({
    name: `${c.precision}, ${c.tflop_per_s} TFLOP/s`,
    hue: [4, 5, 2, 7, 6][i % 5],
    points: roof(memory, c.tflop_per_s * 1000, from, to),
    dashed: i > 0,
  }));
}

function chart(d: Dive): HTMLElement {
  const { roofline } = d;
  const dots = roofline.points
    .map((p, i): [Point, number] => [p, i + 1])
    .filter(([p]) => p.ai_flop_per_byte && p.gflops);
  const intensities = dots.map(([p]) => p.ai_flop_per_byte!);
  const speeds = dots.map(([p]) => p.gflops!);
  const from = Math.min(0.2, ...intensities) / 2;
  const to = Math.max(500, ...intensities) * 2;
  const lines = roofs(d, from, to);
  const top = Math.max(1, ...speeds, ...lines.map(l => l.points[2][1])) * 2;
  const least = Math.min(top / 1e4, ...speeds.map(v => v / 2));
  const memory = roofline.memory_gb_per_s;
  return plot({
    title: 'Roofline',
    note: [roofline.gpu, memory ? `memory ${memory} GB/s` : ''].filter(Boolean).join(', '),
    x: { label: 'arithmetic per byte moved (FLOP per byte)', from, to, log: true, text: String },
    y: { label: 'arithmetic per second', from: least, to: top, log: true, text: flops },
    lines,
    dots: dots.map(([p, number]) => dotOf(p, number)),
  });
}

export function rooflineCharts(d: Dive): HTMLElement {
  const trouble = [d.trouble, d.remedy].filter(Boolean).join('. ');
  return h(
    'div',
    { class: 'plots' },
    trouble ? h('p', { class: 'dim' }, ...explain(trouble)) : null,
    chart(d),
    h('ol', { class: 'verdicts' }, ...d.kernels.map(kernelVerdict)),
  );
}
