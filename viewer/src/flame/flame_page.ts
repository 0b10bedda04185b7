// flame_page.ts: a flame graph: the outermost frame on top, as wide as its time. It begins at the first
// fork; the frames above stand as a path. A click makes a frame as wide as the page, Escape goes back to
// the fork above, a search lights up what it finds, and buttons switch between kinds of time.

import { h, replace } from '../base/dom';
import { count, ns, pct } from '../base/format';
import type { Head } from '../data/head';
import { helpDialog } from '../panels/help';
import { heroOf } from '../panels/hero';
import { foot, titleBar } from '../panels/title';
import {
  buildTree,
  firstFork,
  forkAbove,
  largestPart,
  layout,
  matched,
  words,
  type Box,
  type FlameDoc,
  type Node,
} from './tree';

const ROWS_PX = [22, 30];
/** Height of the page without the graph. */
const AROUND_PX = 280;
const LEAST = 0.0008;
/** Boxes at least this wide have a name; wider ones say their share. */
const NAME_FROM = 0.025;
const SHARE_FROM = 0.12;
/** Longer paths are shortened in the middle. */
const PATH_ENDS = 3;

const KINDS: Record<string, string> = { gpu: 'GPU', cpu: 'CPU', idle: 'GPU idle', wait: 'CPU waits' };

class Graph {
  readonly el = h('div', { class: 'flame-graph' });
  readonly found = h('span', { class: 'flame-found', 'aria-live': 'polite' });
  readonly root: Node;
  private readonly picture = h('div', { class: 'flame', role: 'tree', tabindex: 0 });
  private readonly path = h('nav', { class: 'flame-path', 'aria-label': 'Frames above' });
  private readonly where = h('p', { class: 'flame-where', 'aria-live': 'polite' });
  private top: Node;
  private whole = false;
  private query = '';
  private row = ROWS_PX[0];

  constructor(doc: FlameDoc) {
    this.root = buildTree(doc);
    this.top = firstFork(this.root);
    const left = doc.left_out
      ? h(
          'p',
          { class: 'dim small' },
          `${count(doc.left_out)} stacks too narrow to draw are part of the frame above them.`,
        )
      : null;
    replace(this.el, this.path, this.picture, this.where, left);
    this.zoom(this.top);
  }

  zoom(node: Node): void {
    this.top = node;
    this.whole = false;
    this.draw();
    this.say(node);
  }

  out(): void {
    if (this.top.parent) this.zoom(forkAbove(this.top));
  }

  search(text: string): void {
    this.query = text.toLowerCase();
    this.draw();
    const part = this.query ? matched(this.root, f => this.hits(words(f))) : 0;
    this.found.textContent = this.query ? `${ns(part)}, ${this.share(part)} of it` : '';
  }

  /** Where most of the time is, in a sentence. */
  most(): string | null {
    const part = largestPart(this.root);
    return part && `The largest part is ${words(part.frame)}: ${ns(part.total)} (${this.share(part.total)}).`;
  }

  private hits(text: string): boolean {
    return this.query !== '' && text.toLowerCase().includes(this.query);
  }

  private share(part: number): string {
    return pct((100 * part) / (this.root.total || 1));
  }

  private say(node: Node): void {
    const own = node.self > 0 ? `, ${ns(node.self)} in itself` : '';
    const times = node.count > 0 ? `, ${count(node.count)} times` : '';
    this.where.textContent = `${words(node.frame)}: ${ns(node.total)}, ${this.share(node.total)}${own}${times}`;
  }

