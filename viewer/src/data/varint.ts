// varint.ts: reads the packed columns. A varint is LEB128; values above 32 bits are rare, so the
// loop adds instead of shifting only where it must.

const unzigzag = (v: number): number => (v % 2 ? -(v + 1) / 2 : v / 2);

export class Reader {
  constructor(
    private readonly bytes: Uint8Array,
    private at: number,
  ) {}

  next(): number {
    const { bytes } = this;
    let b = bytes[this.at++];
    if (b < 0x80) return b;
    let value = b & 0x7f;
    let scale = 0x80;
    do {
      b = bytes[this.at++];
      value += (b & 0x7f) * scale;
      scale *= 0x80;
    } while (b >= 0x80);
    return value;
  }

  zigzag(): number {
    return unzigzag(this.next());
  }
}

/** n varints as they are. */
export function plain<T extends { [i: number]: number }>(
  bytes: Uint8Array,
  at: number,
  n: number,
  out: T,
): T {
  const reader = new Reader(bytes, at);
  for (let i = 0; i < n; i++) out[i] = reader.next();
  return out;
}

/** n zigzag varints as they are. */
export function signed<T extends { [i: number]: number }>(
  bytes: Uint8Array,
  at: number,
  n: number,
  out: T,
): T {
  const reader = new Reader(bytes, at);
  for (let i = 0; i < n; i++) out[i] = reader.zigzag();
  return out;
}

/** n zigzag varints, each the difference to the one before. */
export function summed<T extends { [i: number]: number }>(
  bytes: Uint8Array,
  at: number,
  n: number,
  out: T,
): T {
  const reader = new Reader(bytes, at);
  let sum = 0;
  for (let i = 0; i < n; i++) out[i] = sum += reader.zigzag();
  return out;
}

/** n varints, each the difference to the one before. */
export function rising<T extends { [i: number]: number }>(
  bytes: Uint8Array,
  at: number,
  n: number,
  out: T,
): T {
  const reader = new Reader(bytes, at);
  let sum = 0;
  for (let i = 0; i < n; i++) out[i] = sum += reader.next();
  return out;
}

/** n ids: 0 means none (-1 here), else 1 plus the zigzag of the difference to the last. */
export function ids<T extends { [i: number]: number }>(
  bytes: Uint8Array,
  at: number,
  n: number,
  out: T,
): T {
  const reader = new Reader(bytes, at);
  let last = 0;
  for (let i = 0; i < n; i++) {
    const v = reader.next();
    out[i] = v ? (last += unzigzag(v - 1)) : -1;
  }
  return out;
}
