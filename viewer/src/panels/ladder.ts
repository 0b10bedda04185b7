// ladder.ts: how far down the wall time can go, as bars under each other: now, after each fix,
// the GPU alone, its roofline. A rung of a fix opens its finding, which shows the evidence.

import { h } from '../base/dom';
import { pct, us } from '../base/format';
import { hideTip, showTip } from '../base/tooltip';
import type { Report, Rung } from '../data/head';
import type { Player } from './story';

/** More fixes than these are one rung: small ones, for the list is ordered. */
const MOST_FIXES = 5;

const WHAT: Record<Rung['kind'], string> = {
  now: 'the wall time now, without the profiler',
  fix: 'if this and the findings above are fixed',
  gpu: 'the work of the GPU back to back: no fix of the CPU goes below it',
  roofline: 'the same kernels at the rates this GPU reaches; fusing them can go below it',
};

/** A ladder on which no rung goes down by this share says nothing. */
const SLIGHT = 0.05;

/** The rungs to draw: fixes that gain something, and if there are many the last ones together. */
export function rungsOf(all: Rung[], worthPct: number): Rung[] {
  const ladder = all.filter(r => r.kind !== 'fix' || r.gain_pct >= worthPct);
  const fixes = ladder.filter(r => r.kind === 'fix');
  if (fixes.length <= MOST_FIXES) return ladder;
  const rest = fixes.slice(MOST_FIXES - 1);
  const together: Rung = {
    kind: 'fix',
    name: `${rest.length} more findings`,
    wall_us: rest[rest.length - 1].wall_us,
    gain_pct: rest.reduce((sum, r) => sum + r.gain_pct, 0),
    finding: null,
  };
  return ladder
    .filter(r => r === rest[0] || !rest.includes(r))
    .map(r => (r === rest[0] ? together : r));
}

function track(rung: Rung, above: Rung | null, whole: number): HTMLElement {
  const part = (wall: number, name: string): HTMLElement => {
    const el = h('span', { class: name });
    el.style.width = `${Math.min(100, (wall / whole) * 100)}%`;
    return el;
  };
  return h(
    'span',
    { class: 'rung-track' },
    above ? part(above.wall_us, 'rung-gone') : null,
    part(rung.wall_us, `rung-bar rung-${rung.kind}`),
  );
}

function rungItem(rung: Rung, above: Rung | null, whole: number, player: Player): HTMLElement {
  const finding = rung.finding ?? 0;
  const share = pct((rung.wall_us / whole) * 100);
  const tip = `${us(rung.wall_us)}, ${share} of the time now: ${WHAT[rung.kind]}`;
  const line = [
    h(
      'span',
      { class: 'rung-name' },
      finding ? h('span', { class: 'rank' }, String(finding)) : null,
      h('span', { class: 'rung-words' }, rung.name),
    ),
    track(rung, above, whole),
    h('span', { class: 'rung-value' }, us(rung.wall_us)),
  ];
  const label = `${finding ? `after finding ${finding}, ` : ''}${rung.name}: ${tip}`;
  const el: HTMLElement = finding
    ? h(
        'button',
        {
          type: 'button',
          class: 'rung jumps',
          'aria-label': label,
          'data-finding': finding,
          onclick: () => player.play(finding - 1),
        },
        ...line,
      )
    : h('div', { class: 'rung' }, ...line);
  el.addEventListener('pointermove', e => showTip(e.clientX, e.clientY, tip));
  el.addEventListener('pointerleave', hideTip);
  return h('li', null, el);
}

export function ladder(report: Report, player: Player): HTMLElement | null {
  const rungs = rungsOf(report.ladder, report.answer.worth_pct);
  const whole = rungs[0]?.wall_us ?? 0;
  const least = rungs.reduce((low, r) => Math.min(low, r.wall_us), whole);
  if (rungs.length < 2 || least > whole * (1 - SLIGHT)) return null;
  const list = h(
    'ol',
    { class: 'rungs' },
    ...rungs.map((r, i) => rungItem(r, i ? rungs[i - 1] : null, whole, player)),
  );
  player.at.on(({ story }) => {
    for (const el of list.querySelectorAll<HTMLElement>('.jumps'))
      el.setAttribute('aria-current', String(el.dataset['finding'] === String(story + 1)));
  });
  return h(
    'figure',
    { class: 'side-part ladder', 'aria-label': 'Ladder' },
    h('h2', null, 'Wall time after each fix'),
    list,
  );
}
