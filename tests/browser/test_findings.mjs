// Findings drive the timeline: a click lands on the evidence, steps follow the reasoning.
import assert from 'node:assert/strict';
import { settled, traces, view } from './kit.mjs';

export const tests = [
  [
    'a click lands on the evidence and lights it',
    async kit => {
      const path = kit.html('report', traces.wan);
      const { stories } = kit.head(path).sets[0].page;
      const page = await kit.open(path);
      const whole = await view(page);
      await page.locator('.finding-head').first().click();
      const [a, b] = await settled(page);
      const step = stories[0].steps[0];
      assert.ok(Math.abs(a - step.t0_ns) < 2 && Math.abs(b - step.t1_ns) < 2, `${a}, ${b}`);
      assert.ok(b - a < (whole[1] - whole[0]) / 100);
      assert.equal(await page.locator('.story-step').count(), stories[0].steps.length);
      assert.equal(await page.locator('.story-step[aria-current=step]').innerText(), step.text);
      const red = await page.evaluate(() => {
        const canvas = document.querySelector('canvas.over');
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        let n = 0;
        for (let i = 0; i < data.length; i += 4)
          if (data[i] > 150 && data[i + 1] < 90 && data[i + 2] < 90 && data[i + 3] > 200) n++;
        return n;
      });
      assert.ok(red > 50, `${red} pixels of outline`);
    },
  ],

  [
    'each step moves the view; closing clears',
    async kit => {
      const path = kit.html('report', traces.wan);
      const { steps } = kit.head(path).sets[0].page.stories[0];
      const page = await kit.open(path);
      await page.keyboard.press('1');
      await settled(page);
      for (let k = 1; k < steps.length; k++) {
        await page.keyboard.press(']');
        const [a, b] = await settled(page);
        assert.equal(
          await page.locator('.story-step[aria-current=step]').innerText(),
          steps[k].text,
        );
        if (steps[k].t1_ns > steps[k].t0_ns)
          assert.ok(Math.abs((a + b) / 2 - (steps[k].t0_ns + steps[k].t1_ns) / 2) < b - a);
      }
      await page.keyboard.press('[');
      await settled(page);
      assert.equal(
        await page.locator('.story-step[aria-current=step]').innerText(),
        steps.at(-2).text,
      );
      await page.keyboard.press('Escape');
      assert.equal(await page.locator('.story-step').count(), 0);
    },
  ],

  [
    'cost, fix and source stand on the card',
    async kit => {
      const { findings } = kit.json('report', traces.before);
      const page = await kit.open(kit.html('report', traces.before));
      await page.keyboard.press('1');
      const card = await page.locator('.finding').first().innerText();
      for (const text of [findings[0].fix, findings[0].why, findings[0].severity])
        assert.ok(card.includes(text), text);
      for (const word of ['blocked', 'exposed', 'gain']) assert.ok(card.includes(word), word);
    },
  ],

  [
    'words explain themselves, by pointer and by keyboard',
    async kit => {
      const page = await kit.open(kit.html('report', traces.wan));
      await page.locator('.cost .term', { hasText: 'exposed' }).first().hover();
      assert.match(await page.locator('#tooltip').innerText(), /idle time/);
      await page.mouse.move(5, 5);
      assert.ok(await page.locator('#tooltip').isHidden());
      await page.locator('.cost .term', { hasText: 'blocked' }).first().focus();
      assert.match(await page.locator('#tooltip').innerText(), /waiting or working/);
    },
  ],
];
