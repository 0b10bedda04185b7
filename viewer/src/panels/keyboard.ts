// keyboard.ts: one key, one verb. Movement keys move as long as they are held, at a speed that does
// not depend on the key repeat rate.

import { toggleTheme } from '../base/theme';
import type { Scene } from '../timeline/scene';
import type { Timeline } from '../timeline/timeline';
import { toggleFolded } from './hero';
import type { Player } from './story';
import type { Search } from './search';

const ZOOM_PER_S = 4.5;
const PAN_PER_S = 0.9;

export interface Keyboard {
  scene: Scene;
  timeline: Timeline;
  player: Player | null;
  search: Search;
  help: HTMLDialogElement;
}

function toLinked(scene: Scene): void {
  const i = scene.selected.value;
  if (i < 0) return;
  const launch = scene.set.launchOf(i);
  const work = scene.set.launchedBy(i)[0];
  if (launch >= 0) scene.goTo(launch);
  else if (work !== undefined) scene.goTo(work);
}

function upOrDown(k: Keyboard, by: 1 | -1): void {
  const { scene } = k;
  const { set } = scene;
  const i = scene.selected.value;
  if (i < 0) return k.timeline.scrollBy(by * 60);
  if (by < 0 && set.parent[i] >= 0) return scene.goTo(set.parent[i]);
  if (by > 0 && i + 1 < set.n && set.parent[i + 1] === i) scene.goTo(i + 1);
}

function stepOrStart(k: Keyboard, by: 1 | -1): void {
  if (k.scene.selected.value >= 0) return k.scene.step(by);
  const first = k.timeline.firstVisible();
  if (first >= 0) k.scene.goTo(first);
}

function addUp(scene: Scene): void {
  const i = scene.selected.value;
  const { start, end } = scene.view;
  scene.range.set(
    i >= 0 && scene.set.dur[i]
      ? { start: scene.set.start[i], end: scene.set.end(i) }
      : { start, end },
  );
}

function escape(k: Keyboard): void {
  const open = k.player && k.player.at.value.story >= 0;
  if (open && !k.scene.range.value && k.scene.selected.value < 0) k.player!.close();
  k.scene.range.set(null);
  k.scene.selected.set(-1);
  k.scene.hits.set(null);
}

/** Keys that do something once. */
function verbs(k: Keyboard): Record<string, () => void> {
  const { scene, player } = k;
  return {
    ',': () => stepOrStart(k, -1),
    '.': () => stepOrStart(k, 1),
    '/': () => k.search.focus(),
    n: () => k.search.jump(1),
    N: () => k.search.jump(-1),
    f: () => scene.zoomToSelection(),
    '0': () => scene.view.fitAll(),
    m: () => addUp(scene),
    g: () => toLinked(scene),
    '[': () => player?.move(-1),
    ']': () => player?.move(1),
    p: () => scene.python.set(!scene.python.value),
    t: toggleTheme,
    h: toggleFolded,
    Escape: () => escape(k),
    '?': () => k.help.showModal(),
    ArrowUp: () => upOrDown(k, -1),
    ArrowDown: () => upOrDown(k, 1),
  };
}

/** Keys that move while held: zoom factor and pan speed. */
const HELD: Record<string, [number, number]> = {
  w: [-1, 0],
  s: [1, 0],
  a: [0, -1],
  d: [0, 1],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

class Motion {
  private readonly held = new Set<string>();
  private last = 0;

  constructor(private readonly timeline: Timeline) {}

  press(key: string): void {
    if (this.held.has(key)) return;
    this.held.add(key);
    this.move(HELD[key][0], HELD[key][1], 0.06);
    if (this.held.size === 1) {
      this.last = performance.now();
      requestAnimationFrame(now => this.tick(now));
    }
  }

  release(key: string): void {
    this.held.delete(key);
  }
  stop(): void {
    this.held.clear();
  }
  get moving(): boolean {
    return this.held.size > 0;
  }

  private move(zoom: number, pan: number, seconds: number): void {
    const { view } = this.timeline.scene;
    if (pan) view.pan(pan * PAN_PER_S * seconds * view.span);
    if (zoom) view.zoom(Math.exp(zoom * ZOOM_PER_S * seconds), this.timeline.anchor());
  }

  private tick(now: number): void {
    if (!this.held.size) return;
    const seconds = Math.max(0, Math.min(now - this.last, 60)) / 1000;
    this.last = now;
    for (const key of this.held) this.move(HELD[key][0], HELD[key][1], seconds);
    requestAnimationFrame(t => this.tick(t));
  }
}

function typing(e: KeyboardEvent): boolean {
  const el = e.target as HTMLElement;
  return /^(INPUT|TEXTAREA|SELECT)$/.test(el.tagName) || !!el.closest?.('dialog');
}

/** `current` says which timeline gets the keys: a page may show two. */
export function listenKeys(current: () => Keyboard): void {
  let motion: Motion | null = null;
  addEventListener('keydown', e => {
    if (e.ctrlKey || e.metaKey || e.altKey || typing(e)) return;
    const k = current();
    const held = HELD[e.key] ? e.key : HELD[e.key.toLowerCase()] ? e.key.toLowerCase() : '';
    const inTable = !!(e.target as HTMLElement).closest?.('table, .tabs');
    if (inTable && e.key.startsWith('Arrow')) return;
    if (held) {
      (motion ??= new Motion(k.timeline)).press(held);
      return e.preventDefault();
    }
    const digit = /^[1-9]$/.test(e.key) ? Number(e.key) : 0;
    if (digit) return k.player?.play(digit - 1);
    const map = verbs(k);
    const verb = map[e.key] ?? map[e.key.toLowerCase()];
    if (!verb) return;
    verb();
    e.preventDefault();
  });
  const release = (key: string): void => {
    motion?.release(key);
    motion?.release(key.toLowerCase());
    if (motion && !motion.moving) motion = null;
  };
  addEventListener('keyup', e => release(e.key));
  addEventListener('blur', () => {
    motion?.stop();
    motion = null;
  });
}
