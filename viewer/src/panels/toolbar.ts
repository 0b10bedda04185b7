// toolbar.ts: the row above the timeline: search, zoom, what is shown, and what the colours mean.

import { h, type Child } from '../base/dom';
import { CLASSES, GROUPS } from '../data/classes';
import { NEAREST } from '../timeline/palette';
import type { Scene } from '../timeline/scene';
import type { Search } from './search';

const legendItem = (swatch: string, label: string): HTMLElement =>
  h('li', null, h('i', { class: 'swatch ' + swatch }), label);

/** What the colours mean: the few groups from afar, and the families of kernels once they
 *  have colours. */
export function legend(scene: Scene): HTMLElement {
  const seen = new Uint8Array(CLASSES.length);
  for (let i = 0; i < scene.set.n; i++) seen[scene.set.look[i]] = 1;
  const families = CLASSES.filter((c, i) => seen[i] && c.group === 'compute').map(c =>
    legendItem('span-' + c.id, c.label),
  );
  const shown = new Set<string>(CLASSES.filter((_, i) => seen[i]).map(c => c.group));
  const device = shown.has('compute') || shown.has('move');
  const groups = GROUPS.filter(g => (g.id === 'idle' ? device : shown.has(g.id)));
  const list = h('ul', { class: 'legend', 'aria-label': 'Colours' });
  const draw = (near: boolean): void => {
    list.replaceChildren(
      ...groups.flatMap(g => {
        if (!near) return [legendItem(g.swatch, g.label)];
        return g.id === 'compute' ? families : g.id === 'cpu' ? [] : [legendItem(g.swatch, g.label)];
      }),
    );
  };
  let near = false;
  scene.tone.on(tone => {
    if (near === (near = tone === NEAREST)) return;
    draw(near);
  });
  draw(near);
  return list;
}

function pythonToggle(scene: Scene): Child {
  if (!scene.set.tracks.some(t => t.rows !== t.rowsNoPython)) return null;
  const button = h(
    'button',
    {
      type: 'button',
      class: 'toggle',
      'aria-pressed': String(scene.python.value),
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
  before: Child[] = [],
  after: Child[] = [],
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
    ...before,
    search.el,
    h(
      'div',
      { class: 'buttons' },
      button('+', 'Zoom in', 'W', () => zoom(0.5)),
      button('−', 'Zoom out', 'S', () => zoom(2)),
      button('All', 'Show everything', '0', () => scene.view.fitAll()),
    ),
    pythonToggle(scene),
    ...after,
  );
}
