// story_steps.ts: the steps of a finding's story, to be read in order or clicked one by one.

import { h, type Child } from '../base/dom';
import type { StoryStep } from '../data/head';
import type { Player } from './story';

function stepItem(step: StoryStep, here: boolean, go: () => void): HTMLElement {
  const props = {
    type: 'button',
    class: 'story-step' + (step.mark ? ' mark-' + step.mark : ''),
    'aria-current': here ? 'step' : null,
    onclick: go,
  };
  return h('li', { class: here ? 'now' : null }, h('button', props, h('span', null, step.text)));
}

function mover(player: Player, by: 1 | -1, disabled: boolean): HTMLElement {
  const label = by < 0 ? 'Previous step' : 'Next step';
  const go = (): void => player.move(by);
  return h(
    'button',
    { type: 'button', 'aria-label': label, title: label, disabled, onclick: go },
    by < 0 ? '‹' : '›',
  );
}

export function storySteps(player: Player, number: number): Child {
  const steps = player.stepsOf(number);
  if (!steps.length) return null;
  const { story, step } = player.at.value;
  const at = story === number ? step : -1;
  return h(
    'div',
    { class: 'story' },
    h(
      'div',
      { class: 'story-head' },
      h('h4', null, 'Evidence'),
      h(
        'span',
        { class: 'story-nav' },
        mover(player, -1, at <= 0),
        h('span', null, `${at + 1} / ${steps.length}`),
        mover(player, 1, at === steps.length - 1),
      ),
    ),
    h(
      'ol',
      { class: 'story-steps' },
      ...steps.map((s, k) => stepItem(s, k === at, () => player.play(number, k))),
    ),
  );
}
