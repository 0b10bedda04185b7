// The page opens, says what the command says, and asks nobody for anything.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { counts, data, traces, view } from './kit.mjs';

const attention = join(data, 'advice', 'attention_math_stack.json.gz');

export const tests = [
  [
    'the top says what the report says',
    async kit => {
      const report = kit.json('report', traces.wan);
      const page = await kit.open(kit.html('report', traces.wan));
      assert.match(await page.title(), /wan_before_compile/);
      const top = await page.locator('.hero').innerText();
      assert.match(top, /GPU-bound/);
      const checks = await page.locator('.checks').textContent();
      for (const check of report.checklist) assert.ok(checks.includes(check.verdict), check.verdict);
      await counts(page.locator('.stage-bar'), 2);
      const titles = await page.locator('.finding-title').allTextContents();
      assert.deepEqual(
        titles.map(t => t.toLowerCase()),
        report.findings.map(f => f.title),
      );
    },
  ],

  [
    'what the text report says of the recording and of the time of the GPU is on the page',
    async kit => {
      const cut = join(data, 'torch', 'gpu_graph.json.gz');
      const { recorded } = kit.json('report', cut);
      assert.ok(recorded.sentence);
      const page = await kit.open(kit.html('report', cut));
      assert.equal(await page.locator('.recorded').innerText(), recorded.sentence);
      const { families, answer } = kit.json('report', traces.wan);
      assert.equal(answer.kind, 'already_fast');
      const other = await kit.open(kit.html('report', traces.wan));
      const rows = await other.locator('.filling tbody tr').allInnerTexts();
      assert.ok(rows.length >= 3);
      rows.forEach((text, i) => {
        const f = families[i];
        for (const part of [f.family, f.share_pct.toFixed(1), f.of_roof_pct.toFixed(1)])
          assert.ok(text.includes(part), `${part} in ${text}`);
      });
    },
  ],

  [
    'the headline is the result, and its colour what there is to gain',
    async kit => {
      for (const [trace, words, opportunity] of [
        [attention, /^14x faster with one change: 156.+11.*\(−93.%\)$/, 'large'],
        [traces.wan, /./, 'none'],
        [join(data, 'torch', 'plain.json.gz'), /./, 'unknown'],
      ]) {
        const page = await kit.open(kit.html('report', trace));
        assert.match(await page.locator('h1').innerText(), words);
        await counts(page.locator(`.hero.opp-${opportunity}`), 1, trace);
        const good = await page.evaluate(() =>
          [...document.querySelectorAll('.check-sign, .badge')].filter(el => {
            const [r, g, b] = getComputedStyle(el).color.match(/\d+/g).map(Number);
            return g > r + 20 && g > b + 20;
          }).length,
        );
        assert.equal(good > 0, opportunity === 'none', `${good} green signs`);
      }
    },
  ],

  [
    'says which program wrote it and when, and has a picture for the tab',
    async kit => {
      const path = kit.html('report', traces.wan);
      const { strata, made } = kit.head(path);
      assert.match(made, /^\d{4}-\d\d-\d\d$/);
      const page = await kit.open(path);
      assert.equal(await page.locator('.foot').innerText(), `Strata ${strata}, ${made}`);
      const icon = await page.locator('link[rel=icon]').getAttribute('href');
      assert.match(icon, /^data:image\/svg\+xml,.*path/);
    },
  ],

  [
    'the whole trace is on screen, and painted',
    async kit => {
      const page = await kit.open(kit.html('report', traces.wan));
      const { window } = kit.head(kit.html('report', traces.wan)).sets[0].page;
      const [start, end] = await view(page);
      assert.ok(start <= window.t0_ns && end >= window.t1_ns);
      const colors = await page.evaluate(() => {
        const canvas = document.querySelector('canvas.spans');
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        return new Set(new Uint32Array(data.buffer)).size;
      });
      assert.ok(colors > 20, `${colors} colours`);
    },
  ],

  [
    'tracks, curves and bands are named',
    async kit => {
      const page = await kit.open(kit.html('report', traces.wan));
      const names = (await page.locator('.track-label').allInnerTexts()).join('\n');
      for (const word of ['busy', 'work queued', 'memory in use', 'stream 7', 'thread 1213'])
        assert.ok(names.includes(word), `${word} in ${names}`);
    },
  ],

  [
    'a policy by hash: nothing else runs, nothing leaves',
    async kit => {
      const path = kit.html('report', traces.before);
      const text = readFileSync(path, 'utf8');
      assert.match(text, /default-src 'none'.*script-src 'sha256-[^']+'/);
      assert.ok(!/unsafe|https?:/.test(text.match(/content="default-src[^"]*"/)[0]));
      const page = await kit.open(path);
      const broken = await page.evaluate(async () => {
        const seen = [];
        addEventListener('securitypolicyviolation', e => seen.push(e.effectiveDirective));
        const script = document.createElement('script');
        script.textContent = 'window.injected = 1';
        document.body.append(script);
        await fetch('https://example.invalid/').catch(() => 0);
        const image = document.createElement('img');
        image.src = 'https://example.invalid/x.png';
        document.body.append(image);
        await new Promise(done => setTimeout(done, 100));
        return { seen, injected: window.injected };
      });
      assert.equal(broken.injected, undefined);
      for (const directive of ['script-src-elem', 'connect-src', 'img-src'])
        assert.ok(broken.seen.includes(directive), `${directive} in ${broken.seen}`);
      kit.troubles = kit.troubles.filter(t => !/Content Security Policy|example\.invalid/.test(t));
    },
  ],

  [
    'the empty page says what it is',
    async kit => {
      const page = await kit.open(kit.viewer, { ready: 'failed' });
      assert.match(await page.locator('.problem').innerText(), /strata report TRACE --html/);
      kit.troubles = kit.troubles.filter(t => !/This page is empty/.test(t));
    },
  ],
  [
    'works inside a closed frame, as notebooks show it',
    async kit => {
      const page = await kit.open(kit.html('report', traces.before));
      const text = readFileSync(kit.html('report', traces.before), 'utf8');
      await page.goto('about:blank');
      await page.evaluate(srcdoc => {
        const frame = document.createElement('iframe');
        Object.assign(frame, { srcdoc, width: 1200, height: 700 });
        frame.setAttribute('sandbox', 'allow-scripts');
        document.body.append(frame);
      }, text);
      const frame = page.frameLocator('iframe');
      await frame.locator('html[data-ready=true]').waitFor();
      await frame.locator('.finding-head').first().click();
      await frame.locator('.story-step[aria-current=step]').waitFor();
      await page.waitForTimeout(400);
    },
  ],
];
