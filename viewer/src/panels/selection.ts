// selection.ts: the first tab: the selected range, else the selected span, else how to select one.

import { h, replace } from '../base/dom';
import { ns } from '../base/format';
import type { Scene } from '../timeline/scene';
import { details, hint } from './details';
import { sums } from './sums';

const WAIT_MS = 60;

/** For screen readers. */
function spoken({ set }: Scene, span: number): string {
  return `${set.names.brief(set.name[span]).slice(0, 120)}, ${ns(set.dur[span])}`;
}

export function selection(scene: Scene): HTMLElement {
  const el = h('div', { class: 'selection' });
  const said = h('div', { class: 'said', role: 'status', 'aria-live': 'polite' });
  let timer = 0;
  const draw = (): void => {
    const range = scene.range.value;
    const span = scene.selected.value;
    replace(
      el,
      range && range.end > range.start
        ? sums(scene, range)
        : span >= 0
          ? details(scene, span)
          : hint(),
      said,
    );
    said.textContent = range || span < 0 ? '' : spoken(scene, span);
  };
  const soon = (): void => {
    clearTimeout(timer);
    timer = window.setTimeout(draw, WAIT_MS);
  };
  scene.selected.on(draw);
  scene.range.on(soon);
  draw();
  return el;
}
