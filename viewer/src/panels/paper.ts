// paper.ts: what only a printed page has: light colours, and the tables one below the other with
// their first rows.

import { h } from '../base/dom';
import { theme } from '../base/theme';
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

/** Paper is white. Must be called before the timelines are made: they paint on the same event. */
export function printLight(): void {
  let chosen = theme.value;
  addEventListener('beforeprint', () => {
    chosen = theme.value;
    if (chosen === 'dark') theme.set('light');
  });
  addEventListener('afterprint', () => {
    if (chosen === 'dark') theme.set('dark');
  });
}
