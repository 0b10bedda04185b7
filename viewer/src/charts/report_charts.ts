// report_charts.ts: the charts of a report. Each draws numbers of one document.

import { h, type Child } from '../base/dom';
import { bytes, count, pct, us } from '../base/format';
import type { Bin } from '../data/head';
import type { Scene } from '../timeline/scene';
import { barChart } from './bars';
import { shareChart } from './shares';

const KERNELS_SHOWN = 8;

function stepTimes(scene: Scene): Child {
  const { steps } = scene.set.info.steps;
  if (!steps.length) return null;
  return barChart({
    title: 'Step times',
    note: 'dark: the GPU works',
    text: us,
    bars: steps.map(x => ({
      label: String(x.index),
      value: x.dur_us,
      part: Math.min(x.gpu_us, x.dur_us),
      tip: `step ${x.index}: ${us(x.dur_us)}, GPU ${us(x.gpu_us)}`,
      go: () =>
        scene.view.show({ start: x.start_us * 1000, end: (x.start_us + x.dur_us) * 1000 }, 0.02),
    })),
  });
}

function binText(b: Bin): string {
  const length = us(b.from_us) + (b.to_us === null ? ' and more' : ' to ' + us(b.to_us));
  return `${count(b.count)} gaps of ${length}: ${us(b.idle_us)} idle in total`;
}

function gapHistogram(scene: Scene): Child {
  const bins = scene.set.page.gap_histogram;
  if (!bins?.length) return null;
  return barChart({
    title: 'GPU idle time by gap length',
    note: 'many short gaps, or few long ones?',
    text: us,
    bars: bins.map(b => ({ label: us(b.from_us), value: b.idle_us, tip: binText(b) })),
  });
}

function kernelShares(scene: Scene): Child {
  const rows = scene.set.info.kernels.rows.slice(0, KERNELS_SHOWN);
  if (!rows.length) return null;
  return shareChart(
    'Share of kernel time',
    'of all device work',
    rows.map(r => ({
      name: String(r['short_name'] ?? r['name']),
      pct: Number(r['share_pct']),
      text: `${pct(Number(r['share_pct']))} · ${us(Number(r['total_us']))}`,
    })),
  );
}

function memoryBySteps(scene: Scene): Child {
  const device = scene.set.info.memory?.devices?.find(d => d.device !== 'cpu' && d.steps.length);
  if (!device) return null;
  return barChart({
    title: 'Memory by step',
    note: 'peak; dark: at the end of the step',
    text: bytes,
    bars: device.steps.map(x => ({
      label: String(x.index),
      value: x.peak_bytes,
      part: x.end_bytes,
      tip: `step ${x.index}: peak ${bytes(x.peak_bytes)}, ${bytes(x.end_bytes)} at its end`,
    })),
  });
}

export function reportCharts(scene: Scene): HTMLElement {
  const charts = [
    stepTimes(scene),
    gapHistogram(scene),
    kernelShares(scene),
    memoryBySteps(scene),
  ].filter(Boolean);
  return h(
    'div',
    { class: 'charts' },
    ...(charts.length
      ? charts
      : [h('p', { class: 'dim' }, 'Nothing to draw: the trace has no steps and no device work.')]),
  );
}
