// columns.ts: the columns of tables. They come with the data, from the tables that the program declares
// its results in: which there are, key, heading, unit, term and bar.

import type { Row } from '../data/head';
import type { Column, Kind } from './table';

/** Key, heading, kind, the term of the glossary if it differs from the heading, and whether there is a
 *  bar behind the number. */
export type DeclaredColumn = [string, string, Kind, string | null, boolean];

let declared: Record<string, DeclaredColumn[]> = {};

export function setColumns(columns: Record<string, DeclaredColumn[]>): void {
  declared = columns;
}

/** The columns of a list; `path` leads to its rows: "cause.". */
export function columns(list: string, path = ''): Column[] {
  return (declared[list] ?? []).map(([key, label, kind, word, bar]) => ({
    key: path + key,
    label,
    kind,
    word: word ?? undefined,
    bar,
  }));
}

/** What such a row holds before and after a change, next to each other. */
export function pairs(list: string, row: Row | undefined): Column[] {
  return columns(list)
    .filter(c => row && c.key in row)
    .flatMap(c => [
      { ...c, bar: false, key: `before.${c.key}`, label: `${c.label} before` },
      { ...c, bar: false, key: `after.${c.key}`, label: 'after' },
    ]);
}
