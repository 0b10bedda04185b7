// address.ts: the address holds the moment on screen (#t=from,to in nanoseconds, &s= the selected
// span), so that a link leads back to it.

import type { Scene } from '../timeline/scene';

const WAIT_MS = 200;

function read(scene: Scene): void {
  const given = new URLSearchParams(location.hash.slice(1));
  const [start, end] = (given.get('t') ?? '').split(',').map(Number);
  if (Number.isFinite(start) && Number.isFinite(end) && end > start) scene.view.set({ start, end });
  else if (Number.isFinite(start) && given.get('t'))
    scene.view.set({ start: start - 5e5, end: start + 5e5 });
  const span = Number(given.get('s') ?? -1);
  if (Number.isInteger(span) && span >= 0 && span < scene.set.n) {
    scene.selected.set(span);
    scene.reveal.set(span);
  }
}

function write(scene: Scene): void {
  const { start, end } = scene.view;
  const span = scene.selected.value;
  const hash = `#t=${Math.round(start)},${Math.round(end)}` + (span >= 0 ? `&s=${span}` : '');
  if (hash === location.hash) return;
  try {
    history.replaceState(null, '', hash);
  } catch {
    // Inside a frame of a notebook the page has no address of its own.
  }
}

export function followAddress(scene: Scene): void {
  read(scene);
  let timer = 0;
  const soon = (): void => {
    clearTimeout(timer);
    timer = window.setTimeout(() => write(scene), WAIT_MS);
  };
  scene.view.changed.on(soon);
  scene.selected.on(soon);
  addEventListener('hashchange', () => read(scene));
}
