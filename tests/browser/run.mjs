// run.mjs: runs every test_*.mjs of this folder in one headless Chromium and adds them up.
//
// A test file exports tests as `export const tests = [[name, async (kit) => {...}], ...]`; kit.mjs says
// what a test can ask for. With --update-images it writes the pictures of the README instead.
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Kit } from './kit.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const args = process.argv.slice(2);
const option = name => args.splice(args.indexOf(name), 2)[1];
const strata = option('--strata');
const viewer = option('--viewer');
const images = args.includes('--update-images');
const word = images ? '' : (args[0] ?? '');

const files = images
  ? ['images.mjs']
  : readdirSync(here).filter(name => name.startsWith('test_') && name.endsWith('.mjs'));

let passed = 0;
let failed = 0;
const kit = await Kit.start(strata, viewer);
try {
  for (const file of files.sort()) {
    const { tests } = await import(join(here, file));
    for (const [name, body] of tests) {
      const title = `${file.replace(/^test_|\.mjs$/g, '')}: ${name}`;
      if (!title.includes(word)) continue;
      try {
        await kit.run(body);
        passed++;
        console.log(`ok      ${title}`);
      } catch (e) {
        failed++;
        console.log(`FAILED  ${title}\n${e.stack ?? e}`);
      }
    }
  }
} finally {
  await kit.stop();
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed || !passed ? 1 : 0);