  /** The frames above what is drawn, outermost first. */
  private drawPath(): void {
    const above: Node[] = [];
    for (let n = this.top.parent; n; n = n.parent) above.unshift(n);
    const crumb = (node: Node): HTMLElement =>
      h(
        'button',
        { type: 'button', class: 'link', title: words(node.frame), onclick: () => this.zoom(node) },
        h('bdi', null, node.frame.name),
      );
    const middle = above.slice(PATH_ENDS, -PATH_ENDS);
    const hidden = this.whole || middle.length < 2 ? [] : middle;
    const more = h(
      'button',
      {
        type: 'button',
        class: 'link dim',
        onclick: () => {
          this.whole = true;
          this.drawPath();
        },
      },
      `… ${count(hidden.length)} frames …`,
    );
    const parts = above.map(crumb);
    if (hidden.length) parts.splice(PATH_ENDS, hidden.length, more);
    replace(this.path, ...parts.flatMap(p => [p, h('span', { class: 'dim' }, '›')]));
  }

  private draw(): void {
    const boxes = layout(this.top, LEAST);
    const deepest = boxes.reduce((most, b) => Math.max(most, b.level), 0);
    const row = Math.floor((innerHeight - AROUND_PX) / (deepest + 1));
    this.row = Math.min(Math.max(row, ROWS_PX[0]), ROWS_PX[1]);
    this.picture.style.height = `${(deepest + 1) * this.row}px`;
    this.picture.style.setProperty('--row', `${this.row - 1}px`);
    this.drawPath();
    replace(this.picture, ...boxes.map(b => this.box(b)));
  }

  private box({ node, x, width, level }: Box): HTMLElement {
    const { frame, total } = node;
    const text = words(frame);
    const file = text.slice(frame.name.length);
    const el = h(
      'button',
      {
        type: 'button',
        tabindex: -1,
        role: 'treeitem',
        class: `flame-box kind-${frame.kind}${this.hits(text) ? ' hit' : ''}`,
        title: `${text}\n${ns(total)}, ${this.share(total)}`,
        'data-node': node.id,
        onclick: () => this.zoom(node),
        onmouseenter: () => this.say(node),
      },
      width < NAME_FROM
        ? null
        : h('bdi', null, frame.name, file ? h('span', { class: 'flame-file' }, file) : null),
      width >= SHARE_FROM ? h('span', { class: 'flame-share' }, this.share(total)) : null,
    );
    el.style.left = `${100 * x}%`;
    el.style.width = `${100 * width}%`;
    el.style.top = `${level * this.row}px`;
    return el;
  }
}

export function flamePage(app: HTMLElement, head: Head, first: FlameDoc): void {
  const help = helpDialog();
  const all = [first, ...(head.flames ?? [])];
  const docs = Object.keys(KINDS).flatMap(of => all.filter(d => d.of === of));
  const graphs = new Map<FlameDoc, Graph>();
  const place = h('div');
  const top = h('div');
  const found = h('span');
  let graph: Graph;
  const search = h('input', {
    type: 'search',
    placeholder: 'Search frames  /',
    'aria-label': 'Search frames',
    oninput: () => graph.search(search.value),
  });
  const tabs = docs.map(doc =>
    h('button', { type: 'button', onclick: () => show(doc) }, KINDS[doc.of] ?? doc.of),
  );
  const show = (doc: FlameDoc): void => {
    graph = graphs.get(doc) ?? new Graph(doc);
    graphs.set(doc, graph);
    graph.search(search.value);
    docs.forEach((d, i) => tabs[i].setAttribute('aria-pressed', String(d === doc)));
    const headline = `${doc.title}: ${ns(doc.total_ns)}`;
    replace(top, heroOf({ opportunity: 'unknown', headline, details: [graph.most()] }));
    replace(place, graph.el);
    replace(found, graph.found);
  };
  show(first);
  document.addEventListener('keydown', e => {
    if (e.key === 'Escape' && !help.open) graph.out();
    if (e.key === '/' && e.target !== search) {
      e.preventDefault();
      search.focus();
    }
  });
  app.append(
    titleBar(head.title, '', help),
    top,
    h(
      'main',
      { class: 'flame-page' },
      h(
        'div',
        { class: 'flame-tools' },
        docs.length > 1
          ? h('div', { class: 'switch', role: 'group', 'aria-label': 'Which time' }, ...tabs)
          : null,
        search,
        found,
      ),
      place,
      foot(head),
    ),
    help,
  );
}
