// ranks_page.ts: many ranks: who is late and why, a few steps of all of them on one clock, the critical path
// as a list, and the tables.

import { h, type Child } from '../base/dom';
import { toggleTheme } from '../base/theme';
import { capital } from '../data/answer';
import type { Head, Row } from '../data/head';
import { helpDialog } from '../panels/help';
import { badge, heroOf } from '../panels/hero';
import { foot, titleBar } from '../panels/title';
import { columns } from '../tables/columns';
import { col } from '../tables/specs';
import { Table, type TableSpec } from '../tables/table';
import type { Chart, Collective, Hop, RanksDoc } from './doc';
import { RanksChart } from './ranks_chart';

function verdict(doc: RanksDoc): HTMLElement {
  const { opportunity } = doc;
  const [first, ...schedule] = doc.schedule;
  const headline = doc.headline ?? doc.no_answer ?? first ?? 'No collective in common';
  const more = doc.stragglers.length - doc.late.length;
  const el = heroOf({
    opportunity,
    headline: capital(headline),
    details: [
      doc.gain,
      ...doc.late.map(capital),
      ...(doc.headline ? doc.schedule : schedule).map(capital),
      more > 0 ? `${more} more ranks are late.` : null,
    ],
    state: [badge(opportunity)],
    more: doc.doubts.map(text => h('p', { class: 'doubt', role: 'note' }, h('bdi', null, text))),
  });
  el.classList.add('ranks-verdict');
  return el;
}

function ranksTable(rows: Row[]): TableSpec {
  return {
    id: 'ranks',
    title: 'Ranks',
    sort: 'rank',
    ascending: true,
    rows,
    empty: 'No rank.',
    columns: columns('ranks'),
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
      const begin = Math.min(...c.arrivals.map(m => m[1]));
      const margin = (c.end_ns - begin) / 2;
      drawn.show(begin - margin, c.end_ns + margin);
    },
    columns: columns('collectives'),
  };
}

function pathTable(chart: Chart, drawn: RanksChart): TableSpec {
  return {
    id: 'path',
    title: 'Critical path',
    sort: 'start_us',
    ascending: true,
    rows: chart.path.map(hop => ({ ...hop, start_us: (chart.begin_ns + hop.start_ns) / 1000 })),
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

/** "critical path: transfers 15 %": the heading says the first half already. */
const withoutHeading = (words: string | null): string | null =>
  words && capital(words.slice(words.indexOf(': ') + 1).trim());

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
      h(
        'div',
        { class: 'ranks-tables' },
        section('Critical path', withoutHeading(doc.path_words), pathTable(doc.chart, drawn)),
        section('Collectives in sight', doc.clocks_words && capital(doc.clocks_words), collectivesTable(doc.chart, drawn)),
      ),
    );
  }
  parts.push(section('Ranks', null, ranksTable(doc.ranks)), foot(head));
  document.addEventListener('keydown', e => {
    if (e.target instanceof HTMLInputElement) return;
    if (e.key === 't') toggleTheme();
    if (e.key === '?') help.showModal();
  });
  app.append(titleBar(head.title, doc.who, help), h('main', { class: 'ranks-page' }, ...parts), help);
}
