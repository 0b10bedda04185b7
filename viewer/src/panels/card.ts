// card.ts: one finding: what it gains, where it is, what to change; opened, it explains itself and plays
// its story on the timeline.

import { h, type Child } from '../base/dom';
import { pct, us } from '../base/format';
import { explain, term } from '../base/glossary';
import type { Finding, Option } from '../data/head';
import { sourceText } from '../data/source';
import { actions } from './actions';
import { gainText } from './markdown';
import type { RulePage } from './rule_page';
import type { Player } from './story';
import { storySteps } from './story_steps';

/** How far the gain alone must be from the gain after the others to be said. */
const ALONE_DIFFERS = 0.5;

const share = (percent: number): string =>
  percent > 0 && percent < 0.05 ? 'less than 0.1 %' : pct(percent);

const differsAlone = (f: Finding): boolean =>
  Math.abs(f.predicted_gain_alone_pct - f.predicted_gain_pct) >= ALONE_DIFFERS;

/** The ways to fix it, each with what it gains alone and what it takes. */
function options(list: Option[], differs: boolean): Child {
  if (!list.length) return null;
  const rows = list.map(o =>
    h(
      'tr',
      { title: o.note },
      h('th', { scope: 'row' }, o.what),
      h('td', null, pct(o.gain_pct) + (differs ? ' alone' : '')),
      h('td', { class: 'dim' }, o.effort_words),
    ),
  );
  return h('table', { class: 'options', 'aria-label': 'Ways to fix it' }, ...rows);
}

function range(f: Finding): string {
  const { predicted_gain_low_pct: low, predicted_gain_high_pct: high } = f;
  const span = high - low > 0.1 ? ` (${pct(low)} to ${pct(high)})` : '';
  const alone = f.predicted_gain_alone_pct;
  return (
    `${us(f.predicted_gain_us)}, ${share(f.predicted_gain_pct)} of the wall time${span}` +
    (differsAlone(f)
      ? `, ${share(Math.max(0, alone))} if nothing else is fixed`
      : '') +
    (f.only_together ? ', only if all findings marked “together” are fixed' : '')
  );
}

/** Waits cost the CPU one time and the GPU another. Other findings block nothing. */
function costs(player: Player, f: Finding, number: number): Child {
  if (!player.stepsOf(number).some(step => step.mark === 'blocked')) return null;
  return h(
    'p',
    { class: 'dim costs' },
    'CPU ',
    term('blocked'),
    ` ${us(f.blocked_us)}, GPU idle time `,
    term('exposed'),
    ` ${us(f.exposed_us)}`,
  );
}

function body(player: Player, f: Finding, number: number, rulePage: RulePage): HTMLElement {
  return h(
    'div',
    { class: 'finding-body' },
    h('p', null, ...explain(f.why)),
    h('p', { class: 'fix' }, h('b', null, 'Fix: '), ...explain(f.fix)),
    options(f.options, differsAlone(f)),
    f.predicts_gain ? h('p', { class: 'dim' }, term('Gain', 'gain'), ': ' + range(f)) : null,
    costs(player, f, number),
    f.not_fixed ? h('p', { class: 'dim' }, ...explain(f.not_fixed)) : null,
    storySteps(player, number),
    actions(f, number, rulePage),
  );
}

function head(f: Finding, number: number, open: boolean): Child[] {
  const source = sourceText(f.source);
  const effort = f.predicts_gain ? f.effort_words : '';
  return [
    h('span', { class: 'finding-gain' }, gainText(f)),
    h('span', { class: 'rank', title: `Key ${number + 1} opens it` }, String(number + 1)),
    h('span', { class: 'finding-title' }, ...explain(f.title, false)),
    f.subject || source
      ? h(
          'span',
          { class: 'finding-place', title: [f.subject, source].filter(Boolean).join('  ') },
          f.subject ? h('code', { class: 'subject' }, h('bdi', null, f.subject)) : null,
          source ? h('span', { class: 'source' }, h('bdi', null, source)) : null,
        )
      : null,
    open ? null : h('span', { class: 'finding-fix' }, h('b', null, 'Fix: '), f.fix_brief),
    effort || f.only_together
      ? h(
          'span',
          { class: 'finding-line' },
          effort ? h('span', { class: 'effort' }, `effort: ${effort}`) : null,
          f.only_together ? h('span', null, 'together with the others') : null,
        )
      : null,
  ];
}

/** `told`: shown with its body although it is not the one that plays, for printing. */
export function card(
  player: Player,
  f: Finding,
  number: number,
  told: boolean,
  rulePage: RulePage,
): HTMLElement {
  const open = player.at.value.story === number;
  const props = {
    type: 'button',
    class: 'finding-head',
    'aria-expanded': String(open),
    title: open ? null : f.brief,
    onclick: () => (open ? player.close() : player.play(number)),
  };
  return h(
    'li',
    { class: `finding sev-${f.severity}` + (open ? ' open' : ''), 'data-finding': number },
    h('button', props, ...head(f, number, open || told)),
    open || told ? body(player, f, number, rulePage) : null,
  );
}
