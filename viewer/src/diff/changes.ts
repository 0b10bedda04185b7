// changes.ts: at the left of a comparison: the parts of the change, largest first; clicking one goes
// to where it is on both timelines.

import { h, type Child } from '../base/dom';
import { us } from '../base/format';
import { explain, term } from '../base/glossary';
import { inPrint } from '../data/answer';
import type { Row } from '../data/head';
import type { Scene } from '../timeline/scene';
import { signed, verdictOf } from './verdict';

const SHOWN = 14;

const KINDS: Record<string, string> = {
  outside: 'before the first and after the last GPU work',
  python: 'Python',
  op: 'operator',
  kernels: 'kernels',
  sync: 'sync',
  short_gaps: 'gaps between kernels',
  launch_latency: 'launch latency',
  annotation: 'label',
  no_core: 'no core',
  throttled: 'cgroup limit',
  page_faults: 'page faults',
  gil: 'GIL',
};

/** Parts in which no idle time of the GPU changed. */
const BUSY = new Set(['outside', 'kernels', 'copies', 'stage', 'between', 'overlap']);

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
  const words = KINDS[kind] ?? kind.replace(/_/g, ' ');
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
      h('span', { class: 'dim small' }, name ? (BUSY.has(kind) ? words : `GPU idle: ${words}`) : ''),
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
      s['file']
        ? h('span', { class: 'source' }, h('bdi', null, `${s['file']}:${s['line'] ?? ''}`))
        : null,
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

/** What is another thing in the program, before what it did to the time. */
function changed(diff: Row): HTMLElement {
  const list = ((diff['changed'] ?? []) as Row[]).map(x => inPrint(String(x['what'])));
  const nothing = h('p', { class: 'dim' }, 'Nothing that the traces show.');
  return h(
    'section',
    { 'aria-label': 'What changed' },
    h('h2', null, 'What changed'),
    list.length
      ? h('ul', { class: 'changed' }, ...list.map(x => h('li', null, ...explain(x))))
      : nothing,
  );
}

export function changes(scenes: Scene[], diff: Row, foot: HTMLElement): HTMLElement {
  const parts = ((diff['parts'] ?? []) as Row[]).slice(0, SHOWN);
  const most = parts.reduce((m, p) => Math.max(m, Math.abs(Number(p['change_us']))), 1e-9);
  const syncs = (diff['syncs'] ?? {}) as { removed?: Row[]; added?: Row[] };
  return h(
    'aside',
    { class: `findings is-${verdictOf(diff)}`, 'aria-label': 'What changed' },
    changed(diff),
    h('h2', { class: 'parts-title' }, 'Where the wall time changed'),
    h('ol', { class: 'parts' }, ...parts.map(p => item(scenes, p, most))),
    sites('Syncs gone', syncs.removed ?? []),
    sites('New syncs', syncs.added ?? []),
    foot,
  );
}
