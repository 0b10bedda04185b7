// findings.ts: the column at the left: findings by gain, what looks slow and is not, how far the wall
// time can go down, and the checks.

import { h, replace, type Child } from '../base/dom';
import { count, pct, us } from '../base/format';
import { explain, term } from '../base/glossary';
import { isWorth, type NotSlow } from '../data/answer';
import type { Finding, Report } from '../data/head';
import { sourceText } from '../data/source';
import { columns } from '../tables/columns';
import { cellText } from '../tables/table';
import type { Scene } from '../timeline/scene';
import { card } from './card';
import { checks } from './checks';
import { ladder } from './ladder';
import type { RulePage } from './rule_page';
import type { Player } from './story';

const NO_DEVICE =
  'No findings: the trace has no device work, so what the GPU waits for is unknown.';
const ABSTAINS =
  'No findings: this recording does not allow a diagnosis. The reasons are listed above.';
const NONE = 'Nothing to fix: no rule found a cost that affects the wall time.';

function intro(report: Report): Child {
  if (report.findings.some(isWorth)) {
    const clock = report.gains_are === 'without_profiler' ? ', without the profiler' : '';
    return h('p', { class: 'dim small' }, `Wall time saved once those above are fixed${clock}.`);
  }
  if (report.abstains) return h('p', { class: 'dim' }, ABSTAINS);
  if (!report.recorded.idle_judged && report.answer.kind === 'cannot_tell')
    return h('p', { class: 'dim' }, `${report.answer.headline}.`);
  if (report.bound === 'unknown') return h('p', { class: 'dim' }, NO_DEVICE);
  if (report.findings.length) return h('p', { class: 'dim' }, `None gains ${report.answer.worth_pct} %.`);
  if (report.idle_causes.length) return h('p', { class: 'dim' }, 'No findings.');
  return h('p', { class: 'none' }, NONE);
}

/** Opens the finding of the same place, or else the wait's own evidence. */
function showNotSlow(scene: Scene, player: Player, x: NotSlow): void {
  const { report, syncs } = scene.set.info;
  const place = sourceText(x.source);
  const same = (source: unknown): boolean => sourceText(source as NotSlow['source']) === place;
  const found = report.findings.findIndex(f => same(f.source) && f.blocked_us === x.blocked_us);
  const site = syncs.sites.findIndex(s => same(s['source']));
  const story = scene.set.page.sites[site]?.story;
  if (found >= 0) player.play(found);
  else if (story?.steps.length) player.tell(story);
}

/** Waits that hide each other gain more together than alone. */
function gains(x: NotSlow): string {
  if (x.gain_us <= 0) return 'gains nothing';
  const alone = x.gain_alone_us < x.gain_us ? ` (alone ${us(x.gain_alone_us)})` : '';
  return `gains ${us(x.gain_us)}${alone}`;
}

function notSlow(scene: Scene, player: Player, list: NotSlow[]): Child {
  if (!list.length) return null;
  const rows = list.map(x =>
    h(
      'li',
      null,
      h(
        'button',
        { type: 'button', class: 'not-slow', onclick: () => showNotSlow(scene, player, x) },
        h('b', null, x.what),
        h('span', null, `blocks ${us(x.blocked_us)}, ${gains(x)}`),
        x.source?.file && x.source.function ? h('code', null, x.source.function) : null,
        h('span', { class: 'source' }, h('bdi', null, sourceText(x.source))),
      ),
    ),
  );
  return h(
    'section',
    { class: 'side-part', 'aria-label': 'Looks slow and is not' },
    h('h2', null, 'Looks slow and is not'),
    h('ul', null, ...rows),
  );
}

/** What the GPU waits for, where the findings do not account for it. */
function idle(report: Report): Child {
  const causes = report.idle_causes;
  if (!causes.length || !report.idle_unexplained) return null;
  const reason = report.no_gain_reason;
  return h(
    'section',
    { class: 'side-part idle', 'aria-label': 'Idle time' },
    h('h2', null, 'What the GPU waits for'),
    reason ? h('p', null, ...explain(`No large gain is predicted: ${reason}.`)) : null,
    h(
      'table',
      { class: 'options' },
      ...causes.map(c =>
        h('tr', null, h('th', { scope: 'row' }, c.what), h('td', null, pct(c.share_pct))),
      ),
    ),
  );
}

/** Families below this share of the GPU's time say nothing. */
const FAMILY_FROM_PCT = 1;

