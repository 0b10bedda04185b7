// link.ts: two views that move together, aligned by step: the first step on screen of one lies
// over the same step of the other, at the same scale, so that lengths can be compared by eye.

import type { Head } from '../data/head';
import type { Scene } from '../timeline/scene';
import type { Range } from '../timeline/view';

/** A step that begins this far into the view still counts as the one at its edge. */
const EDGE = 0.05;

/** How far the second trace lies behind the first, for the step at the left edge of the view. */
function offsetAt(a: Scene, b: Scene, align: Head['align'], view: Range, ofB: boolean): number {
  const edge = view.start + (view.end - view.start) * EDGE;
  let offset = b.set.page.window.t0_ns - a.set.page.window.t0_ns;
  let found = false;
  for (const [i, j] of align?.pairs ?? []) {
    const x = a.set.page.steps[i];
    const y = b.set.page.steps[j];
    if (!x || !y || (found && (ofB ? y : x).t0_ns > edge)) continue;
    offset = y.t0_ns - x.t0_ns;
    found = true;
  }
  return offset;
}

/** Keeps both views together until the returned switch is turned off. */
export function linkViews(a: Scene, b: Scene, align: Head['align']): { on: boolean } {
  const link = { on: true };
  let moving = false;
  const follow = (from: Scene, to: Scene, sign: 1 | -1): void => {
    from.view.changed.on(view => {
      if (!link.on || moving) return;
      moving = true;
      const by = sign * offsetAt(a, b, align, view, sign < 0);
      to.view.set({ start: view.start + by, end: view.end + by });
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
