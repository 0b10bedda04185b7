// findings.ts: the findings by gain. Opening one explains why and what to do, and plays its story on
// the timeline.

import { h, replace, type Child } from '../base/dom';
import { count, pct, us } from '../base/format';
import { explain, term } from '../base/glossary';
import type { Finding, Option, Report, Source } from '../data/head';
import type { Scene } from '../timeline/scene';
import type { Player } from './story';
import { storySteps } from './story_steps';

const NO_DEVICE =
  'No findings: the trace has no device work, so what the GPU waits for is unknown.';
const ABSTAINS =
  'No findings: this recording does not allow a diagnosis. The reasons are listed above.';
const NONE = 'Nothing to fix: no rule found a cost that affects the wall time.';

export function sourceText(source: Source | null | undefined): string {
  if (!source?.file) return source?.function ?? '';
  return source.line ? `${source.file}:${source.line}` : source.file;
}

function cost(label: string, value: string, strong = false): HTMLElement {
  return h(
    'div',
    { class: strong ? 'cost strong' : 'cost' },
    h('dd', null, value),
    h('dt', null, term(label)),
  );
}

function costs(f: Finding): HTMLElement {
  const gain = f.promises_gain === false ? '–' : us(f.predicted_gain_us);
  return h(
    'dl',
    { class: 'costs' },
    cost('blocked', us(f.blocked_us)),
    cost('exposed', us(f.exposed_us)),
    cost('gain', gain, true),
  );
}

/** How far the gain alone must be from the gain after the others to be said. */
const ALONE_DIFFERS = 0.5;

const OPTIONS: Record<string, string> = {
  cuda_graph: 'CUDA graphs',
  compile: 'torch.compile',
  larger_batch: 'twice the batch',
};

/** The ways to fix it, each with what it gains alone and what it takes. */
function options(list: Option[]): HTMLElement | null {
  if (!list.length) return null;
  const rows = list.map(o =>
    h(
      'tr',
      { title: o.note },
      h('th', { scope: 'row' }, OPTIONS[o.name] ?? o.name),
      h('td', null, pct(o.gain_pct)),
      h('td', { class: 'dim' }, o.effort),
    ),
  );
  return h('table', { class: 'options', 'aria-label': 'Ways to fix it' }, ...rows);
}

function range(f: Finding): string {
  const { predicted_gain_low_pct: low, predicted_gain_high_pct: high } = f;
  const span =
    low !== undefined && high !== undefined && high - low > 0.1
      ? ` (${pct(low)} to ${pct(high)})`
      : '';
  const alone = f.predicted_gain_alone_pct ?? f.predicted_gain_pct;
  return (
    `${pct(f.predicted_gain_pct)} of the wall time${span}` +
    (Math.abs(alone - f.predicted_gain_pct) >= ALONE_DIFFERS
      ? `, ${pct(Math.max(0, alone))} if nothing else is fixed`
      : '') +
    (f.only_together ? ', only if all findings marked “together” are fixed' : '')
  );
}

function body(player: Player, number: number, f: Finding): HTMLElement {
  return h(
    'div',
    { class: 'finding-body' },
    h('p', null, ...explain(f.why)),
    h('p', { class: 'fix' }, h('b', null, 'Fix. '), ...explain(f.fix)),
    options(f.options ?? []),
    h('p', { class: 'dim' }, term('Gain', 'gain'), ': ' + range(f)),
    f.not_fixed ? h('p', { class: 'dim' }, ...explain(f.not_fixed)) : null,
    storySteps(player, number),
  );
}

function headOf(f: Finding, number: number): Child[] {
  const source = sourceText(f.source);
  return [
    h(
      'span',
      { class: 'finding-line' },
      h('span', { class: 'rank' }, String(number + 1)),
      h('span', { class: 'severity' }, f.severity + (f.only_together ? ' · together' : '')),
      f.effort && f.promises_gain !== false
        ? h('span', { class: 'effort', title: 'What the fix takes' }, f.effort)
        : null,
    ),
    h('span', { class: 'finding-title' }, ...explain(f.title, false)),
    f.subject ? h('code', { class: 'subject' }, f.subject) : null,
    source ? h('span', { class: 'source', title: source }, h('bdi', null, source)) : null,
  ];
}

