// ranks_page.ts: many ranks: who is late and why, a few steps of all of them on one clock, the critical path
// as a list, and the tables.

import { h, type Child } from '../base/dom';
import { toggleTheme } from '../base/theme';
import type { Head, Row } from '../data/head';
import { helpDialog } from '../panels/help';
import { titleBar } from '../panels/title';
import { col } from '../tables/specs';
import { Table, type TableSpec } from '../tables/table';
import type { Chart, Collective, Hop, RanksDoc } from './doc';
import { RanksChart } from './ranks_chart';

function verdict(doc: RanksDoc): HTMLElement {
  const none = doc.no_answer ?? 'no straggler: no rank keeps the others waiting';
  const sign = doc.no_answer ? 'unknown' : 'good';
  const found = [...doc.late, ...doc.schedule];
  const items: Child[] = found.length
    ? found.map(text => h('li', { class: 'bad' }, h('bdi', null, text)))
    : [h('li', { class: sign }, none)];
  const more = doc.stragglers.length - doc.late.length;
  return h(
    'section',
    { class: 'ranks-verdict' },
    ...doc.doubts.map(text => h('p', { class: 'doubt', role: 'note' }, h('bdi', null, text))),
    h('ul', null, ...items, more > 0 && h('li', { class: 'bad' }, `${more} more ranks are late`)),
    doc.step ? h('p', { class: 'ranks-step-words' }, doc.step) : null,
  );
}

function ranksTable(rows: Row[]): TableSpec {
  return {
    id: 'ranks',
    title: 'Ranks',
    sort: 'rank',
    ascending: true,
    rows,
    empty: 'No rank.',
    columns: [
      col('rank', 'rank', 'count'),
      col('host', 'host', 'text'),
      col('wall_us', 'wall', 'us'),
      col('compute_us', 'compute', 'us', { bar: true }),
      col('comm_us', 'communication', 'us', { bar: true }),
      col('exposed_comm_us', 'exposed', 'us', { bar: true }),
      col('exposed_comm_pct', 'of wall', 'pct'),
      col('wait_us', 'waits', 'us', { bar: true }),
      col('idle_us', 'idle', 'us', { bar: true }),
      col('path', 'trace', 'text'),
    ],
  };
}

function collectivesTable(chart: Chart, drawn: RanksChart): TableSpec {
  return {
    id: 'collectives',
    title: 'Collectives',
    sort: 'spread_us',
    rows: chart.collectives,
    empty: 'No collective.',
    jump: row => {
      const c = row as Collective;
      const begin = Math.min(...c.members.map(m => m[1]));
      const margin = (c.end_ns - begin) / 2;
      drawn.show(begin - margin, c.end_ns + margin);
    },
    columns: [
      col('name', 'collective', 'text'),
      col('group', 'group', 'text'),
      col('seq', 'number', 'count'),
      col('of', 'ranks', 'count'),
      col('bytes', 'bytes', 'bytes'),
      col('transfer_us', 'transfer', 'us', { bar: true }),
      col('spread_us', 'apart', 'us', { bar: true }),
      col('last_rank', 'last rank', 'count'),
    ],
  };
}

function pathTable(chart: Chart, drawn: RanksChart): TableSpec {
  return {
    id: 'path',
    title: 'Critical path',
    sort: 'start_us',
    ascending: true,
    rows: chart.path.map(hop => ({ ...hop, start_us: hop.start_ns / 1000 })),
    empty: 'No collective.',
    jump: row => {
      const hop = row as Hop;
      const length = (hop.own_us + hop.transfer_us) * 1000;
      drawn.show(hop.start_ns - length / 4, hop.start_ns + 1.25 * length);
    },
    columns: [
      col('start_us', 'from', 'us'),
      col('rank', 'rank', 'count'),
      col('own_us', 'its own time', 'us', { bar: true }),
      col('collective', 'then', 'text'),
      col('group', 'group', 'text'),
      col('seq', 'number', 'count'),
      col('transfer_us', 'transfer', 'us', { bar: true }),
    ],
  };
}

function section(title: string, words: string | null, table: TableSpec): HTMLElement {
  return h(
    'section',
    { class: 'ranks-section', id: `ranks-${table.id}` },
    h('h3', null, title),
    words ? h('p', { class: 'dim' }, words) : null,
    new Table(table).el,
  );
}

export function ranksPage(app: HTMLElement, head: Head, doc: RanksDoc): void {
  const help = helpDialog();
  const parts: Child[] = [verdict(doc)];
  if (doc.chart) {
    const drawn = new RanksChart(doc.chart);
    parts.push(
      drawn.el,
      section('Critical path', doc.path_words, pathTable(doc.chart, drawn)),
      section('Collectives in sight', doc.clocks_words, collectivesTable(doc.chart, drawn)),
    );
  }
  parts.push(section('Ranks', null, ranksTable(doc.ranks)));
  document.addEventListener('keydown', e => {
    if (e.target instanceof HTMLInputElement) return;
    if (e.key === 't') toggleTheme();
    if (e.key === '?') help.showModal();
  });
  app.append(titleBar(head.title, doc.who, help), h('main', { class: 'ranks-page' }, ...parts), help);
}
