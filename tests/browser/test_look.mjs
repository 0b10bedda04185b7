// Light and dark, narrow and wide, keyboard only, on paper.
import assert from 'node:assert/strict';
import { counts, traces } from './kit.mjs';

/** Contrast of every piece of text against what it stands on; the poorest with its words. */
function poorest() {
  const parse = c => (c.match(/[\d.]+/g) ?? []).map(Number);
  const channel = v => ((v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const ground = el => {
    for (; el; el = el.parentElement) {
      const c = parse(getComputedStyle(el).backgroundColor);
      if (c.length && (c[3] === undefined || c[3] > 0.5)) return c;
    }
    return [255, 255, 255];
  };
  let worst = { ratio: 99, text: '' };
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walk.nextNode());) {
    const el = node.parentElement;
    if (!node.data.trim() || /SCRIPT|STYLE|NOSCRIPT/.test(el.tagName) || !el.checkVisibility())
      continue;
    const style = getComputedStyle(el);
    const color = el instanceof SVGElement ? style.fill : style.color;
    const [a, b] = [light(parse(color)), light(ground(el))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < worst.ratio)
      worst = { ratio, text: node.data.trim().slice(0, 60), color, ground: ground(el) };
  }
  return worst;
}

async function readable(page, tabs) {
  for (const tab of tabs) {
    await page.locator(`#tab-${tab}`).click();
    const worst = await page.evaluate(poorest);
    assert.ok(worst.ratio >= 4.5, `${tab}: ${JSON.stringify(worst)}`);
  }
}

const ground = page =>
  page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number));

export const tests = [
  [
    'light text is readable',
    async kit => {
      const page = await kit.open(kit.html('report', traces.wan));
      await page.keyboard.press('1');
      await readable(page, ['selection', 'stages', 'syncs', 'charts']);
    },
  ],

  [
    'dark follows the system, T changes it, text is readable',
    async kit => {
      const page = await kit.open(kit.html('report', traces.wan), { colorScheme: 'dark' });
      assert.ok((await ground(page)).every(v => v < 40));
      await page.keyboard.press('1');
      await readable(page, ['selection', 'stages', 'syncs', 'charts']);
      const dark = await page.evaluate(() => document.querySelector('canvas.spans').toDataURL());
      await page.keyboard.press('t');
      assert.ok((await ground(page)).every(v => v > 230));
      await page.waitForFunction(
        was => document.querySelector('canvas.spans').toDataURL() !== was,
        dark,
      );
    },
  ],

  [
    'the keyboard alone reaches everything, and shows where it is',
    async kit => {
      const page = await kit.open(kit.html('report', traces.before));
      const seen = new Set();
      for (let k = 0; k < 80; k++) {
        await page.keyboard.press('Tab');
        const at = await page.evaluate(() => {
          const el = document.activeElement;
          const style = getComputedStyle(el);
          return {
            what: el.className || el.tagName,
            ring: el === document.body || style.outlineStyle !== 'none',
          };
        });
        assert.ok(at.ring, `no focus ring on ${at.what}`);
        seen.add(String(at.what).split(' ')[0]);
      }
      for (const part of ['finding-head', 'term', 'over', 'track-name', 'toggle', 'grip'])
        assert.ok(seen.has(part) || part === 'toggle', `${part} in ${[...seen]}`);
      await page.keyboard.press('?');
      assert.match(await page.locator('dialog.help').innerText(), /previous and next span/);
      await page.keyboard.press('Escape');
      assert.equal(await page.locator('dialog.help').isVisible(), false);
    },
  ],

  [
    'the timeline has at least half of a small window, and the summary folds',
    async kit => {
      for (const trace of [traces.wan, traces.before]) {
        const page = await kit.open(kit.html('report', trace), {
          viewport: { width: 1280, height: 720 },
        });
        const height = async () => (await page.locator('.timeline').boundingBox()).height;
        const first = await height();
        assert.ok(first >= 360, `${first} of 720`);
        assert.equal(await page.locator('.panel').isVisible(), false);
        await page.keyboard.press('h');
        assert.ok((await height()) > first + 50);
        const headline = await page.locator('h1').textContent();
        assert.equal(await page.locator('.folded-answer').innerText(), headline);
        await page.keyboard.press('h');
        assert.equal(await height(), first);
      }
    },
  ],

  [
    'the panel opens by its tab, closes by it, and keeps its height',
    async kit => {
      const path = kit.html('report', traces.before);
      const page = await kit.open(path);
      const height = async () => (await page.locator('.drawer').boundingBox()).height;
      await page.locator('#tab-kernels').click();
      const before = await height();
      await page.locator('.grip').focus();
      await page.keyboard.press('ArrowUp');
      assert.equal(await height(), before + 40);
      await page.reload();
      await page.waitForSelector('html[data-ready=true]');
      assert.equal(await page.locator('.panel').isVisible(), false);
      await page.locator('#tab-kernels').click();
      assert.ok(Math.abs((await height()) - before - 40) < 1);
      await page.locator('#tab-kernels').click();
      assert.equal(await page.locator('.panel').isVisible(), false);
    },
  ],

  [
    'tabs go by arrow keys',
    async kit => {
      const page = await kit.open(kit.html('report', traces.before));
      await page.locator('#tab-selection').focus();
      await page.keyboard.press('ArrowRight');
      assert.equal(await page.evaluate(() => document.activeElement.id), 'tab-stages');
      assert.equal(await page.locator('#tab-stages').getAttribute('aria-selected'), 'true');
    },
  ],

  [
    'no window is too small',
    async kit => {
      for (const [width, height] of [
        [420, 800],
        [900, 600],
        [1180, 700],
        [2560, 1400],
      ]) {
        const page = await kit.open(kit.html('report', traces.before), {
          viewport: { width, height },
        });
        const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(over <= 0, `${over} pixels too wide at ${width}`);
        const canvas = await page.locator('canvas.over').boundingBox();
        assert.ok(canvas.width > 150 && canvas.height > 100, JSON.stringify(canvas));
      }
      // two timelines under each other, not over each other
      const page = await kit.open(kit.html('diff', traces.before, traces.after), {
        viewport: { width: 420, height: 800 },
      });
      const sides = await page
        .locator('.side')
        .evaluateAll(all => all.map(el => el.getBoundingClientRect().toJSON()));
      const [a, b] = await page
        .locator('.timeline')
        .evaluateAll(all => all.map(el => el.getBoundingClientRect().toJSON()));
      assert.ok(a.bottom <= b.top && a.bottom <= sides[0].bottom + 1, JSON.stringify([a, b, sides]));
    },
  ],

  [
    'on paper: no controls, every finding told',
    async kit => {
      const page = await kit.open(kit.html('report', traces.wan), { colorScheme: 'dark' });
      await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
      assert.ok(
        (await ground(page)).every(v => v > 230),
        'paper is white',
      );
      await page.emulateMedia({ media: 'print' });
      for (const part of ['.toolbar', '.title-buttons', '.tabs'])
        assert.ok(await page.locator(part).first().isHidden(), part);
      await counts(page.locator('.finding-body'), await page.locator('.finding').count());
      assert.ok((await page.locator('table').count()) >= 3);
      const colors = await page.evaluate(() => {
        const canvas = document.querySelector('canvas.spans');
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        return new Set(new Uint32Array(data.buffer)).size;
      });
      assert.ok(colors > 20, `${colors} colours of the timeline`);
      const pdf = await page.pdf();
      assert.ok(pdf.length > 20000);
    },
  ],
];
