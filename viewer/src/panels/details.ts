// details.ts: everything known about the selected span: times, arguments, the chain of calls that
// led to it, and for device work how long it waited and for what.

import { h, type Child } from '../base/dom';
import { bytes, count, cut, moment, ns } from '../base/format';
import { explain, term } from '../base/glossary';
import { CLASSES, classNumber, kindWords } from '../data/classes';
import type { DataSet } from '../data/dataset';
import type { Scene } from '../timeline/scene';

const LAUNCHED_SHOWN = 12;
const FRAMES_SHOWN = 2;

const HOWS: Record<string, string> = {
  idle_stream: 'The stream was idle: this is the launch latency.',
  queued: 'The stream was busy with earlier work: the CPU runs ahead, which is healthy.',
  behind_other_streams: 'Work on other streams delayed it.',
  in_graph: 'A later node of a CUDA graph, launched together with the first.',
  overhead: "The profiler's buffers or code loading delayed it.",
  before_launch: 'It seems to start before its launch: the clocks disagree.',
  no_launch: 'Its launch is not in the trace.',
};

function fact(label: Child, value: string): Child[] {
  return [h('dt', null, label), h('dd', null, value)];
}

function gpuFacts(set: DataSet, i: number): Child[] {
  const k = set.gpuIndex(i);
  const g = set.gpu;
  if (k < 0) return [];
  const out: Child[] = [];
  if (g.launch[k] >= 0 || g.correlation[k] >= 0) {
    out.push(
      ...fact(term('Launch delay', 'launch delay'), ns(g.delay[k])),
      ...fact('After the call returned', ns(g.after[k])),
      ...fact(term('Queue wait', 'queue wait'), ns(g.wait[k])),
      ...fact(term('Queue depth', 'queue depth'), count(g.depth[k])),
    );
  }
  const config = g.config[k] ? set.page.configs[g.config[k] - 1] : null;
  for (const [key, value] of Object.entries(config ?? {}))
    if (value !== null)
      out.push(
        ...fact(key.replace(/_(bytes|pct)$/, '').replace(/_/g, ' '), configText(key, value)),
      );
  if (g.bytes[k] >= 0) out.push(...fact('Bytes', `${bytes(g.bytes[k])} (${count(g.bytes[k])})`));
  if (g.bytes[k] > 0 && set.dur[i] > 0)
    out.push(...fact('Rate', `${(g.bytes[k] / set.dur[i]).toFixed(2)} GB/s`));
  if (g.graph[k] >= 0) out.push(...fact(term('CUDA graph'), count(g.graph[k])));
  if (g.correlation[k] >= 0) out.push(...fact('Correlation', String(g.correlation[k])));
  return out;
}

function configText(key: string, value: unknown): string {
  if (Array.isArray(value)) return value.join(' × ');
  if (key.endsWith('_bytes')) return bytes(Number(value));
  return key.endsWith('_pct') ? `${value} %` : String(value);
}

function facts(set: DataSet, i: number, span: number): HTMLElement {
  const shapes = set.shapes(i);
  const out: Child[] = [];
  out.push(...fact('Start', moment(set.start[i], Math.min(span, 1e6))));
  if (set.dur[i]) out.push(...fact('Duration', `${ns(set.dur[i])} (${count(set.dur[i])} ns)`));
  out.push(...fact('On', set.trackOf(i).info.label), ...gpuFacts(set, i));
  if (shapes?.dims) out.push(...fact('Shapes', shapes.dims));
  if (shapes?.types) out.push(...fact('Types', shapes.types));
  if (set.flags[i] & 1) out.push(...fact('Note', 'still running when the recording ended'));
  if (set.flags[i] & 8) out.push(...fact('Note', 'ended by an exception'));
  return h('dl', { class: 'facts' }, ...out);
}

function link(scene: Scene, i: number, here: boolean): HTMLElement {
  const { set } = scene;
  return h(
    'button',
    {
      type: 'button',
      class: 'chain-link',
      'aria-current': here ? 'true' : null,
      onclick: () => scene.goTo(i),
    },
    h('i', { class: 'swatch span-' + CLASSES[set.look[i]].id }),
    h('span', { class: 'chain-name' }, cut(set.names.brief(set.name[i]), 90)),
    h('span', { class: 'chain-dur' }, set.dur[i] ? ns(set.dur[i]) : ''),
  );
}

