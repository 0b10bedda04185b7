// dom.ts: elements made in code. Strings reach the page as text nodes only, never as markup: names
// in a trace are not under our control.

export type Child = Node | string | null | undefined | false;

type Handler = (event: never) => void;

export type Props = Record<string, string | number | boolean | Handler | null | undefined>;

function setProp(el: Element, key: string, value: Props[string]): void {
  if (value === null || value === undefined || value === false) return;
  if (typeof value === 'function') el.addEventListener(key.slice(2), value as EventListener);
  else el.setAttribute(key, value === true ? '' : String(value));
}

function fill(el: Element, props: Props | null, children: Child[]): void {
  for (const key in props ?? {}) setProp(el, key, props![key]);
  for (const child of children) if (child) el.append(child);
}

/** h('button', {class: 'x', onclick: f}, 'text', child): an HTML element. `on…` takes a function. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props | null = null,
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const el = document.createElement(tag);
  fill(el, props, children);
  return el;
}

/** The same for SVG. */
export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  props: Props | null = null,
  ...children: Child[]
): SVGElementTagNameMap[K] {
  const el = document.createElementNS('http://www.w3.org/2000/svg', tag);
  fill(el, props, children);
  return el;
}

export function replace(parent: Element, ...children: Child[]): void {
  parent.replaceChildren(...children.filter((c): c is Node | string => !!c));
}
