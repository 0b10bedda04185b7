// toolbar.ts: the row above the timeline: search, zoom, what is shown, and what the colours mean.

import { h, type Child } from '../base/dom';
import { CLASSES } from '../data/classes';
import type { Scene } from '../timeline/scene';
import type { Search } from './search';

export function legend(scene: Scene): HTMLElement {
  const seen = new Uint8Array(CLASSES.length);
  for (let i = 0; i < scene.set.n; i++) seen[scene.set.look[i]] = 1;
  const items = CLASSES.filter((c, i) => seen[i] && c.id !== 'other').map(c =>
    h('li', null, h('i', { class: 'swatch span-' + c.id }), c.label),
  );
  return h('ul', { class: 'legend', 'aria-label': 'Colours' }, ...items);
}

function pythonToggle(scene: Scene): Child {
  if (!scene.set.tracks.some(t => t.rows !== t.rowsNoPython)) return null;
  const button = h(
    'button',
    {
      type: 'button',
      class: 'toggle',
      'aria-pressed': 'true',
      title: 'Show Python frames (P)',
      onclick: () => scene.python.set(!scene.python.value),
    },
    'Python',
  );
  scene.python.on(on => button.setAttribute('aria-pressed', String(on)));
  return button;
}

export function toolbar(scene: Scene, search: Search): HTMLElement {
  const zoom = (factor: number): void => {
    const { start, end } = scene.view.target;
    const mid = (start + end) / 2;
    const half = ((end - start) / 2) * factor;
    scene.view.glide({ start: mid - half, end: mid + half });
  };
  return h(
    'div',
    { class: 'toolbar' },
    search.el,
    h(
      'div',
      { class: 'buttons' },
      h(
        'button',
        { type: 'button', 'aria-label': 'Zoom in', title: 'Zoom in (W)', onclick: () => zoom(0.5) },
        '+',
      ),
      h(
        'button',
        { type: 'button', 'aria-label': 'Zoom out', title: 'Zoom out (S)', onclick: () => zoom(2) },
        '−',
      ),
      h(
        'button',
        { type: 'button', title: 'Show everything (0)', onclick: () => scene.view.fitAll() },
        'All',
      ),
    ),
    pythonToggle(scene),
  );
}
