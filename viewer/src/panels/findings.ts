// findings.ts: the findings by what they would gain. Opening one tells why and what to do, and plays
// its story on the timeline.

import { h, replace, type Child } from '../base/dom';
import { count, pct, us } from '../base/format';
import { explain, term } from '../base/glossary';
import type { Finding, Source, Story } from '../data/head';
import type { Scene } from '../timeline/scene';
import type { Player } from './story';

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

function range(f: Finding): string {
  const { predicted_gain_low_pct: low, predicted_gain_high_pct: high } = f;
  const span =
    low !== undefined && high !== undefined && high - low > 0.1
      ? ` (${pct(low)} to ${pct(high)})`
      : '';
  return (
    `${pct(f.predicted_gain_pct)} of the wall clock${span}` +
    (f.only_together ? ', together with the others so marked' : '')
  );
}

function storySteps(player: Player, number: number, story: Story | undefined, at: number): Child {
  if (!story?.steps.length) return null;
  const items = story.steps.map((step, k) =>
    h(
      'li',
      { class: k === at ? 'now' : null },
      h(
        'button',
        {
          type: 'button',
          class: 'story-step' + (step.mark ? ' mark-' + step.mark : ''),
          'aria-current': k === at ? 'step' : null,
          onclick: () => player.play(number, k),
        },
        h('span', null, step.text),
      ),
    ),
  );
  return h(
    'div',
    { class: 'story' },
    h(
      'div',
      { class: 'story-head' },
      h('h4', null, 'How we know'),
      h(
        'span',
        { class: 'story-nav' },
        h(
          'button',
          {
            type: 'button',
            'aria-label': 'Previous step',
            disabled: at === 0,
            onclick: () => player.move(-1),
          },
          '‹',
        ),
        h('span', null, `${at + 1} / ${story.steps.length}`),
        h(
          'button',
          {
            type: 'button',
            'aria-label': 'Next step',
            disabled: at === story.steps.length - 1,
            onclick: () => player.move(1),
          },
          '›',
        ),
      ),
    ),
    h('ol', { class: 'story-steps' }, ...items),
  );
}

function body(
  player: Player,
  f: Finding,
  number: number,
  story: Story | undefined,
  at: number,
): HTMLElement {
  return h(
    'div',
    { class: 'finding-body' },
    h('p', null, ...explain(f.why)),
    h('p', { class: 'fix' }, h('b', null, 'Fix. '), ...explain(f.fix)),
    h('p', { class: 'dim' }, term('Gain', 'gain'), ': ' + range(f)),
    f.not_fixed ? h('p', { class: 'dim' }, ...explain(f.not_fixed)) : null,
    storySteps(player, number, story, at),
  );
}

function card(player: Player, f: Finding, number: number, story: Story | undefined): HTMLElement {
  const now = player.at.value;
  const open = now.story === number;
  const source = sourceText(f.source);
  return h(
    'li',
    { class: `finding sev-${f.severity}` + (open ? ' open' : '') },
    h(
      'button',
      {
        type: 'button',
        class: 'finding-head',
        'aria-expanded': String(open),
        onclick: () => (open ? player.close() : player.play(number)),
      },
      h(
        'span',
        { class: 'finding-line' },
        h('span', { class: 'rank' }, String(number + 1)),
        h('span', { class: 'severity' }, f.severity),
      ),
      h('span', { class: 'finding-title' }, f.title),
      f.subject ? h('code', { class: 'subject' }, f.subject) : null,
      source ? h('span', { class: 'source', title: source }, h('bdi', null, source)) : null,
    ),
    costs(f),
    open ? body(player, f, number, story, now.step) : null,
  );
}

function rest(scene: Scene): Child {
  const other = scene.set.info.report.not_worth_it;
  if (!other?.count) return null;
  return h(
    'p',
    { class: 'rest' },
    h('b', null, 'Not worth your time: '),
    `${count(other.count)} others, ${us(other.blocked_us)} `,
    term('blocked'),
    `, ${us(other.gain_us)} to gain in all.`,
  );
}

export function findings(scene: Scene, player: Player): HTMLElement {
  const { report } = scene.set.info;
  const list = h('ol', { class: 'finding-list' });
  const draw = (): void =>
    replace(list, ...report.findings.map((f, i) => card(player, f, i, scene.set.page.stories[i])));
  let shown = -1;
  player.at.on(({ story }) => {
    const focused = document.activeElement;
    const where =
      focused && list.contains(focused)
        ? [...list.querySelectorAll('button')].indexOf(focused as HTMLButtonElement)
        : -1;
    draw();
    if (where >= 0 && story === shown) list.querySelectorAll('button')[where]?.focus();
    else if (where >= 0)
      list.querySelectorAll<HTMLElement>('.finding-head')[Math.max(0, story)]?.focus();
    if (story >= 0) list.children[story]?.scrollIntoView({ block: 'nearest' });
    shown = story;
  });
  draw();
  const note =
    report.gains_are === 'without_profiler'
      ? 'Gains are of the wall clock without the profiler, each after the ones above.'
      : 'Gains are of the wall clock, each after the ones above.';
  return h(
    'aside',
    { class: 'findings', 'aria-label': 'Findings' },
    h('h2', null, 'Findings'),
    report.findings.length
      ? h('p', { class: 'dim small' }, note)
      : h(
          'p',
          { class: 'none' },
          'Nothing here is worth fixing: no rule found a cost that the wall clock would see.',
        ),
    list,
    rest(scene),
  );
}
