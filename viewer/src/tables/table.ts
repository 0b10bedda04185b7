// table.ts: a table of a document's rows: sorted by a click on a heading, filtered by a word, and
// each row jumps to where it is on the timeline.

import { h, replace, type Child } from '../base/dom';
import { bytes, clean, count, cut, pct, us } from '../base/format';
import { term } from '../base/glossary';
import type { Row, Source } from '../data/head';
import { sourceText } from '../data/source';

export type Kind = 'text' | 'word' | 'us' | 'count' | 'bytes' | 'pct' | 'source' | 'number';

export interface Column {
  key: string;
  label: string;
  kind: Kind;
  /** The glossary's term for it, if it differs from the label. */
  word?: string;
  /** Draws a bar behind the number, relative to the largest of the column. */
  bar?: boolean;
}

export interface TableSpec {
  id: string;
  title: string;
  columns: Column[];
  rows: Row[];
  sort: string;
  /** Smallest first; by default numbers are sorted largest first. */
  ascending?: boolean;
  note?: string;
  empty: string;
  jump?: (row: Row, index: number) => void;
}

const NUMERIC = new Set<Kind>(['us', 'count', 'bytes', 'pct', 'number']);
const NAME_LETTERS = 90;

/** Keys may be paths: "before.cpu_us". */
function valueOf(row: Row, key: string): unknown {
  return key.split('.').reduce<unknown>((v, k) => (v as Row | null | undefined)?.[k], row);
}

export function cellText(value: unknown, kind: Kind): string {
  if (value === null || value === undefined || value === '')
    return kind === 'text' || kind === 'word' || kind === 'source' ? '' : '–';
  switch (kind) {
    case 'us':
      return us(Number(value));
    case 'count':
      return count(Number(value));
    case 'bytes':
      return bytes(Number(value));
    case 'pct':
      return pct(Number(value));
    case 'number':
      return Number(value)
        .toPrecision(3)
        .replace(/\.?0+$/, '');
    case 'word':
      return clean(String(value).replace(/_/g, ' '));
    case 'source':
      return clean(sourceText(value as Source));
    default:
      return clean(Array.isArray(value) ? value.join(' ') : String(value));
  }
}

function compare(a: unknown, b: unknown, numeric: boolean): number {
  if (numeric)
    return (typeof a === 'number' ? a : -Infinity) - (typeof b === 'number' ? b : -Infinity);
  return String(a ?? '').localeCompare(String(b ?? ''));
}

export class Table {
  readonly el: HTMLElement;
  private readonly body = h('tbody');
  private readonly heads = h('tr');
  private readonly status = h('span', { class: 'dim', role: 'status' });
  private key: string;
  private down = true;
  private filter = '';

  constructor(private readonly spec: TableSpec) {
    this.key = spec.sort;
    this.down = !spec.ascending;
    const box = h('input', {
      type: 'search',
      placeholder: 'Filter',
      'aria-label': `Filter ${spec.title}`,
      spellcheck: 'false',
    });
    box.addEventListener('input', () => {
      this.filter = box.value.toLowerCase();
      this.draw();
    });
    box.addEventListener('keydown', e => {
      e.stopPropagation();
      if (e.key === 'Escape') box.blur();
    });
    this.el = h(
      'div',
      { class: 'table' },
      h(
        'div',
        { class: 'table-tools' },
        box,
        this.status,
        spec.note ? h('span', { class: 'dim' }, spec.note) : null,
      ),
      h(
        'div',
        { class: 'table-scroll', tabindex: 0, role: 'region', 'aria-label': spec.title },
        h('table', { 'aria-label': spec.title }, h('thead', null, this.heads), this.body),
      ),
    );
    this.draw();
  }

  private column(): Column {
    return this.spec.columns.find(c => c.key === this.key) ?? this.spec.columns[0];
  }

  private sortBy(column: Column): void {
    this.down = column.key === this.key ? !this.down : NUMERIC.has(column.kind);
    this.key = column.key;
    this.draw();
    this.heads.querySelector<HTMLElement>('[aria-sort] button')?.focus();
  }

  private head(column: Column): HTMLElement {
    const here = column.key === this.key;
    return h(
      'th',
      {
        scope: 'col',
        class: NUMERIC.has(column.kind) ? 'num' : null,
        'aria-sort': here ? (this.down ? 'descending' : 'ascending') : null,
      },
      h(
        'button',
        { type: 'button', onclick: () => this.sortBy(column) },
        term(column.label, column.word ?? column.label),
        h('span', { class: 'sort', 'aria-hidden': 'true' }, here ? (this.down ? '▾' : '▴') : ''),
      ),
    );
  }

  private cell(row: Row, column: Column, most: number): HTMLElement {
    const value = valueOf(row, column.key);
    const text = cellText(value, column.kind);
    if (!NUMERIC.has(column.kind))
      return h(
        'td',
        { class: 'name', title: text.length > NAME_LETTERS ? text.slice(0, 1000) : null },
        h('bdi', null, cut(text, NAME_LETTERS)),
      );
    const td = h('td', { class: 'num' }, text);
    if (column.bar && most > 0 && typeof value === 'number' && value > 0) {
      td.classList.add('bar');
      td.style.setProperty('--share', `${((100 * value) / most).toFixed(1)}%`);
    }
    return td;
  }

  private row(row: Row, index: number, most: Map<string, number>): HTMLElement {
    const { jump, columns } = this.spec;
    const go = (): void => jump?.(row, index);
    const tr = h(
      'tr',
      jump ? { tabindex: 0, class: 'jumps', onclick: go } : null,
      ...columns.map(c => this.cell(row, c, most.get(c.key) ?? 0)),
    );
    tr.addEventListener('keydown', e => {
      const next =
        e.key === 'ArrowDown'
          ? tr.nextElementSibling
          : e.key === 'ArrowUp'
            ? tr.previousElementSibling
            : null;
      if (next) (next as HTMLElement).focus();
      if (e.key === 'Enter') go();
      if (next || e.key === 'Enter') {
        e.preventDefault();
        e.stopPropagation();
      }
    });
    return tr;
  }

  private largest(): Map<string, number> {
    const out = new Map<string, number>();
    for (const c of this.spec.columns)
      if (c.bar)
        out.set(
          c.key,
          this.spec.rows.reduce((m, r) => Math.max(m, Number(valueOf(r, c.key)) || 0), 0),
        );
    return out;
  }

  draw(): void {
    const { rows, columns } = this.spec;
    const by = this.column();
    const numeric = NUMERIC.has(by.kind);
    const sign = this.down ? -1 : 1;
    const kept = rows
      .map((row, index) => ({ row, index }))
      .filter(
        ({ row }) =>
          !this.filter ||
          columns.some(
            c =>
              !NUMERIC.has(c.kind) &&
              cellText(valueOf(row, c.key), c.kind).toLowerCase().includes(this.filter),
          ),
      );
    kept.sort(
      (a, b) =>
        sign * compare(valueOf(a.row, by.key), valueOf(b.row, by.key), numeric) ||
        a.index - b.index,
    );
    const most = this.largest();
    replace(this.heads, ...columns.map(c => this.head(c)));
    const none: Child = h(
      'tr',
      null,
      h(
        'td',
        { colspan: columns.length, class: 'dim' },
        rows.length ? 'No row contains that word.' : this.spec.empty,
      ),
    );
    replace(
      this.body,
      ...(kept.length ? kept.map(({ row, index }) => this.row(row, index, most)) : [none]),
    );
    this.status.textContent = this.filter
      ? `${count(kept.length)} of ${count(rows.length)}`
      : `${count(rows.length)} rows`;
  }
}
