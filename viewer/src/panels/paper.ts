// paper.ts: what a printed page has and a screen does not: the tables under each other, their first
// rows only.

import { h } from '../base/dom';
import { Table, type TableSpec } from '../tables/table';

const ROWS = 25;

export function printTables(app: HTMLElement, specs: TableSpec[]): void {
  let section: HTMLElement | null = null;
  addEventListener('beforeprint', () => {
    section?.remove();
    const parts = specs
      .filter(spec => spec.rows.length)
      .flatMap(spec => [
        h('h2', null, spec.title),
        new Table({ ...spec, rows: spec.rows.slice(0, ROWS), jump: undefined }).el,
      ]);
    section = h('section', { class: 'paper' }, ...parts);
    app.append(section);
  });
  addEventListener('afterprint', () => section?.remove());
}
