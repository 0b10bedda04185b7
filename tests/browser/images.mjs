// The pictures of the page in README and docs, taken of the program as it is. `make update-images` writes them.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { data, root, settled, traces } from './kit.mjs';
import { shrink } from './palette.mjs';

const folder = join(root, 'docs', 'images');
const SIZE = { viewport: { width: 1280, height: 800 } };

async function shoot(kit, page, name) {
  mkdirSync(folder, { recursive: true });
  await page.mouse.move(1, 1);
  writeFileSync(join(folder, name), await shrink(kit.browser, await page.screenshot()));
}

const flux = name => join(data, 'flux2', `flux2_${name}_compile.json.gz`);
const attention = join(data, 'advice', 'attention_math_stack.json.gz');

export const tests = [
  [
    'a program that can be faster',
    async kit => {
      const page = await kit.open(kit.html('report', attention), SIZE);
      await settled(page);
      await shoot(kit, page, 'attention.png');
    },
  ],
  [
    'a wait and its story',
    async kit => {
      const page = await kit.open(kit.html('report', traces.wan), SIZE);
      await page.locator('.not-slow').first().click();
      await settled(page);
      await page.evaluate(() => document.activeElement.blur());
      await shoot(kit, page, 'report.png');
    },
  ],
  [
    'dark, a kernel and its launch',
    async kit => {
      const page = await kit.open(kit.html('report', traces.wan), {
        ...SIZE,
        colorScheme: 'dark',
        hash: '#t=40000000,140000000',
      });
      await page.keyboard.press('/');
      await page.keyboard.type('sdpa');
      await page.keyboard.press('Enter');
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
      await settled(page);
      await page.evaluate(() => document.activeElement.blur());
      await shoot(kit, page, 'kernel.png');
    },
  ],
  ...[
    ['flux2', flux('before')],
    ['pingpong', join(data, 'whatif', 'pingpong_v0.json.gz')],
  ].map(([name, trace]) => [
    `the gallery: ${name}`,
    async kit => {
      const page = await kit.open(kit.html('report', trace), SIZE);
      await settled(page);
      await shoot(kit, page, `${name}.png`);
    },
  ]),
  [
    'a comparison',
    async kit => {
      const page = await kit.open(kit.html('diff', flux('before'), flux('after')), SIZE);
      await settled(page);
      await shoot(kit, page, 'diff.png');
    },
  ],
  [
    'many ranks',
    async kit => {
      const page = await kit.open(kit.html('report', join(data, 'comm', 'slow_rank')), SIZE);
      await shoot(kit, page, 'ranks.png');
    },
  ],
  [
    'a flame graph',
    async kit => {
      const path = join(kit.folder, 'flame.html');
      const of = ['--of', 'idle', '-o', path];
      execFileSync(kit.strata, ['export', traces.wan, ...of], { stdio: 'ignore' });
      const page = await kit.open(path, SIZE);
      await shoot(kit, page, 'flame.png');
    },
  ],
  [
    'on a phone',
    async kit => {
      const page = await kit.open(kit.html('report', traces.before), {
        viewport: { width: 420, height: 900 },
        colorScheme: 'dark',
      });
      await shoot(kit, page, 'phone.png');
    },
  ],
];
