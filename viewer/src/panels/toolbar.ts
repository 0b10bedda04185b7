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

/** `before` and `after` are placed around what every timeline has. */
export function toolbar(
  scene: Scene,
  search: Search,
  before: Child = null,
  after: Child = null,
): HTMLElement {
  const zoom = (factor: number): void => {
    const { start, end } = scene.view.target;
    const middle = (start + end) / 2;
    const half = ((end - start) / 2) * factor;
    scene.view.glide({ start: middle - half, end: middle + half });
  };
  const button = (text: string, label: string, key: string, go: () => void): HTMLElement =>
    h(
      'button',
      { type: 'button', 'aria-label': label, title: `${label} (${key})`, onclick: go },
      text,
    );
  return h(
    'div',
    { class: 'toolbar' },
    before,
    search.el,
    h(
      'div',
      { class: 'buttons' },
      button('+', 'Zoom in', 'W', () => zoom(0.5)),
      button('−', 'Zoom out', 'S', () => zoom(2)),
      button('All', 'Show everything', '0', () => scene.view.fitAll()),
    ),
    pythonToggle(scene),
    after,
  );
}
