// link.ts: two views that move together, aligned by step: the step in the middle of one lies over the
// same step of the other, at the same scale, so that lengths can be compared by eye.

import type { Head } from '../data/head';
import type { Scene } from '../timeline/scene';

/** How far the second trace lies behind the first, around a moment of the first (or the second). */
function offsetAt(a: Scene, b: Scene, align: Head['align'], t: number, ofB: boolean): number {
  const whole = b.set.page.window.t0_ns - a.set.page.window.t0_ns;
  let offset = whole;
  for (const [i, j] of align?.pairs ?? []) {
    const x = a.set.page.steps[i];
    const y = b.set.page.steps[j];
    if (!x || !y) continue;
    if (offset === whole || (ofB ? y.t0_ns : x.t0_ns) <= t) offset = y.t0_ns - x.t0_ns;
  }
  return offset;
}

/** Keeps both views together until the returned switch is turned off. */
export function linkViews(a: Scene, b: Scene, align: Head['align']): { on: boolean } {
  const link = { on: true };
  let moving = false;
  const follow = (from: Scene, to: Scene, sign: 1 | -1): void => {
    from.view.changed.on(({ start, end }) => {
      if (!link.on || moving) return;
      moving = true;
      const by = sign * offsetAt(a, b, align, (start + end) / 2, sign < 0);
      to.view.set({ start: start + by, end: end + by });
      moving = false;
    });
  };
  const end = Math.max(a.view.bounds.end, b.view.bounds.end);
  for (const { view } of [a, b]) {
    view.home = { start: Math.min(a.view.home.start, b.view.home.start), end };
    view.bounds.end = 2 * end;
    view.bounds.start -= end;
  }
  follow(a, b, 1);
  follow(b, a, -1);
  return link;
}
