// glossary.ts: the words of the trade, for readers who meet them here first. Every text on the page
// goes through explain(), which marks the words it knows; hovering or focusing one tells more.

import { h, type Child } from './dom';
import { hideTip, showTip } from './tooltip';

/** Word as it stands in texts → one or two sentences. Matched as whole words, longest first. */
const WORDS: Record<string, string> = {
  DtoH: 'Device to host: a copy from GPU memory to the memory of the CPU. Reading a value in Python (.item(), print, if tensor) needs one, and the CPU waits for it.',
  HtoD: 'Host to device: a copy from the memory of the CPU to GPU memory.',
  DtoD: 'Device to device: a copy inside GPU memory, or between GPUs.',
  pageable:
    'Ordinary CPU memory. The driver must first copy it to pinned memory, so the call blocks and the copy is slow.',
  pinned:
    'CPU memory that the system may not move. The GPU reads it directly: fast, and without making the CPU wait.',
  drain:
    'To wait until the GPU has finished everything queued. Afterwards the queue is empty, and the GPU idles until the CPU has launched again.',
  drains:
    'Waits until the GPU has finished everything queued. Afterwards the queue is empty, and the GPU idles until the CPU has launched again.',
  readback: 'A value is copied from the GPU to the CPU because Python wants to look at it.',
  'constant upload': 'A few bytes made on the CPU are copied to the GPU, every time anew.',
  blocked:
    'Time the CPU spends waiting or working here. It costs nothing as long as the GPU has work queued meanwhile.',
  exposed:
    'GPU idle time that this really causes: the part of the waiting that the wall clock sees.',
  gain: 'How much shorter the run would be, predicted by replaying the trace with the fix applied. Each after the ones above it.',
  'GPU-bound':
    'The GPU works nearly all the time. Only faster kernels, or fewer of them, make it quicker.',
  'CPU-bound': 'The GPU waits for Python and other CPU work.',
  'launch-bound':
    'The GPU waits for launches: kernels are so short that starting each one from the CPU takes longer than running it.',
  'transfer-bound': 'Copies between CPU and GPU take the time.',
  'sync-bound': 'The CPU and the GPU wait for each other in turn.',
  kernel: 'A function that runs on the GPU.',
  kernels: 'Functions that run on the GPU.',
  launch:
    'The call by which the CPU queues a kernel. It returns at once; the kernel runs when its turn comes.',
  'launch delay': 'From the start of the launching call to the start of the work on the GPU.',
  'queue wait':
    'The part of the launch delay in which the stream was still busy with earlier work. A long wait here is healthy: the CPU is ahead.',
  'queue depth':
    'How many pieces of work are launched and not yet started. Deep is healthy; empty means the GPU waits for the CPU.',
  stream: 'A queue of work on the GPU. Work in one stream runs in order; streams may overlap.',
  sync: 'A call that makes the CPU wait for the GPU.',
  syncs: 'Calls that make the CPU wait for the GPU.',
  idle: 'Time in which the GPU has nothing to do.',
  wall: 'Wall-clock time: what a stopwatch would show for the recorded window.',
  stage: 'A part of the pipeline that the program marked, such as transformer_forward.',
  step: 'One turn of the main loop: a denoising step, a token, a batch.',
  occupancy: 'How many warps can be resident on a multiprocessor at once, of what it could hold.',
  'CUDA graphs': 'A recorded sequence of kernels that is launched with one call.',
  'CUDA graph': 'A recorded sequence of kernels that is launched with one call.',
  GEMM: 'Matrix multiplication.',
  fused: 'Several operations compiled into one kernel, which saves launches and memory traffic.',
  inductor: 'The compiler behind torch.compile. It fuses operations into Triton kernels.',
  dynamo:
    'The part of torch.compile that follows the Python code. Before each call it checks whether what it compiled still fits.',
  self: 'Without what is called from inside.',
  median: 'Half of the calls are faster, half are slower.',
  p95: 'Nineteen of twenty calls are faster than this.',
  reserved: 'Memory that the allocator holds from the device, used or not.',
  replay:
    'Strata runs the trace again as a model of CPU, queue and GPU, with changes applied. What it says about the unchanged trace shows how far to trust it.',
  roofline:
    'The fastest a kernel can be on this GPU, given how much it computes for each byte it moves.',
  annotation: 'A range that the program named itself: record_function, NVTX, or a stage.',
  operator: 'A PyTorch operation such as aten::mul, as the framework dispatches it.',
};

const keys = Object.keys(WORDS).sort((a, b) => b.length - a.length);
const pattern = new RegExp(
  `(?<![\\w:.])(${keys.map(k => k.replace(/[-.]/g, '\\$&')).join('|')})(?![\\w:(])`,
  'g',
);

function show(el: HTMLElement, text: string): void {
  const box = el.getBoundingClientRect();
  showTip(box.left - 10, box.bottom - 12, h('b', null, el.textContent ?? ''), h('div', null, text));
}

/** A word with its explanation; the word itself where we have none. */
export function term(word: string, meaning = word, focusable = true): Node {
  const text = WORDS[meaning] ?? WORDS[meaning.toLowerCase()];
  if (!text) return document.createTextNode(word);
  const el = h(
    'span',
    { class: 'term', tabindex: focusable ? 0 : null, 'aria-description': text },
    word,
  );
  el.addEventListener('pointerenter', () => show(el, text));
  el.addEventListener('focus', () => show(el, text));
  el.addEventListener('pointerleave', hideTip);
  el.addEventListener('blur', hideTip);
  return el;
}

/** A text with its known words marked, each the first time only. Inside a button, words are not
 *  `focusable`: the button is. */
export function explain(text: string, focusable = true): Child[] {
  const out: Child[] = [];
  const seen = new Set<string>();
  let at = 0;
  for (const match of text.matchAll(pattern)) {
    if (seen.has(match[0])) continue;
    seen.add(match[0]);
    out.push(text.slice(at, match.index), term(match[0], match[0], focusable));
    at = match.index! + match[0].length;
  }
  out.push(text.slice(at));
  return out;
}

/** All of it, for the help. */
export const glossary: [string, string][] = Object.entries(WORDS).sort(([a], [b]) =>
  a.localeCompare(b),
);
