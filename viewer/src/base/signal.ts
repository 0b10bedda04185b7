// signal.ts: a value that notifies its listeners when it changes. The only way the parts of the page
// learn about each other.

export class Signal<T> {
  private listeners: ((value: T) => void)[] = [];

  constructor(private current: T) {}

  get value(): T {
    return this.current;
  }

  set(value: T): void {
    this.current = value;
    for (const listener of this.listeners) listener(value);
  }

  /** Calls `listener` on every change from now on. */
  on(listener: (value: T) => void): void {
    this.listeners.push(listener);
  }
}
