// tree.ts: the nodes of a flame graph: who is below whom, how wide, and what a search finds.

export interface FlameFrame {
  name: string;
  kind: string;
  file?: string;
  line?: number;
}

/** As C writes it; the i-th node is number i + 1, and 0 is the root. */
export interface FlameDoc {
  of: string;
  title: string;
  total_ns: number;
  left_out: number;
  frames: FlameFrame[];
  nodes: { parent: number; frame: number; self_ns: number; total_ns: number; count: number }[];
}

export interface Node {
  id: number;
  frame: FlameFrame;
  parent: Node | null;
  children: Node[];
  depth: number;
  self: number;
  total: number;
  count: number;
}

export function buildTree(doc: FlameDoc): Node {
  const root: Node = {
    id: 0,
    frame: { name: 'all', kind: 'note' },
    parent: null,
    children: [],
    depth: 0,
    self: 0,
    total: doc.total_ns,
    count: 0,
  };
  const all: Node[] = [root];
  for (const n of doc.nodes) {
    const parent = all[n.parent] ?? root;
    const node: Node = {
      id: all.length,
      frame: doc.frames[n.frame] ?? { name: '?', kind: 'note' },
      parent,
      children: [],
      depth: parent.depth + 1,
      self: n.self_ns,
      total: n.total_ns,
      count: n.count,
    };
    parent.children.push(node);
    all.push(node);
  }
  for (const node of all) node.children.sort((a, b) => b.total - a.total || a.id - b.id);
  return root;
}

/** A frame that has nearly all the time of the one above it: nothing forks off. */
const NEARLY_ALL = 0.98;

const isFork = (node: Node): boolean =>
  !node.children.length || node.children[0].total < NEARLY_ALL * node.total;

/** The first frame, from the outermost on, whose time is divided. */
export function firstFork(root: Node): Node {
  let node = root;
  while (!isFork(node)) node = node.children[0];
  return node;
}

/** The nearest frame above that is divided, or the outermost. */
export function forkAbove(node: Node): Node {
  let up = node.parent ?? node;
  while (up.parent && !isFork(up)) up = up.parent;
  return up;
}

/** Where the time divides first, the largest part, down to where that divides again. */
export function largestPart(root: Node): Node | null {
  const [largest] = firstFork(root).children;
  return largest ? firstFork(largest) : null;
}

/** "forward  diffusers/models/attention.py:120" */
export function words(frame: FlameFrame): string {
  const line = frame.line ? `:${frame.line}` : '';
  return frame.file ? `${frame.name}  ${frame.file}${line}` : frame.name;
}

export interface Box {
  node: Node;
  x: number;
  width: number;
  level: number;
}

/** The boxes below `top` that are at least `least` wide, as shares of its width. */
export function layout(top: Node, least: number): Box[] {
  const boxes: Box[] = [];
  const open: Box[] = [{ node: top, x: 0, width: 1, level: 0 }];
  while (open.length) {
    const box = open.pop()!;
    boxes.push(box);
    let x = box.x;
    for (const node of box.node.children) {
      const width = top.total > 0 ? node.total / top.total : 0;
      if (width >= least) open.push({ node, x, width, level: box.level + 1 });
      x += width;
    }
  }
  return boxes;
}

/** Time in stacks that hold a match, each counted once. */
export function matched(root: Node, match: (frame: FlameFrame) => boolean): number {
  let sum = 0;
  const open = [root];
  while (open.length) {
    const node = open.pop()!;
    if (node !== root && match(node.frame)) sum += node.total;
    else open.push(...node.children);
  }
  return sum;
}
