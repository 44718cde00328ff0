// Tests the page of a trend: a table of tests by executions.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { assertAccessible, assertQuiet, open } from './browser.mjs';
import { fixture } from './fixture.mjs';
import { LONG, MARKUP } from './hostile.mjs';

const PLAN = '8329bf5f-2912-4f3e-8b06-a97011e21eac';

const { service, browser } = await fixture();

const trend = (name, count = 5) => service.page(PLAN, name, '--trend', String(count));

/** Lets the service answer with this many executions of the plan. */
async function answerWithExecutions(count, name = 'Release smoke') {
  const data = Array.from({ length: count }, (_, index) => ({
    id: `00000000-0000-4000-8000-0000000001${String(index).padStart(2, '0')}`, test_plan_id: PLAN, test_plan_name: name, build_id: `build-${index}`, build_name: `Nightly ${index} ${name}`,
    status: 'completed', started_at: `2026-03-${String(index + 1).padStart(2, '0')}T02:00:00+00:00`, total_tests: 2,
  }));
  await service.answer('list_test_plan_executions', { data, pagination: { page: 0, page_size: 100, total_count: count, total_pages: 1 } });
  for (let index = 0; index < count; index += 1) {
    const job = (test, result) => ({
      job_id: `${test}-${index}`, multiplayer_test_id: test, test_name: `${test} ${name}`, status: 'completed',
      runs: [{ multiplayer_run_id: `run-${test}-${index}`, state: 'completed', result }],
    });
    // Every execution has the same results, because their jobs are read in any order.
    const data = [job('one', 'SUCCESS'), job('two', 'FAILED')];
    await service.answer('list_jobs', { data, pagination: { page: 0, page_size: 100, total_count: 2, total_pages: 1 } });
  }
}

test('the trend is a table with a header for each test and each execution, the newest on the right', async () => {
  const url = trend('trend');
  const { page, seen, close } = await open(browser, url);
  assert.equal(await page.title(), 'Release smoke');
  const table = page.getByRole('table', { name: /^Results of the last 2 executions/ });
  const headers = await table.getByRole('columnheader').allInnerTexts();
  const [corner, ...starts] = headers.map((text) => text.split('\n')[0]);
  assert.equal(corner, 'Test');
  const [earlier, later] = starts.map((text) => Date.parse(text));
  assert.ok(earlier < later, `${starts}`);
  const retried = table.getByRole('row').filter({ hasText: 'Beat the Cinder Golem' });
  assert.match(await retried.getByRole('cell').first().innerText(), /SUCCESS\s+after 1 retry/);
  assert.equal(await table.getByRole('rowheader').count(), 4);
  const row = table.getByRole('row').filter({ hasText: 'Pause and resume' });
  assert.deepEqual(await row.locator('td .verdict span:last-child').allInnerTexts(), ['FAILED', 'RUNNING']);
  assertQuiet(seen, url);
  await close();
});

test('a flaky test is marked with its reason', async () => {
  const { page, close } = await open(browser, trend('flaky'));
  const flaky = page.getByRole('rowheader').filter({ hasText: 'Flaky' });
  assert.equal(await flaky.count(), 1);
  assert.match(await flaky.innerText(), /Beat the Cinder Golem[^]*Flaky[^]*passed only when repeated/);
  assert.match(await page.locator('.facts').innerText(), /Flaky tests\s+1/);
  await close();
});

test('a wide table scrolls inside its own region, and the test names stay visible', async () => {
  await answerWithExecutions(20);
  const url = trend('wide', 20);
  for (const width of [360, 600, 1024, 1600]) {
    const { page, seen, close } = await open(browser, url, { width });
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0, `${width}`);
    const region = page.getByRole('region', { name: /^Results of the last 20 executions/ });
    assert.ok(await region.evaluate((one) => one.scrollWidth > one.clientWidth));
    await region.focus();
    await page.keyboard.press('End');
    await region.evaluate((one) => { one.scrollLeft = one.scrollWidth; });
    const name = await page.getByRole('rowheader').first().boundingBox();
    const around = await region.boundingBox();
    assert.ok(Math.abs(name.x - around.x) < 3, `${width}: ${name.x} and ${around.x}`);
    assertQuiet(seen, url);
    await close();
  }
});

test('long and hostile names are shown as text in every width', async () => {
  for (const name of [LONG, MARKUP]) {
    await answerWithExecutions(3, name);
    const url = trend('names', 3);
    for (const width of [360, 1600]) {
      const { page, seen, close } = await open(browser, url, { width });
      assert.equal(await page.getByRole('rowheader').count(), 2);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0, `${width}`);
      assert.equal(await page.evaluate(() => window.hurt), undefined);
      assert.equal(await page.locator('main img').count(), 0);
      assertQuiet(seen, url);
      await close();
    }
  }
});

for (const theme of ['light', 'dark']) {
  test(`the trend is accessible, ${theme}`, async () => {
    const { page, close } = await open(browser, trend(`accessible-${theme}`), { theme });
    await assertAccessible(page);
    await close();
  });
}
