// classes.ts: the colour classes of spans, each with a colour (style/colors.css), a word for the legend,
// and the group that gives the colour until one zooms in.

/** The few hues of a timeline seen from afar. */
export type Group = 'compute' | 'move' | 'cpu' | 'wait' | 'none';

export const GROUPS: { id: Group | 'idle'; label: string; swatch: string }[] = [
  { id: 'compute', label: 'GPU compute', swatch: 'span-kernel' },
  { id: 'move', label: 'transfers', swatch: 'span-copy' },
  { id: 'idle', label: 'GPU idle', swatch: 'hatched' },
  { id: 'cpu', label: 'CPU', swatch: 'span-op' },
  { id: 'wait', label: 'CPU waits', swatch: 'span-sync' },
];

export const CLASSES: readonly { id: ClassId; label: string; group: Group }[] = [
  { id: 'other', label: 'other', group: 'none' },
  { id: 'annotation', label: 'label', group: 'cpu' },
  { id: 'python', label: 'Python', group: 'cpu' },
  { id: 'op', label: 'operator', group: 'cpu' },
  { id: 'call', label: 'runtime call', group: 'cpu' },
  { id: 'sync', label: 'sync', group: 'wait' },
  { id: 'kernel', label: 'other kernel', group: 'compute' },
  { id: 'gemm', label: 'GEMM', group: 'compute' },
  { id: 'attention', label: 'attention', group: 'compute' },
  { id: 'triton', label: 'Triton', group: 'compute' },
  { id: 'pointwise', label: 'elementwise', group: 'compute' },
  { id: 'comm', label: 'communication', group: 'move' },
  { id: 'copy', label: 'copy', group: 'move' },
  { id: 'overhead', label: 'profiler', group: 'none' },
];

export type ClassId =
  | 'other'
  | 'annotation'
  | 'python'
  | 'op'
  | 'call'
  | 'sync'
  | 'kernel'
  | 'gemm'
  | 'attention'
  | 'triton'
  | 'pointwise'
  | 'comm'
  | 'copy'
  | 'overhead';

export const classNumber = Object.fromEntries(CLASSES.map((c, i) => [c.id, i])) as Record<
  ClassId,
  number
>;

const BY_KIND: Record<string, ClassId> = {
  cpu_op: 'op',
  user_annotation: 'annotation',
  python_function: 'python',
  cuda_runtime: 'call',
  cuda_driver: 'call',
  kernel: 'kernel',
  gpu_memcpy: 'copy',
  gpu_memset: 'copy',
  gpu_user_annotation: 'annotation',
  overhead: 'overhead',
  cuda_sync: 'sync',
  cuda_event: 'other',
  memory: 'other',
  window: 'overhead',
};

const BY_FAMILY: Record<string, ClassId> = {
  gemm: 'gemm',
  conv: 'gemm',
  attention: 'attention',
  elementwise: 'pointwise',
  reduction: 'pointwise',
  norm: 'pointwise',
  copy: 'copy',
  memset: 'copy',
  triton: 'triton',
  communication: 'comm',
};

export const kindClass = (kind: string): number => classNumber[BY_KIND[kind] ?? 'other'];
export const familyClass = (family: string): number => classNumber[BY_FAMILY[family] ?? 'kernel'];

/** Words for the kinds of C's table. */
const KIND_WORDS: Record<string, string> = {
  cpu_op: 'operator',
  user_annotation: 'label',
  python_function: 'Python function',
  cuda_runtime: 'runtime call',
  cuda_driver: 'driver call',
  kernel: 'kernel',
  gpu_memcpy: 'copy',
  gpu_memset: 'memset',
  gpu_user_annotation: 'label on the device',
  overhead: 'profiler overhead',
  cuda_sync: 'device sync record',
  cuda_event: 'event on a stream',
  memory: 'allocation',
  window: 'recording',
};

export const kindWords = (kind: string): string => KIND_WORDS[kind] ?? kind;
