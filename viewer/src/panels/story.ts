// story.ts: plays a story on the timeline: each step moves the view and lights what it speaks of.

import { Signal } from '../base/signal';
import type { Story } from '../data/head';
import type { Scene } from '../timeline/scene';

export class Player {
  /** Which story is open, and at which step; -1: none. */
  readonly at = new Signal<{ story: number; step: number }>({ story: -1, step: 0 });

  constructor(
    private readonly scene: Scene,
    private readonly stories: (Story | null)[],
  ) {}

  /** Opens a story at a step; opening what is open closes it. */
  play(story: number, step = 0): void {
    const list = this.stories[story]?.steps ?? [];
    const at = Math.min(Math.max(step, 0), Math.max(0, list.length - 1));
    this.at.set({ story, step: at });
    if (list.length) this.show(this.stories[story]!, at);
  }

  move(by: 1 | -1): void {
    const { story, step } = this.at.value,
      n = this.stories[story]?.steps.length ?? 0;
    if (story >= 0 && step + by >= 0 && step + by < n) this.play(story, step + by);
  }

  /** Shows a story that is not a finding's: its evidence as a whole. */
  tell(story: Story): void {
    this.at.set({ story: -1, step: 0 });
    const { scene } = this,
      marked = story.steps.find(x => x.mark === 'exposed') ?? story.steps.find(x => x.mark);
    scene.light.set({
      spans: story.steps.flatMap(x => x.spans),
      arrows: story.steps.flatMap(x => x.arrows),
      frames: story.frames,
      mark: marked?.mark
        ? { kind: marked.mark, range: { start: marked.t0_ns, end: marked.t1_ns } }
        : null,
    });
    scene.view.show({ start: story.t0_ns, end: story.t1_ns }, 0.12);
    const heart = story.steps.flatMap(x => x.spans)[0];
    if (heart !== undefined) scene.reveal.set(heart);
  }

  close(): void {
    if (this.at.value.story < 0) return;
    this.at.set({ story: -1, step: 0 });
    this.scene.light.set(null);
  }

  private show(story: Story, at: number): void {
    const { scene } = this,
      step = story.steps[at];
    const range = { start: step.t0_ns, end: step.t1_ns };
    scene.range.set(null);
    scene.hits.set(null);
    scene.light.set({
      spans: step.spans,
      arrows: step.arrows,
      frames: story.frames,
      mark: step.mark ? { kind: step.mark, range } : null,
    });
    scene.selected.set(-1);
    if (range.end > range.start) scene.view.show(range, 0.12);
    const heart = step.arrows[0]?.from ?? step.spans[0] ?? story.frames[0];
    if (heart !== undefined) scene.reveal.set(heart);
  }
}
