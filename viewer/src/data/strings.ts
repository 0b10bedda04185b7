// strings.ts: names by number. They stay bytes until one is read.

import { clean } from '../base/format';

export class Strings {
  private readonly at: Uint32Array;
  private readonly cache: (string | undefined)[] = [];
  private readonly decoder = new TextDecoder();

  constructor(
    lengths: Uint32Array,
    private readonly bytes: Uint8Array,
    private readonly short: Uint32Array,
  ) {
    this.at = new Uint32Array(lengths.length + 1);
    for (let i = 0; i < lengths.length; i++) this.at[i + 1] = this.at[i] + lengths[i];
  }

  get n(): number {
    return this.at.length - 1;
  }

  get(id: number): string {
    return (this.cache[id] ??= clean(
      this.decoder.decode(this.bytes.subarray(this.at[id], this.at[id + 1])),
    ));
  }

  /** The name without what every name of its kind has: templates, arguments, folders. */
  brief(id: number): string {
    return this.get(this.short.length ? this.short[id] : id);
  }

  /** Number of a name, or -1. */
  find(text: string): number {
    const wanted = clean(text);
    for (let i = 0; i < this.n; i++) if (this.get(i) === wanted) return i;
    return -1;
  }

  /** Which names contain a text, ignoring case: one byte per name. */
  matching(text: string): Uint8Array {
    const wanted = text.toLowerCase();
    const mask = new Uint8Array(this.n);
    for (let i = 0; i < this.n; i++) if (this.get(i).toLowerCase().includes(wanted)) mask[i] = 1;
    return mask;
  }
}
