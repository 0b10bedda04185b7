// tables.ts: the tables of a comparison.

import type { Head, Row } from '../data/head';
import { showStage } from '../panels/stage_bars';
import { columns, pairs } from '../tables/columns';
import { col } from '../tables/specs';
import type { TableSpec } from '../tables/table';
import type { Scene } from '../timeline/scene';

function stages(diff: Row, scenes: Scene[]): TableSpec {
  const rows = (diff['stages'] ?? []) as Row[];
  const sides = rows.flatMap(r => [r['before'], r['after']]).filter(Boolean) as Row[];
  return {
    id: 'stages',
    title: 'Stages',
    sort: 'before.cpu_us',
    rows,
    empty: 'Neither program marks stages.',
    jump: row => scenes.forEach(scene => showStage(scene, String(row['path']))),
    columns: [
      ...columns('stages').filter(c => c.key === 'path'),
      ...pairs('stages', sides[0]),
    ],
  };
}

function parts(diff: Row): TableSpec {
  return {
    id: 'parts',
    title: 'All changes',
    sort: 'change_us',
    rows: (diff['parts'] ?? []) as Row[],
    empty: 'Nothing changed.',
    columns: [
      col('kind', 'kind', 'text'),
      col('name', 'name', 'text'),
      col('before_us', 'before', 'us', { bar: true }),
      col('after_us', 'after', 'us', { bar: true }),
      col('change_us', 'change', 'us'),
    ],
  };
}

function families(diff: Row): TableSpec {
  return {
    id: 'families',
    title: 'Kernel families',
    sort: 'before_us',
    rows: ((diff['kernels'] as Row | undefined)?.['families'] ?? []) as Row[],
    empty: 'Neither trace has device work.',
    columns: [
      col('family', 'family', 'text'),
      col('before', 'calls before', 'count'),
      col('after', 'after', 'count'),
      col('before_us', 'time before', 'us', { bar: true }),
      col('after_us', 'after', 'us', { bar: true }),
    ],
  };
}

/** Kernels of one trace that the other does not have. */
function only(scenes: Scene[]): Row[] {
  const rows = scenes.map(s => s.set.info.kernels.rows);
  const names = rows.map(list => new Set(list.map(r => r['name'])));
  return rows.flatMap((list, k) =>
    list
      .filter(r => !names[1 - k].has(r['name']))
      .map((r): Row => ({ ...r, where: k ? 'new' : 'gone' })),
  );
}

function goneAndNew(scenes: Scene[]): TableSpec {
  return {
    id: 'names',
    title: 'Kernels gone or new',
    sort: 'total_us',
    rows: only(scenes),
    empty: 'Both traces have the same kernels.',
    columns: [col('where', '', 'text'), ...columns('kernels')],
  };
}

export function diffTables(head: Head, scenes: Scene[]): TableSpec[] {
  const diff = head.diff ?? {};
  return [stages(diff, scenes), parts(diff), families(diff), goneAndNew(scenes)];
}
