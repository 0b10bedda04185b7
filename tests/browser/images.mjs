// The pictures of the README, taken of the program as it is. `make update-images` writes them.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { data, root, settled, traces } from './kit.mjs';
import { shrink } from './palette.mjs';

const folder = join(root, 'docs', 'images');
const SIZE = { viewport: { width: 1280, height: 800 } };

async function shoot(kit, page, name) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), await shrink(kit.browser, await page.screenshot()));
}

const flux = name => join(data, 'flux2', `flux2_${name}_compile.json.gz`);

export const tests = [
  [
    'a finding',
    async kit => {
      const page = await kit.open(kit.html('report', traces.wan), SIZE);
      await page.keyboard.press('1');
      await page.keyboard.press(']');
      await page.keyboard.press(']');
      await settled(page);
      await page.locator('#tab-syncs').click();
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
      await page.keyboard.press('p');
      await settled(page);
      await page.evaluate(() => document.activeElement.blur());
      await shoot(kit, page, 'kernel.png');
    },
  ],
  [
    'a comparison',
    async kit => {
      const page = await kit.open(kit.html('diff', flux('before'), flux('after')), SIZE);
      await settled(page);
      await shoot(kit, page, 'diff.png');
    },
  ],
];
