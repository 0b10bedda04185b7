// sums.ts: what lies in a selected range: the one thing the page adds up itself, from the columns. Spans
// count with the part that is inside.

import { h, type Child } from '../base/dom';
import { count, cut, moment, ns, pct } from '../base/format';
import { term } from '../base/glossary';
import type { DataSet } from '../data/dataset';
import { firstEndingAfter } from '../data/rows';
import type { Scene } from '../timeline/scene';
import type { Range } from '../timeline/view';

const NAMES_SHOWN = 200;

interface Total {
  name: number;
  n: number;
  ns: number;
  first: number;
}
export interface Sums {
  devices: { device: number; kernels: number; copies: number; busy: number }[];
  names: Total[];
  cpu: Total[];
}

function add(totals: Map<number, Total>, name: number, dur: number, span: number): void {
  const t = totals.get(name);
  if (t) {
    t.n++;
    t.ns += dur;
  } else totals.set(name, { name, n: 1, ns: dur, first: span });
}

/** Length of a union of intervals. */
function covered(parts: [number, number][]): number {
  parts.sort((a, b) => a[0] - b[0]);
  let sum = 0;
  let end = -Infinity;
  for (const [a, b] of parts) {
    if (b > end) sum += b - Math.max(a, end);
    end = Math.max(end, b);
  }
  return sum;
}

export function sumRange(set: DataSet, range: Range): Sums {
  const names = new Map<number, Total>();
  const cpu = new Map<number, Total>();
  const devices = new Map<number, { kernels: number; copies: number; parts: [number, number][] }>();
  const work = new Set(['kernel', 'gpu_memcpy', 'gpu_memset']);
  for (const track of set.tracks) {
    const { rows, info } = track;
    const onDevice = info.kind === 'stream';
    if (!onDevice && info.kind !== 'thread') continue;
    for (let row = 0; row < rows.n; row++) {
      for (
        let p = firstEndingAfter(set, rows.order, rows.at[row], rows.at[row + 1], range.start);
        p < rows.at[row + 1];
        p++
      ) {
        const i = rows.order[p];
        if (set.start[i] >= range.end) break;
        const a = Math.max(set.start[i], range.start);
        const b = Math.min(set.end(i), range.end);
        const kind = set.page.kinds[set.kind[i]];
        if (!onDevice) {
          if (set.dur[i] && kind !== 'python_function') add(cpu, set.name[i], b - a, i);
          continue;
        }
        if (!work.has(kind)) continue;
        add(names, set.name[i], b - a, i);
        const d = devices.get(info.device ?? 0) ?? { kernels: 0, copies: 0, parts: [] };
        if (kind === 'kernel') d.kernels++;
        else d.copies++;
        d.parts.push([a, b]);
        devices.set(info.device ?? 0, d);
      }
    }
  }
  const sorted = (m: Map<number, Total>): Total[] => [...m.values()].sort((x, y) => y.ns - x.ns);
  return {
    names: sorted(names),
    cpu: sorted(cpu),
    devices: [...devices].map(([device, d]) => ({
      device,
      kernels: d.kernels,
      copies: d.copies,
      busy: covered(d.parts),
    })),
  };
}

function list(scene: Scene, title: string, totals: Total[], whole: number): Child {
  if (!totals.length) return null;
  const rows = totals.slice(0, NAMES_SHOWN).map(t =>
    h(
      'tr',
      null,
      h('td', { class: 'num' }, ns(t.ns)),
      h('td', { class: 'num' }, whole ? pct((100 * t.ns) / whole) : ''),
      h('td', { class: 'num' }, count(t.n)),
      h(
        'td',
        { class: 'name' },
        h(
          'button',
          {
            type: 'button',
            class: 'link',
            title: scene.set.names.get(t.name).slice(0, 400),
            onclick: () => scene.goTo(t.first),
          },
          cut(scene.set.names.brief(t.name), 70),
        ),
      ),
    ),
  );
  return h(
    'div',
    { class: 'sum-list' },
    h('h4', null, title),
    h(
      'table',
      { class: 'compact' },
      h(
        'thead',
        null,
        h(
          'tr',
          null,
          h('th', { class: 'num' }, 'time'),
          h('th', { class: 'num' }, 'of range'),
          h('th', { class: 'num' }, 'calls'),
          h('th', null, 'name'),
        ),
      ),
      h('tbody', null, ...rows),
    ),
  );
}

export function sums(scene: Scene, range: Range): HTMLElement {
  const whole = range.end - range.start;
  const s = sumRange(scene.set, range);
  const figures = s.devices.map(d =>
    h(
      'dl',
      { class: 'facts wide' },
      h('dt', null, `GPU ${d.device} busy`),
      h('dd', null, `${ns(d.busy)}  (${pct((100 * d.busy) / whole)})`),
      h('dt', null, term('idle')),
      h('dd', null, `${ns(whole - d.busy)}  (${pct(100 - (100 * d.busy) / whole)})`),
      h('dt', null, term('kernels')),
      h('dd', null, count(d.kernels)),
      h('dt', null, 'copies and memsets'),
      h('dd', null, count(d.copies)),
    ),
  );
  return h(
    'div',
    { class: 'sums' },
    h(
      'div',
      { class: 'details-head' },
      h('h3', null, `Range of ${ns(whole)}`),
      h(
        'span',
        { class: 'dim' },
        `from ${moment(range.start, whole)} to ${moment(range.end, whole)}`,
      ),
      h(
        'button',
        { type: 'button', onclick: () => scene.zoomToSelection() },
        'Zoom to it',
        h('kbd', null, 'F'),
      ),
      h(
        'button',
        { type: 'button', onclick: () => scene.range.set(null) },
        'Clear',
        h('kbd', null, 'Esc'),
      ),
    ),
    scene.set.page.detail.complete
      ? null
      : h('p', { class: 'dim' }, 'Short spans outside the kept stretches are not counted here.'),
    h(
      'div',
      { class: 'sum-columns' },
      h(
        'div',
        null,
        ...(figures.length ? figures : [h('p', { class: 'dim' }, 'No device work in this range.')]),
      ),
      list(scene, 'On the device', s.names, whole),
      list(scene, 'On the CPU (inclusive, without Python)', s.cpu, whole),
    ),
  );
}
