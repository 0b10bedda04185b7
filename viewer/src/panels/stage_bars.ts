// stage_bars.ts: the stages as two bars over each other, GPU time and CPU time: a stage that is
// wide below and thin above keeps the CPU busy and the GPU not.

import { h, s } from '../base/dom';
import { us, count, cut } from '../base/format';
import { hideTip, showTip } from '../base/tooltip';
import type { Stage } from '../data/head';
import type { Scene } from '../timeline/scene';

const WIDTH = 1000;
const HUES = 8;
/** A stage that is all of it says nothing. */
const ALL = 0.98;

interface Part {
  stage: Stage | null;
  name: string;
  gpu: number;
  cpu: number;
  hue: number;
}

function parts(scene: Scene): Part[] {
  const { stages, between } = scene.set.info.stages;
  const list = stages
    .filter(
      x =>
        (x.kind === 'user' || x.kind === 'derived') &&
        !x.container &&
        (x.self_gpu_us > 0 || x.self_cpu_us > 0),
    )
    .map((stage): Part => ({
      stage,
      name: stage.name,
      gpu: stage.self_gpu_us,
      cpu: stage.self_cpu_us,
      hue: 0,
    }));
  if (between && list.length)
    list.push({
      stage: null,
      name: 'between stages',
      gpu: Number(between['gpu_us'] ?? 0),
      cpu: Number(between['cpu_us'] ?? 0),
      hue: 0,
    });
  list.sort((a, b) => b.gpu + b.cpu - a.gpu - a.cpu);
  list.forEach((p, i) => {
    p.hue = i % HUES;
  });
  return list;
}

/** Moves to the first call of a stage. */
export function showStage(scene: Scene, path: string): void {
  const { page, calls } = scene.set;
  const id = page.stages.findIndex(x => x.path === path);
  const k = calls.stage.indexOf(id);
  if (k < 0) return;
  const start = calls.gpuStart[k]
    ? Math.min(calls.start[k], calls.gpuStart[k] - 1)
    : calls.start[k];
  const end = Math.max(
    calls.start[k] + calls.dur[k],
    calls.gpuStart[k] ? calls.gpuStart[k] - 1 + calls.gpuDur[k] : 0,
  );
  scene.view.show({ start, end }, 0.03);
}

function bar(scene: Scene, list: Part[], pick: (p: Part) => number, label: string): HTMLElement {
  const total = list.reduce((sum, p) => sum + pick(p), 0) || 1;
  let x = 0;
  const boxes = list.map(p => {
    const width = (pick(p) / total) * WIDTH;
    const box = s('rect', {
      x,
      y: 0,
      width: Math.max(0, width - 1),
      height: 20,
      class: 'tint-' + p.hue,
    });
    x += width;
    box.addEventListener('pointermove', e =>
      showTip(
        e.clientX,
        e.clientY,
        h('b', null, p.name),
        h(
          'div',
          { class: 'tip-dim' },
          `GPU ${us(p.gpu)} · CPU ${us(p.cpu)}` +
            (p.stage ? ` · ${count(p.stage.count)} calls` : ''),
        ),
      ),
    );
    box.addEventListener('pointerleave', hideTip);
    if (p.stage) box.addEventListener('click', () => showStage(scene, p.stage!.path));
    return box;
  });
  return h(
    'div',
    { class: 'stage-bar' },
    h('span', { class: 'stage-bar-label' }, label),
    s(
      'svg',
      {
        viewBox: `0 0 ${WIDTH} 20`,
        preserveAspectRatio: 'none',
        role: 'img',
        'aria-label': `${label} time by stage`,
      },
      ...boxes,
    ) as unknown as Node,
  );
}

export function stageBars(scene: Scene): HTMLElement | null {
  const list = parts(scene);
  const sum = list.reduce((all, p) => all + p.gpu + p.cpu, 0);
  if (!list.length || list[0].gpu + list[0].cpu >= ALL * sum) return null;
  const keys = list.slice(0, HUES).map(p =>
    h(
      'button',
      {
        type: 'button',
        class: 'stage-key',
        disabled: !p.stage,
        title: `${p.name}: GPU ${us(p.gpu)}, CPU ${us(p.cpu)}`,
        onclick: () => {
          if (p.stage) showStage(scene, p.stage.path);
        },
      },
      h('i', { class: 'swatch tint-' + p.hue }),
      cut(p.name, 32),
    ),
  );
  return h(
    'div',
    { class: 'stage-bars' },
    list.some(p => p.gpu > 0) ? bar(scene, list, p => p.gpu, 'GPU') : null,
    bar(scene, list, p => p.cpu, 'CPU'),
    h('div', { class: 'stage-keys' }, ...keys),
  );
}
