// Findings drive the timeline: a click lands on the evidence, steps follow the reasoning.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { counts, data, settled, traces } from './kit.mjs';

const attention = join(data, 'advice', 'attention_math_stack.json.gz');

export const tests = [
  [
    'a click lands on the evidence and lights it',
    async kit => {
      const path = kit.html('report', traces.before);
      const { stories } = kit.head(path).sets[0].page;
      const page = await kit.open(path);
      await page.locator('.finding-head').first().click();
      const [a, b] = await settled(page);
      const step = stories[0].steps[0];
      assert.ok(Math.abs(a - step.t0_ns) < 2 && Math.abs(b - step.t1_ns) < 2, `${a}, ${b}`);
      await counts(page.locator('.story-step'), stories[0].steps.length);
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
    'a story begins with the whole wait, and then goes near',
    async kit => {
      const path = kit.html('report', traces.wan);
      const { stories } = kit.head(path).sets[0].page;
      const { findings } = kit.json('report', traces.wan);
      const waits = findings.findIndex(f => f.blocked_us > 1e5);
      assert.ok(waits >= 0);
      const page = await kit.open(path);
      await page.keyboard.press(String(waits + 1));
      const [a, b] = await settled(page);
      const { steps } = stories[waits];
      assert.match(steps[0].text, /^the whole wait: the CPU is blocked for 565 ms/);
      assert.equal(steps[0].mark, 'blocked');
      assert.ok(b - a > 565e6, `${b - a}`);
      await page.keyboard.press(']');
      const [c, d] = await settled(page);
      assert.ok(d - c < (b - a) / 100, `${d - c} of ${b - a}`);
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
      await counts(page.locator('.story-step'), 0);
    },
  ],

  [
    'gain, fix and effort stand on the card; opened, why and what it costs',
    async kit => {
      const { findings } = kit.json('report', traces.before);
      const page = await kit.open(kit.html('report', traces.before));
      const closed = await page.locator('.finding').first().innerText();
      const percent = Math.round(findings[0].predicted_gain_pct);
      assert.match(closed, new RegExp(`^−${percent}.%`));
      assert.match(closed, /Fix: \w+/);
      assert.match(closed, /effort: \w+/);
      await page.keyboard.press('1');
      const card = await page.locator('.finding').first().innerText();
      for (const text of [findings[0].fix, findings[0].why]) assert.ok(card.includes(text), text);
      for (const word of ['Gain', 'About this rule'])
        assert.ok(card.includes(word), word);
      assert.ok(!/CPU blocked/.test(card), 'work of the CPU is no wait');
      await page.keyboard.press('2');
      assert.match(await page.locator('.finding').nth(1).innerText(), /CPU blocked 463.us/);
    },
  ],

  [
    'findings that gain less than 1 % are one line, and a key still opens them',
    async kit => {
      const { findings, not_worth_it } = kit.json('report', traces.wan);
      const low = findings.filter(f => !f.worth).length + not_worth_it.count;
      assert.ok(low > 1);
      const page = await kit.open(kit.html('report', traces.wan));
      assert.match(await page.locator('.low summary').innerText(), new RegExp(`^${low} findings`));
      assert.equal(await page.locator('.low .finding').first().isVisible(), false);
      await page.keyboard.press('2');
      assert.ok(await page.locator('.low .finding.open').isVisible());
    },
  ],

  [
    'what is blocked and gains nothing is told apart, and leads to its evidence',
    async kit => {
      const page = await kit.open(kit.html('report', traces.wan));
      const row = page.locator('.not-slow').first();
      assert.match(await row.innerText(), /blocks 565.ms/);
      await row.click();
      await page.locator('.story-step[aria-current=step]').waitFor();
    },
  ],

  [
    'a finding can be copied and its line opened; nothing is asked of anyone for it',
    async kit => {
      const page = await kit.open(kit.html('report', attention));
      await page.evaluate(() => {
        navigator.clipboard.writeText = async text => void (window.copied = text);
      });
      await page.keyboard.press('1');
      const copied = async button => {
        await button.click();
        return page.evaluate(() => window.copied);
      };
      assert.equal(
        await copied(page.locator('.finding .command .copy')),
        'strata try --fix attention:flash -- python advice.py',
      );
      const card = await copied(page.locator('.action-row .copy'));
      assert.match(card, /^1\. \*\*−93 %\*\* attention is not fused \(`f`, `advice\.py:37`\)/);
      assert.match(card, /\*\*Fix:\*\* Let it use a fused backend/);
      assert.match(await copied(page.locator('.title-buttons .copy')), /→[^]*1\. \*\*−93 %/);
      await page.locator('.editor button').click();
      await page.locator('.editor input').fill('/home/me/my project');
      await page.keyboard.press('Enter');
      assert.equal(
        await page.locator('.editor a').getAttribute('href'),
        'vscode://file/home/me/my%20project/advice.py:37',
      );
    },
  ],

  [
    'every finding leads to the page of its rule, which is in the file',
    async kit => {
      const path = kit.html('report', traces.before);
      const { rules, sets } = kit.head(path);
      const page = await kit.open(path);
      for (const [i, f] of sets[0].report.findings.entries()) {
        await page.keyboard.press(String(i + 1));
        await page.getByRole('button', { name: 'About this rule' }).click();
        const dialog = page.locator('dialog.rule-page');
        const [title, , id] = rules[f.rule].split('\n');
        assert.equal(await dialog.locator('h2').innerText(), title.replace('# ', ''));
        assert.equal(id, `Rule \`${f.rule}\`.`);
        const text = await dialog.innerText();
        for (const part of ['How we know', 'Fix', `strata explain ${f.rule}`])
          assert.ok(text.includes(part), part);
        assert.ok(!/`|\*\*|\]\(/.test(text), text);
        await page.keyboard.press('Escape');
        assert.equal(await dialog.isVisible(), false);
      }
    },
  ],

  [
    'the fix on a card is a whole sentence',
    async kit => {
      for (const trace of [attention, traces.before]) {
        const { findings } = kit.json('report', trace);
        const page = await kit.open(kit.html('report', trace), {
          viewport: { width: 1280, height: 720 },
        });
        const fixes = page.locator('.finding-list').first().locator('.finding-fix');
        const shown = findings.filter(f => f.worth);
        assert.ok(shown.length && (await fixes.count()) === shown.length);
        for (const [i, f] of shown.entries()) {
          const cut = await fixes.nth(i).evaluate(el => el.scrollHeight > el.clientHeight + 1);
          assert.ok(!cut && (await fixes.nth(i).innerText()).includes(f.fix_brief), f.fix_brief);
        }
      }
    },
  ],

  [
    'words explain themselves, by pointer and by keyboard',
    async kit => {
      const page = await kit.open(kit.html('report', traces.wan));
      await page.keyboard.press('1');
      await page.locator('.costs .term', { hasText: 'exposed' }).first().hover();
      assert.match(await page.locator('#tooltip').innerText(), /idle time/);
      await page.mouse.move(5, 5);
      assert.ok(await page.locator('#tooltip').isHidden());
      await page.locator('.costs .term', { hasText: 'blocked' }).first().focus();
      assert.match(await page.locator('#tooltip').innerText(), /\w+/);
      // underlined where it comes first, and there only
      const lines = await page
        .locator('.term')
        .evaluateAll(all =>
          all
            .filter(el => getComputedStyle(el).textDecorationLine === 'underline')
            .map(el => el.dataset.term),
        );
      const repeated = lines.filter((word, i) => word !== 'blocked' && lines.indexOf(word) !== i);
      assert.ok(lines.length > 5);
      assert.deepEqual(repeated, []);
    },
  ],
];
