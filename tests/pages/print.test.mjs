// Tests the page on paper, and the video of the sandbox.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EXECUTION, RUN_THREE_PLAYERS } from './binary.mjs';
import { open } from './browser.mjs';
import { fixture } from './fixture.mjs';

const { service, browser } = await fixture();

test('on paper all rows are open, and no column is narrower than a word', async () => {
  for (const id of [EXECUTION, RUN_THREE_PLAYERS]) {
    const { page, close } = await open(browser, service.page(id), { width: 700 });
    await page.emulateMedia({ media: 'print' });
    const hidden = await page.locator('.inside').evaluateAll((all) => all.filter((one) => !one.checkVisibility({ contentVisibilityAuto: true })).length);
    assert.equal(hidden, 0);
    const narrow = await page.locator('.title').evaluateAll((all) => all.filter((one) => one.getBoundingClientRect().width < 60).map((one) => one.textContent));
    assert.deepEqual(narrow, []);
    assert.equal(await page.locator('.filter:visible').count(), 0);
    const broken = await page.locator('.cards > li').evaluateAll((all) => all.filter((one) => getComputedStyle(one).breakInside !== 'avoid').length);
    assert.equal(broken, 0);
    await close();
  }
});

test('rows that were opened for a printer are closed again', async () => {
  const { page, close } = await open(browser, service.page(EXECUTION));
  const closed = () => page.locator('details:not([open])').count();
  const before = await closed();
  await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
  assert.equal(await closed(), 0);
  await page.evaluate(() => window.dispatchEvent(new Event('afterprint')));
  assert.equal(await closed(), before);
  assert.ok(before > 0);
  await close();
});

test('a trend of twenty executions fits on paper', async () => {
  const { page, close } = await open(browser, service.page('8329bf5f-2912-4f3e-8b06-a97011e21eac', 'paper', '--trend', '2'), { width: 1009 });
  await page.locator('table').evaluate((table) => {
    table.style.setProperty('--columns', 20);
    for (const row of table.rows) for (let more = 0; more < 18; more += 1) row.append(row.cells[1].cloneNode(true));
  });
  await page.emulateMedia({ media: 'print' });
  const cut = await page.locator('td .verdict').evaluateAll((all) => all.filter((one) => one.scrollWidth > one.closest('td').clientWidth).length);
  assert.equal(cut, 0);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= 1009), true);
  await close();
});

test('a browser plays the recording of the sandbox', async () => {
  const recording = new URL(`/runs/${RUN_THREE_PLAYERS}-1/artifacts/recording.mp4`, service.variables.TAS_KNOWLEDGE_URL);
  const video = await fetch(recording, { headers: { 'x-api-key': service.variables.TAS_API_KEY } });
  const bytes = Buffer.from(await video.arrayBuffer());
  const url = 'https://page.example/';
  const serve = {
    [url]: { contentType: 'text/html', body: '<video muted src="/recording.mp4"></video>' },
    [`${url}recording.mp4`]: { contentType: 'video/mp4', body: bytes },
  };
  const { page, close } = await open(browser, url, { serve });
  const [seconds, width] = await page.locator('video').evaluate(async (one) => {
    await one.play();
    return [one.duration, one.videoWidth];
  });
  assert.deepEqual([seconds, width], [12, 480]);
  await close();
});
