// top.ts: what a tired reader should see first: how long the run takes, what bounds it, which stages
// take the time, and answers to the questions one asks of every trace.

import { h, type Child } from '../base/dom';
import { count, us } from '../base/format';
import { explain, term } from '../base/glossary';
import type { Check, Report, SetInfo } from '../data/head';
import type { Scene } from '../timeline/scene';
import { ladder } from './ladder';
import { stageBars } from './stage_bars';
import type { Player } from './story';

const BOUND: Record<string, string> = {
  gpu: 'GPU-bound',
  cpu: 'CPU-bound',
  launch: 'launch-bound',
  transfer: 'transfer-bound',
  sync: 'sync-bound',
  communication: 'communication-bound',
  mixed: 'mixed',
  unknown: 'no device work',
};

/** What bounds the run, in a word, or that it is unknown. */
function boundWord(report: Report): string {
  if (report.abstains) return 'no diagnosis';
  return BOUND[report.bound] ?? report.bound;
}

function checkItem(c: Check): HTMLElement {
  const state = c.healthy === null ? 'unknown' : c.healthy ? 'good' : 'bad';
  const sign = { good: '✓', bad: '!', unknown: '?' }[state];
  const says = { good: 'healthy', bad: 'needs attention', unknown: 'unknown' }[state];
  return h(
    'li',
    { class: 'check ' + state, title: `${c.question} ${c.verdict}` },
    h('span', { class: 'check-sign', role: 'img', 'aria-label': says }, sign),
    h('span', { class: 'check-text' }, ...explain(c.verdict)),
  );
}

export function checklist(checks: Check[]): HTMLElement {
  return h('ul', { class: 'checklist', 'aria-label': 'Checklist' }, ...checks.map(checkItem));
}

function doubts(report: Report): Child[] {
  return (report.trace_quality?.doubts ?? []).map(d =>
    h(
      'p',
      { class: 'doubt' },
      h('b', null, d.what + ': '),
      d.means + '. ',
      d.instead ? h('span', { class: 'dim' }, 'To fix it: ' + d.instead) : null,
    ),
  );
}

/** The verdict without what is shown next to it: the wall time, and what bounds it. */
function sentence(set: SetInfo): string {
  const rest = set.verdict
    .replace(/^[^,]*wall, /, '')
    .replace(/^([\w-]+-bound|no (GPU )?diagnosis): /, '');
  return rest.charAt(0).toUpperCase() + rest.slice(1);
}

/** How close the kernels are to what the GPU reaches, and what is left to do where they are there. */
function roof(report: Report): Child {
  const { roofline } = report;
  if (report.bound !== 'gpu' || roofline?.of_roof_pct == null) return null;
  const at = `The kernels run at ${Math.round(roofline.of_roof_pct)} % of what this GPU reaches.`;
  const left = roofline.at_roof
    ? ' What remains changes the work itself, and nothing is promised for it: ' +
      roofline.levers.join('; ') +
      '.'
    : '';
  return h('p', { class: 'roof' }, ...explain(at + left));
}

function figures(report: Report): HTMLElement {
  const item = (value: string, label: Child): HTMLElement =>
    h(
      'div',
      { class: 'figure' },
      h('span', { class: 'figure-value' }, value),
      h('span', { class: 'figure-label' }, label),
    );
  const plain = report.replay?.without_profiler_us;
  return h(
    'div',
    { class: 'figures' },
    item(us(report.wall_us), term('wall')),
    plain && plain < report.wall_us && us(plain) !== us(report.wall_us)
      ? item(us(plain), 'without the profiler')
      : null,
    report.findings.length
      ? item(count(report.findings.length), report.findings.length > 1 ? 'findings' : 'finding')
      : null,
  );
}

export function top(scene: Scene, player: Player): HTMLElement {
  const { info } = scene.set;
  const { report } = info;
  return h(
    'section',
    { class: 'top', 'aria-label': 'Verdict' },
    h(
      'div',
      { class: 'verdict' },
      figures(report),
      h(
        'div',
        { class: 'verdict-words' },
        h('h1', { class: 'bound bound-' + report.bound }, term(boundWord(report))),
        h('p', null, ...explain(sentence(info))),
        roof(report),
        ...doubts(report),
      ),
    ),
    h('div', { class: 'top-middle' }, stageBars(scene), ladder(report, player)),
    checklist(report.checklist),
  );
}
