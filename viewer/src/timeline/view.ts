// view.ts: the time range on screen. Moves at once when dragged, and glides when it jumps, so that
// the eye can follow; readers who ask for reduced motion get no glide.

import { Signal } from '../base/signal';

export interface Range {
  start: number;
  end: number;
}

const SHORTEST_NS = 50;
const GLIDE_MS = 240;
const still = matchMedia('(prefers-reduced-motion: reduce)');

export class View {
  readonly changed: Signal<Range>;
  private frame = 0;
  private goal: Range;
  /** What "all" means; the view may go beyond it, up to the bounds. */
  home: Range;

  constructor(readonly bounds: Range) {
    this.goal = { ...bounds };
    this.home = { ...bounds };
    this.changed = new Signal<Range>({ ...bounds });
  }

  get start(): number {
    return this.changed.value.start;
  }
  get end(): number {
    return this.changed.value.end;
  }
  get span(): number {
    return this.end - this.start;
  }

  private fit(range: Range): Range {
    const whole = this.bounds.end - this.bounds.start;
    const span = Math.min(Math.max(range.end - range.start, SHORTEST_NS), whole);
    const middle = (range.start + range.end) / 2;
    const start = Math.min(Math.max(middle - span / 2, this.bounds.start), this.bounds.end - span);
    return { start, end: start + span };
  }

  /** Shows exactly this, now. */
  set(range: Range): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.goal = this.fit(range);
    this.changed.set(this.goal);
  }

  /** Shows this after a short glide. */
  glide(range: Range): void {
    const from = this.changed.value;
    const to = this.fit(range);
    if (still.matches) return this.set(to);
    cancelAnimationFrame(this.frame);
    this.goal = to;
    const begun = performance.now();
    const step = (now: number): void => {
      const u = Math.min(1, Math.max(0, (now - begun) / GLIDE_MS));
      const ease = 1 - (1 - u) ** 3;
      this.frame = u < 1 ? requestAnimationFrame(step) : 0;
      this.changed.set(u < 1 ? between(from, to, ease) : to);
    };
    this.frame = requestAnimationFrame(step);
  }

  /** Where the current glide will end, else what is shown. */
  get target(): Range {
    return this.goal;
  }

  pan(byNs: number): void {
    this.set({ start: this.start + byNs, end: this.end + byNs });
  }

  /** Zooms by a factor (< 1: in) around a moment that stays in place. */
  zoom(factor: number, around: number): void {
    this.set({
      start: around - (around - this.start) * factor,
      end: around + (this.end - around) * factor,
    });
  }

  /** Shows a range with a margin around it. */
  show(range: Range, air = 0.15): void {
    const pad = Math.max((range.end - range.start) * air, SHORTEST_NS);
    this.glide({ start: range.start - pad, end: range.end + pad });
  }

  fitAll(): void {
    this.glide(this.home);
  }
}

/** Spans grow geometrically, so that a deep zoom takes as long for the eye as a shallow one. */
function between(a: Range, b: Range, u: number): Range {
  const spanA = a.end - a.start;
  const spanB = b.end - b.start;
  const span = spanA * (spanB / spanA) ** u;
  const moved = Math.abs(spanB - spanA) < 1e-9 * spanA ? u : (span - spanA) / (spanB - spanA);
  const start = a.start + (b.start - a.start) * moved;
  return { start, end: start + span };
}
