// classes.ts: the colour classes of spans, each with a colour (style/colors.css) and a word for the
// legend.

export const CLASSES = [
  { id: 'other', label: 'other' },
  { id: 'annotation', label: 'label' },
  { id: 'python', label: 'Python' },
  { id: 'op', label: 'operator' },
  { id: 'call', label: 'runtime call' },
  { id: 'sync', label: 'sync' },
  { id: 'kernel', label: 'kernel' },
  { id: 'gemm', label: 'GEMM' },
  { id: 'attention', label: 'attention' },
  { id: 'triton', label: 'Triton' },
  { id: 'pointwise', label: 'elementwise' },
  { id: 'comm', label: 'communication' },
  { id: 'copy', label: 'copy' },
  { id: 'overhead', label: 'profiler' },
] as const;

export type ClassId = (typeof CLASSES)[number]['id'];

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
