// flame_page.ts: a flame graph: the outermost frame on top, as wide as its time. A click makes a frame as
// wide as the page, Escape or a click on what is above it goes back; a search lights up what it finds.

import { h, replace } from '../base/dom';
import { count, ns, pct } from '../base/format';
import type { Head } from '../data/head';
import { helpDialog } from '../panels/help';
import { titleBar } from '../panels/title';
import { buildTree, layout, matched, words, type Box, type FlameDoc, type Node } from './tree';

const ROW = 20;
const LEAST = 0.0008;

class Graph {
  readonly root: Node;
  readonly picture = h('div', { class: 'flame', role: 'tree', tabindex: 0 });
  readonly where = h('p', { class: 'flame-where', 'aria-live': 'polite' });
  readonly found = h('span', { class: 'flame-found', 'aria-live': 'polite' });
  private top: Node;
  private query = '';

  constructor(doc: FlameDoc) {
    this.root = buildTree(doc);
    this.top = this.root;
    this.draw();
    this.say(this.root);
  }

  zoom(node: Node): void {
    this.top = node;
    this.draw();
    this.say(node);
  }

  out(): void {
    if (this.top.parent) this.zoom(this.top.parent);
  }

  search(text: string): void {
    this.query = text.toLowerCase();
    this.draw();
    const part = this.query ? matched(this.root, f => this.hits(words(f))) : 0;
    this.found.textContent = this.query
      ? `${ns(part)}, ${pct((100 * part) / (this.root.total || 1))} of it`
      : '';
  }

  private hits(text: string): boolean {
    return this.query !== '' && text.toLowerCase().includes(this.query);
  }

  private say(node: Node): void {
    const share = pct((100 * node.total) / (this.root.total || 1));
    const own = node.self > 0 ? `, ${ns(node.self)} in itself` : '';
    const times = node.count > 0 ? `, ${count(node.count)} times` : '';
    this.where.textContent = `${words(node.frame)}: ${ns(node.total)}, ${share}${own}${times}`;
  }

  private path(): Node[] {
    const up: Node[] = [];
    for (let n = this.top.parent; n; n = n.parent) up.unshift(n);
    return up;
  }

  private draw(): void {
    const above = this.path();
    const boxes = layout(this.top, LEAST);
    const deepest = boxes.reduce((most, b) => Math.max(most, b.level), 0);
    this.picture.style.height = `${(above.length + deepest + 1) * ROW}px`;
    replace(
      this.picture,
      ...above.map((node, i) => this.box({ node, x: 0, width: 1, level: i }, true)),
      ...boxes.map(b => this.box({ ...b, level: b.level + above.length }, false)),
    );
  }

  private box({ node, x, width, level }: Box, dim: boolean): HTMLElement {
    const text = words(node.frame);
    const hit = this.hits(text) ? ' hit' : '';
    const el = h(
      'button',
      {
        type: 'button',
        tabindex: -1,
        role: 'treeitem',
        class: `flame-box kind-${node.frame.kind}${dim ? ' above' : ''}${hit}`,
        title: `${text}\n${ns(node.total)}, ${pct((100 * node.total) / (this.root.total || 1))}`,
        'data-node': node.id,
        onclick: () => this.zoom(node),
        onmouseenter: () => this.say(node),
      },
      h('bdi', null, text),
    );
    el.style.left = `${100 * x}%`;
    el.style.width = `${100 * width}%`;
    el.style.top = `${level * ROW}px`;
    return el;
  }
}

export function flamePage(app: HTMLElement, head: Head, doc: FlameDoc): void {
  const help = helpDialog();
  const graph = new Graph(doc);
  const search = h('input', {
    type: 'search',
    placeholder: 'search frames',
    'aria-label': 'Search frames',
    oninput: () => graph.search(search.value),
  });
  const left = doc.left_out
    ? h('p', { class: 'omitted', role: 'note' }, `${count(doc.left_out)} stacks too narrow to draw are part of the frame above them.`)
    : null;
  document.addEventListener('keydown', e => {
    if (e.key === 'Escape' && !help.open) graph.out();
    if (e.key === '/' && e.target !== search) {
      e.preventDefault();
      search.focus();
    }
  });
  app.append(
    titleBar(head.title, `${doc.title}: ${ns(doc.total_ns)}`, help),
    h(
      'main',
      { class: 'flame-page' },
      h('div', { class: 'flame-tools' }, search, graph.found),
      graph.where,
      graph.picture,
      left,
    ),
    help,
  );
}