/** `told`: shown with its body although it is not the one that plays, for printing. */
function card(player: Player, f: Finding, number: number, told: boolean): HTMLElement {
  const open = player.at.value.story === number;
  const props = {
    type: 'button',
    class: 'finding-head',
    'aria-expanded': String(open),
    onclick: () => (open ? player.close() : player.play(number)),
  };
  return h(
    'li',
    { class: `finding sev-${f.severity}` + (open ? ' open' : '') },
    h('button', props, ...headOf(f, number)),
    costs(f),
    open || told ? body(player, number, f) : null,
  );
}

function rest(scene: Scene): Child {
  const other = scene.set.info.report.not_worth_it;
  if (!other?.count) return null;
  return h(
    'p',
    { class: 'rest' },
    h('b', null, 'Not worth your time: '),
    `${count(other.count)} other ${other.count === 1 ? 'finding' : 'findings'}, ${us(other.blocked_us)} `,
    term('blocked'),
    `, ${us(other.gain_us)} gain in total.`,
  );
}

/** Draws the list again without losing where the keyboard is. */
function redraw(list: HTMLElement, cards: HTMLElement[], story: number, same: boolean): void {
  const focused = document.activeElement;
  const buttons = (): HTMLElement[] => [...list.querySelectorAll('button')];
  const where = focused instanceof HTMLElement ? buttons().indexOf(focused) : -1;
  replace(list, ...cards);
  if (where >= 0 && same) buttons()[where]?.focus();
  else if (where >= 0)
    list.querySelectorAll<HTMLElement>('.finding-head')[Math.max(0, story)]?.focus();
  if (story >= 0) list.children[story]?.scrollIntoView({ block: 'nearest' });
}

function intro(report: Report): HTMLElement {
  if (report.findings.length) {
    const clock = report.gains_are === 'without_profiler' ? ' without the profiler' : '';
    const words = `Gain: wall time saved${clock}, if the findings above are fixed too.`;
    return h('p', { class: 'dim small' }, words);
  }
  if (report.abstains) return h('p', { class: 'dim' }, ABSTAINS);
  if (report.bound === 'unknown') return h('p', { class: 'dim' }, NO_DEVICE);
  if (report.idle_causes?.length) return h('p', { class: 'dim' }, 'No findings.');
  return h('p', { class: 'none' }, NONE);
}

/** What the GPU waits for, where the findings do not account for it. */
function idle(report: Report): HTMLElement | null {
  const causes = report.idle_causes ?? [];
  if (!causes.length || !report.idle_unexplained) return null;
  const reason = report.no_gain_reason;
  return h(
    'section',
    { class: 'idle', 'aria-label': 'Idle time' },
    h('h3', null, 'What the GPU waits for'),
    reason ? h('p', null, ...explain(`No gain is promised: ${reason}.`)) : null,
    h(
      'table',
      { class: 'options' },
      ...causes.map(c =>
        h('tr', null, h('th', { scope: 'row' }, c.what), h('td', null, pct(c.share_pct))),
      ),
    ),
  );
}

export function findings(scene: Scene, player: Player): HTMLElement {
  const { report } = scene.set.info;
  const list = h('ol', { class: 'finding-list' });
  const cards = (told: boolean): HTMLElement[] =>
    report.findings.map((f, i) => card(player, f, i, told));
  let shown = -1;
  player.at.on(({ story }) => {
    redraw(list, cards(false), story, story === shown);
    shown = story;
  });
  addEventListener('beforeprint', () => replace(list, ...cards(true)));
  addEventListener('afterprint', () => replace(list, ...cards(false)));
  replace(list, ...cards(false));
  return h(
    'aside',
    { class: 'findings', 'aria-label': 'Findings' },
    h('h2', null, 'Findings'),
    intro(report),
    list,
    rest(scene),
    idle(report),
  );
}
