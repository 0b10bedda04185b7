// sums.ts: sums over a selected range: the only thing the page adds up itself, from the columns.
// Spans count with the part that is inside the range.

import { h, type Child } from '../base/dom';
import { count, cut, moment, ns, pct } from '../base/format';
import { term } from '../base/glossary';
import { classNumber } from '../data/classes';
import type { DataSet, Track } from '../data/dataset';
import { firstEndingAfter } from '../data/rows';
import type { Scene } from '../timeline/scene';
import type { Range } from '../timeline/view';

const NAMES_SHOWN = 200;
const INCOMPLETE = 'Short spans that the page does not hold are not counted here.';

interface Total {
  name: number;
  n: number;
  ns: number;
  first: number;
}

interface Device {
  kernels: number;
  copies: number;
  parts: [number, number][];
}

interface Sums {
  devices: Map<number, Device>;
  /** By name, largest first: on devices, and on threads. */
  work: Total[];
  cpu: Total[];
}

type Totals = Map<number, Total>;

function add(totals: Totals, name: number, dur: number, span: number): void {
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

/** Calls back for every span of a track that has a part inside the range. */
function eachInside(
  set: DataSet,
  { rows }: Track,
  range: Range,
  visit: (span: number, from: number, to: number) => void,
): void {
  for (let row = 0; row < rows.n; row++) {
    const last = rows.at[row + 1];
    let p = firstEndingAfter(set, rows.order, rows.at[row], last, range.start);
    for (; p < last && set.start[rows.order[p]] < range.end; p++) {
      const i = rows.order[p];
      visit(i, Math.max(set.start[i], range.start), Math.min(set.end(i), range.end));
    }
  }
}

function sumThread(set: DataSet, track: Track, range: Range, totals: Totals): void {
  eachInside(set, track, range, (i, from, to) => {
    if (set.dur[i] && set.look[i] !== classNumber.python) add(totals, set.name[i], to - from, i);
  });
}

function sumStream(set: DataSet, track: Track, range: Range, totals: Totals): Device {
  const out: Device = { kernels: 0, copies: 0, parts: [] };
  eachInside(set, track, range, (i, from, to) => {
    if (set.gpuIndex(i) < 0) return;
    add(totals, set.name[i], to - from, i);
    if (set.page.kinds[set.kind[i]] === 'kernel') out.kernels++;
    else out.copies++;
    out.parts.push([from, to]);
  });
  return out;
}

function sumRange(set: DataSet, range: Range): Sums {
  const work: Totals = new Map();
  const cpu: Totals = new Map();
  const devices = new Map<number, Device>();
  for (const track of set.tracks) {
    if (track.info.kind === 'thread') sumThread(set, track, range, cpu);
    if (track.info.kind !== 'stream') continue;
    const own = sumStream(set, track, range, work);
    const all = devices.get(track.info.device ?? 0);
    devices.set(track.info.device ?? 0, {
      kernels: own.kernels + (all?.kernels ?? 0),
      copies: own.copies + (all?.copies ?? 0),
      parts: [...(all?.parts ?? []), ...own.parts],
    });
  }
  const sorted = (m: Totals): Total[] => [...m.values()].sort((x, y) => y.ns - x.ns);
  return { devices, work: sorted(work), cpu: sorted(cpu) };
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

function deviceFigures(device: number, d: Device, whole: number): HTMLElement {
  const busy = covered(d.parts);
  const share = (part: number): string => `${ns(part)}  (${pct((100 * part) / whole)})`;
  return h(
    'dl',
    { class: 'facts wide' },
    h('dt', null, `GPU ${device} busy`),
    h('dd', null, share(busy)),
    h('dt', null, term('idle')),
    h('dd', null, share(whole - busy)),
    h('dt', null, term('kernels')),
    h('dd', null, count(d.kernels)),
    h('dt', null, 'copies and memsets'),
    h('dd', null, count(d.copies)),
  );
}

function heading(scene: Scene, range: Range): HTMLElement {
  const whole = range.end - range.start;
  const button = (text: string, key: string, go: () => void): HTMLElement =>
    h('button', { type: 'button', onclick: go }, text, h('kbd', null, key));
  return h(
    'div',
    { class: 'details-head' },
    h('h3', null, `Range of ${ns(whole)}`),
    h('span', { class: 'dim' }, `${moment(range.start, whole)} to ${moment(range.end, whole)}`),
    button('Zoom to it', 'F', () => scene.zoomToSelection()),
    button('Clear', 'Esc', () => scene.range.set(null)),
  );
}

export function sums(scene: Scene, range: Range): HTMLElement {
  const whole = range.end - range.start;
  const s = sumRange(scene.set, range);
  const figures = [...s.devices]
    .filter(([, d]) => d.parts.length)
    .map(([device, d]) => deviceFigures(device, d, whole));
  const none = h('p', { class: 'dim' }, 'No device work in this range.');
  return h(
    'div',
    { class: 'sums' },
    heading(scene, range),
    scene.set.page.detail.complete ? null : h('p', { class: 'dim' }, INCOMPLETE),
    h(
      'div',
      { class: 'sum-columns' },
      h('div', null, ...(figures.length ? figures : [none])),
      list(scene, 'On the device', s.work, whole),
      list(scene, 'On the CPU (inclusive, without Python)', s.cpu, whole),
    ),
  );
}
