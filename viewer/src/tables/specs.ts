// specs.ts: the tables of a report: the rows of which document, and where a row leads.

import type { Row, SetInfo } from '../data/head';
import { showStage } from '../panels/stage_bars';
import type { Player } from '../panels/story';
import type { Scene } from '../timeline/scene';
import { columns } from './columns';
import type { Column, Kind, TableSpec } from './table';

export function col(key: string, label: string, kind: Kind, more: Partial<Column> = {}): Column {
  return { key, label, kind, ...more };
}

function note(info: SetInfo, key: string): string | undefined {
  const cut = info.page.cut?.[key];
  return cut
    ? `the first ${cut.shown.toLocaleString('en-US')} of ${cut.of.toLocaleString('en-US')}`
    : undefined;
}

/** Goes to the longest span of a name, on a device or on a thread. */
function showName(scene: Scene, name: string, onDevice: boolean): void {
  const { set } = scene;
  const id = set.names.find(name);
  let best = -1;
  for (const { info } of set.tracks) {
    if ((info.kind === 'stream' || info.kind === 'gpu_note') !== onDevice) continue;
    for (let i = info.first; i < info.first + info.n; i++)
      if (set.name[i] === id && (best < 0 || set.dur[i] > set.dur[best])) best = i;
  }
  if (best >= 0) scene.goTo(best);
}

function stages(scene: Scene): TableSpec {
  return {
    id: 'stages',
    title: 'Stages',
    sort: 'cpu_us',
    rows: scene.set.info.stages.stages,
    empty: 'No stages: the program marks none, and nothing in the trace shows its parts.',
    jump: row => showStage(scene, String(row['path'])),
    columns: columns('stages'),
  };
}

function steps(scene: Scene): TableSpec {
  return {
    id: 'steps',
    title: 'Steps',
    sort: 'start_us',
    rows: scene.set.info.steps.steps,
    empty: 'No loop was found in this trace.',
    jump: row =>
      scene.view.show(
        {
          start: Number(row['start_us']) * 1000,
          end: (Number(row['start_us']) + Number(row['dur_us'])) * 1000,
        },
        0.02,
      ),
    columns: columns('steps'),
  };
}

function kernels(scene: Scene): TableSpec {
  return {
    id: 'kernels',
    title: 'Kernels',
    sort: 'total_us',
    rows: scene.set.info.kernels.rows,
    note: note(scene.set.info, 'kernels'),
    empty: 'The trace has no device work.',
    jump: row => showName(scene, String(row['name']), true),
    columns: columns('kernels'),
  };
}

function ops(scene: Scene): TableSpec {
  return {
    id: 'ops',
    title: 'Operators',
    sort: 'self_cpu_us',
    rows: scene.set.info.table.rows,
    note: note(scene.set.info, 'table'),
    empty: 'No operators were recorded.',
    jump: row => showName(scene, String(row['name']), row['device'] !== 'cpu'),
    columns: columns('table'),
  };
}

function syncs(scene: Scene, player: Player): TableSpec {
  return {
    id: 'syncs',
    title: 'Syncs',
    sort: 'exposed_us',
    rows: scene.set.info.syncs.sites,
    empty: 'The CPU never waits for the GPU.',
    jump: (row, index) => {
      const site = scene.set.page.sites[index];
      if (site?.story?.steps.length) player.tell(site.story);
      else if (site?.spans.length) scene.goTo(site.spans[0]);
      else if (typeof row['first_us'] === 'number')
        scene.view.show({
          start: row['first_us'] * 1000,
          end: row['first_us'] * 1000 + Math.max(Number(row['longest_us']), 10) * 1000,
        });
    },
    columns: columns('syncs'),
  };
}

function causes(scene: Scene): TableSpec {
  return {
    id: 'causes',
    title: 'Idle by cause',
    sort: 'idle_us',
    rows: scene.set.info.gaps.causes,
    empty: 'The GPU is never idle.',
    jump: row => {
      const at = scene.set.info.gaps.gaps.findIndex(g =>
        (g['causes'] as Row[] | undefined)?.some(
          c => c['kind'] === row['kind'] && c['name'] === row['name'],
        ),
      );
      const gap = scene.set.page.gaps[at];
      if (gap) showGap(scene, gap);
    },
    columns: columns('causes'),
  };
}

function showGap(scene: Scene, gap: SetInfo['page']['gaps'][number]): void {
  const spans = [gap.prev, gap.next, gap.launch].filter((x): x is number => x !== null);
  scene.light.set({
    spans,
    frames: [],
    mark: { kind: 'exposed', ranges: [{ start: gap.t0_ns, end: gap.t1_ns }] },
    arrows: gap.launch !== null && gap.next !== null ? [{ from: gap.launch, to: gap.next }] : [],
  });
  scene.view.show({ start: gap.t0_ns, end: gap.t1_ns }, 0.4);
  if (gap.launch !== null) scene.reveal.set(gap.launch);
}

function gaps(scene: Scene): TableSpec {
  const rows = scene.set.info.gaps.gaps.map((g): Row => ({
    ...g,
    cause: (g['causes'] as Row[] | undefined)?.[0],
  }));
  return {
    id: 'gaps',
    title: 'Gaps',
    sort: 'dur_us',
    rows,
    note: note(scene.set.info, 'gaps'),
    empty: 'No gap is long enough to list.',
    jump: (_row, index) => {
      const gap = scene.set.page.gaps[index];
      if (gap) showGap(scene, gap);
    },
    columns: [...columns('gaps'), ...columns('gap_causes', 'cause.')],
  };
}

export function reportTables(scene: Scene, player: Player): TableSpec[] {
  return [
    stages(scene),
    steps(scene),
    kernels(scene),
    ops(scene),
    syncs(scene, player),
    causes(scene),
    gaps(scene),
  ];
}
