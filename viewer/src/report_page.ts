// report_page.ts: puts the parts of a report together: the answer on top, findings at the left, the
// timeline they drive, and the tables under it.

import { copyButton } from './base/clipboard';
import { h } from './base/dom';
import { count } from './base/format';
import { reportCharts } from './charts/report_charts';
import { type Answer, inPrint } from './data/answer';
import type { Loaded } from './data/load';
import { followAddress } from './panels/address';
import { Drawer, type Tab } from './panels/drawer';
import { documentTabs } from './panels/documents';
import { findings } from './panels/findings';
import { helpDialog } from './panels/help';
import { badge, folded, hero, toggleFolded } from './panels/hero';
import { listenKeys } from './panels/keyboard';
import { reportMarkdown } from './panels/markdown';
import { printTables } from './panels/paper';
import { RulePage } from './panels/rule_page';
import { Search } from './panels/search';
import { selection } from './panels/selection';
import { Player } from './panels/story';
import { foot, note, titleBar } from './panels/title';
import { legend, toolbar } from './panels/toolbar';
import { Scene } from './timeline/scene';
import { Timeline } from './timeline/timeline';
import { reportTables } from './tables/specs';
import { Table } from './tables/table';

function headlineOf(headline: string, title: string): string {
  return (headline.startsWith(title) ? headline.slice(title.length) : headline)
    .trim()
    .replace(/ {2,}/g, ' · ');
}

/** In the title bar: what was recorded, and the answer while the summary is folded. */
function titleWords(recorded: string, answer: Answer): HTMLElement {
  const el = h('span');
  const show = (): void => {
    el.replaceChildren(
      ...(folded.value
        ? [badge(answer.opportunity), ' ', h('b', { class: 'folded-answer' }, inPrint(answer.headline))]
        : [recorded]),
    );
  };
  folded.on(show);
  show();
  return el;
}

function foldButton(): HTMLElement {
  const button = h('button', { type: 'button', class: 'fold', onclick: toggleFolded });
  const show = (): void => {
    button.textContent = folded.value ? 'More' : 'Less';
    button.title = `${folded.value ? 'Show' : 'Hide'} the summary (H)`;
    button.setAttribute('aria-expanded', String(!folded.value));
  };
  folded.on(show);
  show();
  return button;
}

export function reportPage(app: HTMLElement, { head, sets }: Loaded): Timeline {
  const scene = new Scene(sets[0]);
  const timeline = new Timeline(scene);
  const { info, page } = scene.set;
  const { answer } = info.report;
  const player = new Player(scene, page.stories);
  const help = helpDialog();
  const rulePage = new RulePage(head.rules ?? {});
  const search = new Search(scene, () => timeline.over.focus());
  const tables = reportTables(scene, player);
  const tabs: Tab[] = [
    { id: 'selection', title: 'Selection', make: () => selection(scene) },
    ...tables.map((spec): Tab => ({
      id: spec.id,
      title: spec.title,
      count: count(page.cut?.[spec.id]?.of ?? spec.rows.length),
      make: () => new Table(spec).el,
    })),
    { id: 'charts', title: 'Charts', make: () => reportCharts(scene) },
    ...documentTabs(head),
  ];
  const drawer = new Drawer(tabs);
  scene.selected.on(i => {
    if (i >= 0) drawer.open('selection');
  });
  scene.range.on(r => {
    if (r) drawer.open('selection');
  });
  listenKeys(() => ({ scene, timeline, player, search, help }));
  app.append(
    titleBar(head.title, titleWords(headlineOf(info.headline, head.title), answer), help, [
      copyButton('Copy as Markdown', 'The answer and the findings as Markdown', () =>
        reportMarkdown(head.title, info.report),
      ),
      foldButton(),
    ]),
    hero(scene),
    h(
      'main',
      { class: 'work' },
      findings(scene, player, rulePage, foot(head)),
      h(
        'div',
        { class: 'center' },
        toolbar(scene, search, [], [legend(scene)]),
        note(page.detail.words),
        timeline.el,
        drawer.el,
      ),
    ),
    help,
    rulePage.el,
  );
  printTables(app, tables);
  followAddress(scene);
  return timeline;
}