/** Runs of Python frames stand as their innermost one, with a button that shows the rest. */
function steps(scene: Scene, path: number[], here: number): HTMLElement[] {
  const python = (i: number): boolean => scene.set.look[i] === classNumber.python;
  const out: HTMLElement[] = [];
  let run: HTMLElement[] = [];
  path.forEach((i, at) => {
    const item = h('li', { class: python(i) ? 'python' : null }, link(scene, i, i === here));
    out.push(item);
    run = python(i) ? [...run, item] : [];
    const ends = at + 1 === path.length || !python(path[at + 1]);
    if (!ends || run.length <= FRAMES_SHOWN) return;
    const hidden = run.slice(0, -1);
    const more = h(
      'button',
      { type: 'button', class: 'more' },
      `${count(hidden.length)} Python frames`,
    );
    const row = h('li', null, more);
    hidden.forEach(x => (x.hidden = true));
    more.addEventListener('click', () => {
      hidden.forEach(x => (x.hidden = false));
      row.remove();
    });
    out.splice(out.indexOf(hidden[0]), 0, row);
  });
  return out;
}

/** From the outermost annotation down to the launch, then the device work it became. */
function chain(scene: Scene, i: number): HTMLElement {
  const { set } = scene;
  const launch = set.launchOf(i);
  const path = launch >= 0 ? [...set.chain(launch), i] : set.chain(i);
  const launched = launch < 0 ? set.launchedBy(i) : [];
  const items = steps(scene, path, i);
  for (const k of launched.slice(0, LAUNCHED_SHOWN))
    items.push(h('li', { class: 'device' }, link(scene, k, false)));
  if (launched.length > LAUNCHED_SHOWN)
    items.push(h('li', { class: 'dim' }, `and ${count(launched.length - LAUNCHED_SHOWN)} more`));
  const toDevice = launch >= 0 || launched.length > 0;
  return h(
    'div',
    { class: 'chain' },
    h('h4', null, toDevice ? 'From label to device' : 'Called from'),
    h('ol', null, ...items),
  );
}

function how(set: DataSet, i: number): Child {
  const k = set.gpuIndex(i);
  const words = k < 0 ? undefined : HOWS[set.page.hows[set.gpu.how[k]]];
  return words ? h('p', { class: 'how' }, ...explain(words)) : null;
}

export function details(scene: Scene, i: number): HTMLElement {
  const { set } = scene;
  const kind = set.page.kinds[set.kind[i]];
  const launch = set.launchOf(i);
  const first = launch < 0 ? set.launchedBy(i)[0] : undefined;
  return h(
    'div',
    { class: 'details' },
    h(
      'div',
      { class: 'details-main' },
      h(
        'div',
        { class: 'details-head' },
        h(
          'span',
          { class: 'chip' },
          h('i', { class: 'swatch span-' + CLASSES[set.look[i]].id }),
          term(kindWords(kind)),
        ),
        h(
          'button',
          { type: 'button', onclick: () => scene.zoomToSelection() },
          'Zoom to it',
          h('kbd', null, 'F'),
        ),
        launch >= 0
          ? h(
              'button',
              { type: 'button', onclick: () => scene.goTo(launch) },
              'Go to its launch',
              h('kbd', null, 'G'),
            )
          : null,
        first !== undefined
          ? h(
              'button',
              { type: 'button', onclick: () => scene.goTo(first) },
              'Go to the device work',
              h('kbd', null, 'G'),
            )
          : null,
      ),
      h('h3', { class: 'span-name' }, h('bdi', null, set.names.get(set.name[i]))),
      how(set, i),
      facts(set, i, scene.view.span),
    ),
    chain(scene, i),
  );
}

const HINT: [string, string][] = [
  ['Click', 'a span for its times, arguments and call chain'],
  ['Shift + drag', 'to sum up a range'],
  ['W A S D', 'or the wheel and dragging to zoom and pan'],
  ['/', 'to search. Comma and period go to the neighbours on a track, ? shows all keys'],
];

export function hint(): HTMLElement {
  const rows = HINT.flatMap(([key, text]) => [
    h('dt', null, h('kbd', null, key)),
    h('dd', null, ...explain(text)),
  ]);
  return h('div', { class: 'hint' }, h('dl', null, ...rows));
}
