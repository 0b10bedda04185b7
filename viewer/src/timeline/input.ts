// input.ts: wheel and pointer on the timeline. The wheel zooms at the pointer (with shift, or
// sideways: pans; over the names: scrolls); dragging pans; dragging with shift or on the ruler
// selects a range; a click selects.

import type { Timeline } from './timeline';

const ZOOM_PER_PX = 0.0022;
const CLICK_PX = 4;

function wheelPixels(e: WheelEvent, delta: number): number {
  return delta * (e.deltaMode === 1 ? 30 : e.deltaMode === 2 ? 400 : 1);
}

function onWheel(t: Timeline, e: WheelEvent): void {
  e.preventDefault();
  const { view } = t.scene;
  const dx = wheelPixels(e, e.deltaX);
  const dy = wheelPixels(e, e.deltaY);
  const x = e.clientX - t.over.getBoundingClientRect().left;
  if (e.altKey) return t.scrollBy(dy);
  if (e.shiftKey || Math.abs(dx) > Math.abs(dy))
    return view.pan(((e.shiftKey && !dx ? dy : dx) / t.width) * view.span);
  view.zoom(Math.exp(Math.max(-300, Math.min(300, dy)) * ZOOM_PER_PX), t.time(x));
}

interface Drag {
  x: number;
  y: number;
  lastX: number;
  lastY: number;
  moved: boolean;
  selecting: boolean;
}

function dragTo(t: Timeline, d: Drag, x: number, y: number): void {
  if (!d.moved && Math.hypot(x - d.x, y - d.y) < CLICK_PX) return;
  d.moved = true;
  if (d.selecting) {
    const a = t.time(d.x);
    const b = t.time(x);
    t.scene.range.set({ start: Math.min(a, b), end: Math.max(a, b) });
  } else {
    t.scene.view.pan(((d.lastX - x) / t.width) * t.scene.view.span);
    if (y !== d.lastY) t.scrollBy(d.lastY - y);
  }
  d.lastX = x;
  d.lastY = y;
}

function click(t: Timeline, d: Drag): void {
  const span = t.spanAt(d.x, d.y);
  t.scene.selected.set(span);
  if (span < 0) t.scene.range.set(null);
}

export function listen(t: Timeline): void {
  const el = t.over;
  let drag: Drag | null = null;
  const at = (e: PointerEvent): [number, number] => {
    const box = el.getBoundingClientRect();
    return [e.clientX - box.left, e.clientY - box.top];
  };
  el.addEventListener('wheel', e => onWheel(t, e), { passive: false });
  t.el.addEventListener(
    'wheel',
    e => {
      if (e.target === el) return;
      e.preventDefault();
      t.scrollBy(wheelPixels(e, e.deltaY));
    },
    { passive: false },
  );
  el.addEventListener('pointerdown', e => {
    if (e.button !== 0) return;
    const [x, y] = at(e);
    el.setPointerCapture(e.pointerId);
    drag = { x, y, lastX: x, lastY: y, moved: false, selecting: e.shiftKey || y < t.head };
    t.leave();
  });
  el.addEventListener('pointermove', e => {
    const [x, y] = at(e);
    if (drag) dragTo(t, drag, x, y);
    else t.hover(x, y, e.clientX, e.clientY);
  });
  el.addEventListener('pointerup', () => {
    if (drag && !drag.moved) click(t, drag);
    drag = null;
  });
  el.addEventListener('pointercancel', () => {
    drag = null;
  });
  el.addEventListener('pointerleave', () => {
    if (!drag) t.leave();
  });
  el.addEventListener('dblclick', () => t.scene.zoomToSelection());
}
