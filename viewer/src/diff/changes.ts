// changes.ts: at the left of a comparison: the parts of the change, largest first; clicking one goes
// to where it is on both timelines.

import { h, type Child } from '../base/dom';
import { us } from '../base/format';
import { term } from '../base/glossary';
import type { Row } from '../data/head';
import type { Scene } from '../timeline/scene';
import { signed } from './verdict';

const SHOWN = 14;

const KINDS: Record<string, string> = {
  outside: 'outside the steps',
  python: 'Python',
  op: 'operator',
  kernels: 'kernels',
  sync: 'sync',
  short_gaps: 'gaps between kernels',
  launch_latency: 'launch latency',
  annotation: 'label',
};

/** The longest span with this name, or one that ends in it: the names of Python functions start with
 * their file. */
function show(scene: Scene, name: string): void {
  const { set } = scene;
  let best = -1;
  for (let i = 0; i < set.n; i++) {
    if (best >= 0 && set.dur[i] <= set.dur[best]) continue;
    const full = set.names.get(set.name[i]);
    if (full === name || full.endsWith(' ' + name)) best = i;
  }
  if (best >= 0) scene.goTo(best);
}

function item(scenes: Scene[], part: Row, most: number): HTMLElement {
  const change = Number(part['change_us']);
  const name = String(part['name'] ?? '');
  const bar = h('span', { class: change < 0 ? 'delta better' : 'delta worse' });
  bar.style.width = `${(100 * Math.abs(change)) / most}%`;
  const kind = String(part['kind']);
  const title = name || KINDS[kind] || kind;
  return h(
    'li',
    null,
    h(
      'button',
      {
        type: 'button',
        class: 'part',
        disabled: !name,
        onclick: () => scenes.forEach(x => show(x, name)),
      },
      h('span', { class: 'part-name' }, h('bdi', null, title)),
      h('b', { class: change < 0 ? 'better' : 'worse' }, signed(us(change), change)),
      h('span', { class: 'dim small' }, name ? (KINDS[kind] ?? kind.replace(/_/g, ' ')) : ''),
      h(
        'span',
        { class: 'dim small' },
        `${us(Number(part['before_us']))} → ${us(Number(part['after_us']))}`,
      ),
      h('span', { class: 'delta-track' }, bar),
    ),
  );
}

function sites(title: string, list: Row[]): Child {
  if (!list.length) return null;
  const items = list.map(s =>
    h(
      'li',
      { class: 'site' },
      h('span', null, h('bdi', null, String(s['what']))),
      h('span', { class: 'source' }, h('bdi', null, `${s['file'] ?? ''}:${s['line'] ?? ''}`)),
      h(
        'span',
        { class: 'dim small' },
        term('blocked'),
        ` ${us(Number(s['blocked_us']))}, `,
        term('exposed'),
        ` ${us(Number(s['exposed_us']))}`,
      ),
    ),
  );
  return h('div', { class: 'sites' }, h('h2', null, title), h('ul', null, ...items));
}

export function changes(scenes: Scene[], diff: Row): HTMLElement {
  const parts = ((diff['parts'] ?? []) as Row[]).slice(0, SHOWN);
  const most = parts.reduce((m, p) => Math.max(m, Math.abs(Number(p['change_us']))), 1e-9);
  const syncs = (diff['syncs'] ?? {}) as { removed?: Row[]; added?: Row[] };
  return h(
    'aside',
    { class: 'findings', 'aria-label': 'What changed' },
    h('h2', null, 'Where the change comes from'),
    h('ol', { class: 'parts' }, ...parts.map(p => item(scenes, p, most))),
    sites('Syncs gone', syncs.removed ?? []),
    sites('New syncs', syncs.added ?? []),
  );
}
