// diff_page.ts: two traces over each other, aligned by step, with what changed at the left.

import { h, type Child } from '../base/dom';
import { count } from '../base/format';
import type { Head } from '../data/head';
import type { Loaded } from '../data/load';
import { Drawer, type Tab } from '../panels/drawer';
import { helpDialog } from '../panels/help';
import { followAddress } from '../panels/address';
import { listenKeys } from '../panels/keyboard';
import { Search } from '../panels/search';
import { selection } from '../panels/selection';
import { foot, note, titleBar } from '../panels/title';
import { legend, toolbar } from '../panels/toolbar';
import { Table } from '../tables/table';
import { Scene } from '../timeline/scene';
import { Timeline } from '../timeline/timeline';
import { changes } from './changes';
import { linkViews } from './link';
import { diffTables } from './tables';
import { diffTop } from './verdict';

interface Side {
  scene: Scene;
  timeline: Timeline;
  search: Search;
}

function sideOf(set: Loaded['sets'][number]): Side {
  const scene = new Scene(set);
  const timeline = new Timeline(scene);
  return { scene, timeline, search: new Search(scene, () => timeline.over.focus()) };
}

function fileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function sideEl({ scene, timeline, search }: Side, name: string, extra: Child[]): HTMLElement {
  const { info, page } = scene.set;
  const title = h(
    'h2',
    { class: 'side-name' },
    name + ' ',
    h('bdi', { class: 'dim' }, fileName(info.path)),
  );
  return h(
    'section',
    { class: 'side', 'aria-label': name },
    toolbar(scene, search, [title], extra),
    note(page.detail.words),
    timeline.el,
  );
}

/** The button that links the two views, or unlinks them. */
function lockButton(link: { on: boolean }, by: string, again: () => void): HTMLElement {
  const button = h(
    'button',
    { type: 'button', class: 'toggle', 'aria-pressed': 'true' },
    by === 'step' ? 'Aligned by step' : 'Aligned by start',
  );
  button.addEventListener('click', () => {
    link.on = !link.on;
    button.setAttribute('aria-pressed', String(link.on));
    if (link.on) again();
  });
  return button;
}

function drawerOf(head: Head, scenes: Scene[]): Drawer {
  const tables = diffTables(head, scenes).map((spec): Tab => ({
    id: spec.id,
    title: spec.title,
    count: count(spec.rows.length),
    make: () => new Table(spec).el,
  }));
  const chosen = scenes.map((scene, k): Tab => ({
    id: 'selection-' + k,
    title: k ? 'Selection after' : 'Selection before',
    make: () => selection(scene),
  }));
  const drawer = new Drawer([...tables, ...chosen]);
  scenes.forEach((scene, k) => {
    scene.selected.on(i => i >= 0 && drawer.open('selection-' + k));
    scene.range.on(r => r && drawer.open('selection-' + k));
  });
  return drawer;
}

/** The keys go to the timeline that was last pointed at or focused. */
function shareKeys(sides: Side[], help: HTMLDialogElement): void {
  let current = sides[0];
  for (const side of sides) {
    side.timeline.el.addEventListener('pointerenter', () => (current = side));
    side.timeline.over.addEventListener('focus', () => (current = side));
  }
  listenKeys(() => ({ ...current, player: null, help }));
}

export function diffPage(app: HTMLElement, { head, sets }: Loaded): void {
  const sides = sets.map(sideOf);
  const [before, after] = sides;
  const scenes = sides.map(s => s.scene);
  const help = helpDialog();
  const link = linkViews(before.scene, after.scene, head.align);
  const { view } = before.scene;
  const lock = lockButton(link, head.align?.by ?? 'start', () => view.set(view.target));
  const title = sets.map(set => fileName(set.info.path)).join(' → ');
  shareKeys(sides, help);
  app.append(
    titleBar(title, 'comparison', help),
    diffTop(head),
    h(
      'main',
      { class: 'work' },
      changes(scenes, head.diff ?? {}, foot(head)),
      h(
        'div',
        { class: 'center' },
        sideEl(before, 'Before', [lock]),
        sideEl(after, 'After', [legend(after.scene)]),
        drawerOf(head, scenes).el,
      ),
    ),
    help,
  );
  view.set(view.home);
  followAddress(before.scene);
}
