// The viewer's sources pass the strict type checker.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from './kit.mjs';

export const tests = [
  [
    'strict',
    async () => {
      const tsc = join(process.env.NODE_MODULES, '.bin', 'tsc');
      const done = spawnSync(tsc, ['-p', join(root, 'viewer')], { encoding: 'utf8' });
      assert.equal(done.stdout + done.stderr, '');
      assert.equal(done.status, 0);
    },
  ],
];
