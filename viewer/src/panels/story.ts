// story.ts: plays a story on the timeline: each step moves the view and highlights its subject.

import { Signal } from '../base/signal';
import type { Story, StoryStep } from '../data/head';
import type { Light, Scene } from '../timeline/scene';

function markOf(scene: Scene, step: StoryStep): Light['mark'] {
  if (step.mark === 'exposed') {
    const ranges = (step.gaps ?? []).map(([start, end]) => ({ start, end }));
    return ranges.length ? { kind: 'exposed', ranges } : null;
  }
  const { set } = scene;
  const ranges = step.spans.map(i => ({ start: set.start[i], end: set.end(i) }));
  return step.mark && ranges.length ? { kind: step.mark, ranges } : null;
}

export class Player {
  /** Which story is open, and at which step; -1: none. */
  readonly at = new Signal<{ story: number; step: number }>({ story: -1, step: 0 });

  constructor(
    private readonly scene: Scene,
    private readonly stories: (Story | null)[],
  ) {}

  stepsOf(story: number): StoryStep[] {
    return this.stories[story]?.steps ?? [];
  }

  /** Opens a story at a step. */
  play(story: number, step = 0): void {
    if (story >= this.stories.length) return;
    const list = this.stepsOf(story);
    const at = Math.min(Math.max(step, 0), Math.max(0, list.length - 1));
    this.at.set({ story, step: at });
    if (list.length) this.show(this.stories[story]!, at);
  }

  move(by: 1 | -1): void {
    const { story, step } = this.at.value;
    const n = this.stepsOf(story).length;
    if (story >= 0 && step + by >= 0 && step + by < n) this.play(story, step + by);
  }

  /** Shows a story that does not belong to a finding: its evidence as a whole. */
  tell(story: Story): void {
    this.at.set({ story: -1, step: 0 });
    const { scene } = this;
    const marked = story.steps.find(x => x.mark === 'exposed') ?? story.steps.find(x => x.mark);
    scene.light.set({
      spans: story.steps.flatMap(x => x.spans),
      arrows: story.steps.flatMap(x => x.arrows),
      frames: story.frames,
      mark: marked ? markOf(scene, marked) : null,
    });
    scene.view.glide({ start: story.t0_ns, end: story.t1_ns });
    const heart = story.steps.flatMap(x => x.spans)[0];
    if (heart !== undefined) scene.reveal.set(heart);
  }

  close(): void {
    if (this.at.value.story < 0) return;
    this.at.set({ story: -1, step: 0 });
    this.scene.light.set(null);
  }

  private show(story: Story, at: number): void {
    const { scene } = this;
    const step = story.steps[at];
    const range = { start: step.t0_ns, end: step.t1_ns };
    scene.range.set(null);
    scene.hits.set(null);
    scene.light.set({
      spans: step.spans,
      arrows: step.arrows,
      frames: story.frames,
      mark: markOf(scene, step),
    });
    scene.selected.set(-1);
    if (range.end > range.start) scene.view.glide(range);
    const heart = step.arrows[0]?.from ?? step.spans[0] ?? story.frames[0];
    if (heart !== undefined) scene.reveal.set(heart);
  }
}