/** What fills the time of the GPU, where that is what there is to know. */
function filling({ answer, abstains, families }: Report): Child {
  if (answer.kind === 'faster' || abstains || answer.limit !== 'gpu' || !families.length) return null;
  const shown = columns('families');
  return h(
    'section',
    { class: 'side-part filling', 'aria-label': 'GPU time' },
    h(
      'table',
      { class: 'options' },
      h('thead', null, h('tr', null, ...shown.map(c => h('th', { scope: 'col' }, c.label)))),
      h(
        'tbody',
        null,
        ...families.filter(f => Number(f['share_pct']) >= FAMILY_FROM_PCT).map(row =>
          h(
            'tr',
            null,
            ...shown.map((c, i) =>
              i
                ? h('td', null, cellText(row[c.key], c.kind))
                : h('th', { scope: 'row' }, cellText(row[c.key], c.kind)),
            ),
          ),
        ),
      ),
    ),
  );
}

function rest(report: Report): Child {
  const other = report.not_worth_it;
  if (!other.count) return null;
  return h(
    'p',
    { class: 'rest' },
    `${count(other.count)} more below the threshold: ${us(other.blocked_us)} `,
    term('blocked'),
    `, ${us(other.gain_us)} to gain in total.`,
  );
}

/** The cards in two lists: those worth it, and the others folded into one line. */
class Cards {
  readonly main = h('ol', { class: 'finding-list' });
  readonly low = h('ol', { class: 'finding-list' });
  readonly fold: HTMLDetailsElement;

  constructor(
    private readonly list: Finding[],
    private readonly player: Player,
    worthPct: number,
    minor: number,
    private readonly rulePage: RulePage,
    more: Child,
  ) {
    const cards = list.filter(f => !isWorth(f)).length;
    const few = cards + minor;
    const words = `${count(few)} ${few === 1 ? 'finding gains' : 'findings gain'} less than ${worthPct} %`;
    this.fold = h('details', { class: 'low', hidden: !cards }, h('summary', null, words), this.low, more);
  }

  draw(told: boolean): void {
    const cards = (worth: boolean): HTMLElement[] =>
      this.list.flatMap((f, i) => (isWorth(f) === worth ? [card(this.player, f, i, told, this.rulePage)] : []));
    replace(this.main, ...cards(true));
    replace(this.low, ...cards(false));
    if (told) this.fold.open = true;
  }

  private buttons(): HTMLElement[] {
    return [this.main, this.low].flatMap(x => [...x.querySelectorAll<HTMLElement>('button')]);
  }

  private cardOf(story: number): HTMLElement | null {
    const find = (x: HTMLElement): HTMLElement | null => x.querySelector(`[data-finding="${story}"]`);
    return find(this.main) ?? find(this.low);
  }

  /** Draws again without losing where the keyboard is. */
  redraw(story: number, same: boolean): void {
    const focused = document.activeElement;
    const where = focused instanceof HTMLElement ? this.buttons().indexOf(focused) : -1;
    this.draw(false);
    if (story >= 0 && !isWorth(this.list[story])) this.fold.open = true;
    const here = this.cardOf(Math.max(0, story));
    if (where >= 0 && same) this.buttons()[where]?.focus();
    else if (where >= 0) here?.querySelector<HTMLElement>('.finding-head')?.focus();
    if (story >= 0) here?.scrollIntoView({ block: 'nearest' });
  }
}

export function findings(
  scene: Scene,
  player: Player,
  rulePage: RulePage,
  foot: HTMLElement,
): HTMLElement {
  const { report } = scene.set.info;
  const { answer, not_worth_it } = report;
  const cards = new Cards(
    report.findings,
    player,
    answer.worth_pct,
    not_worth_it.count,
    rulePage,
    rest(report),
  );
  let shown = -1;
  player.at.on(({ story }) => {
    cards.redraw(story, story === shown);
    shown = story;
  });
  addEventListener('beforeprint', () => cards.draw(true));
  addEventListener('afterprint', () => cards.draw(false));
  cards.draw(false);
  return h(
    'aside',
    { class: 'findings', 'aria-label': 'Findings' },
    h('h2', null, 'Findings'),
    intro(report),
    cards.main,
    notSlow(scene, player, answer.not_slow),
    cards.fold.hidden ? rest(report) : cards.fold,
    filling(report),
    idle(report),
    ladder(report, player),
    checks(report),
    foot,
  );
}
