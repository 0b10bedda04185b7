// Numbers are written as the command and the Python package write them.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './kit.mjs';

async function formatters() {
  const source = join(root, 'viewer/src/base/format.ts');
  const done = spawnSync('esbuild', [source, '--bundle', '--format=esm'], { encoding: 'utf8' });
  assert.equal(done.status, 0, done.stderr);
  return import(`data:text/javascript,${encodeURIComponent(done.stdout)}`);
}

export const tests = [
  [
    'vectors',
    async () => {
      const format = await formatters();
      const all = JSON.parse(readFileSync(join(root, 'tests/format_vectors.json'), 'utf8'));
      const write = { time_ns: format.ns, bytes: format.bytes, count: format.count, pct: format.pct };
      for (const [key, formatter] of Object.entries(write)) {
        assert.ok(all[key].length > 5);
        for (const [value, text] of all[key])
          assert.equal(formatter(value).replaceAll('\u202f', ' '), text, `${key} ${value}`);
      }
    },
  ],
  [
    'nothing is a dash',
    async () => {
      const format = await formatters();
      for (const formatter of [format.ns, format.us, format.bytes, format.count, format.pct])
        assert.deepEqual([formatter(null), formatter(undefined)], ['–', '–']);
      assert.equal(format.count(2.5), '2.50');
      assert.equal(format.count(12345.6), '12,346');
    },
  ],
];
