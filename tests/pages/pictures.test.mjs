// Tests the pictures of the page: enlarged by mouse and keyboard, readable for assistive technology, bounded in size.

import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { EXECUTION, RUN_FAILED } from './binary.mjs';
import { assertAccessible, assertQuiet, open } from './browser.mjs';
import { fixture } from './fixture.mjs';
import { HOST, READ, call, framed } from './host.mjs';

const STEP = `Screenshot: step 2, player 1, run ${RUN_FAILED}`;
const END = `Screenshot: end, player 1, run ${RUN_FAILED}`;

const { service, browser } = await fixture();

const names = (page) => page.locator('main img').evaluateAll((images) => images.map((one) => one.alt));
const focused = (page, alt) => page.evaluate((name) => document.activeElement.querySelector('img')?.alt === name, alt);
/** Returns whether the pixels of an image were decoded. */
const isPainted = (image) => image.evaluate((one) => one.decode().then(() => one.naturalWidth > 0));

/** A failed run with this many players, each with one picture at the address of a real screenshot. */
async function answerWithPlayers(count, addresses = {}) {
  const [real] = await service.ask(call('get_run', { run_id: RUN_FAILED }));
  const run = real.structuredContent;
  const [player] = run.players;
  const { url } = player.artifacts.find((one) => one.filename.includes('step-2'));
  const players = Array.from({ length: count }, (_, index) => ({
    ...player, player_number: index + 1, artifacts: [{ filename: 'step-2.png', url: addresses[index] ?? url, size: null, uploaded_at: null }],
  }));
  await service.answer('get_run', { ...run, players });
}

test('the failed step and the end of a run have pictures with alternative text', async () => {
  const url = service.page(RUN_FAILED);
  const { page, seen, close } = await open(browser, url);
  assert.deepEqual(await names(page), [STEP, END]);
  const step = page.locator('ol details').filter({ hasText: 'Pause the game' });
  assert.equal(await step.getByRole('button', { name: STEP }).count(), 1);
  for (const image of await page.locator('main img').all()) assert.ok(await isPainted(image));
  assertQuiet(seen, url);
  await close();
});

test('a picture is enlarged by mouse, and closed by its button and by a click beside it', async () => {
  const url = service.page(RUN_FAILED);
  const { page, seen, close } = await open(browser, url);
  const small = await page.getByAltText(STEP).boundingBox();
  for (const leave of [() => page.getByRole('button', { name: 'Close' }).click(), () => page.mouse.click(3, 3)]) {
    await page.getByRole('button', { name: STEP }).click();
    const dialog = page.getByRole('dialog', { name: STEP });
    const large = await dialog.getByRole('img').boundingBox();
    assert.ok(large.width > 2 * small.width, `${small.width} and ${large.width}`);
    assert.ok(Math.abs(large.width / large.height - small.width / small.height) < 0.1);
    await leave();
    await dialog.waitFor({ state: 'detached' });
    assert.ok(await focused(page, STEP));
  }
  assertQuiet(seen, url);
  await close();
});

test('a picture is enlarged by Enter and by Space, and Escape returns the focus', async () => {
  const { page, close } = await open(browser, service.page(RUN_FAILED));
  for (const key of ['Enter', 'Space']) {
    const button = page.getByRole('button', { name: END });
    await button.focus();
    assert.equal(await button.evaluate((one) => getComputedStyle(one).outlineStyle), 'solid');
    await page.keyboard.press(key);
    const dialog = page.getByRole('dialog', { name: END });
    await dialog.waitFor();
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Close');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    assert.ok(await focused(page, END), key);
  }
  await close();
});

test('the failures and the runs of an execution have pictures', async () => {
  const url = service.page(EXECUTION);
  const { page, seen, close } = await open(browser, url);
  const failures = page.getByRole('region', { name: /^Failures/ });
  assert.equal(await failures.getByRole('button', { name: /^Screenshot: step 2/ }).count(), 1);
  const runs = page.getByRole('region', { name: /^Runs/ });
  await runs.locator('summary').first().click();
  await runs.getByRole('button', { name: /^Screenshot: end/ }).first().click();
  await page.getByRole('dialog').waitFor();
  assertQuiet(seen, url);
  await close();
});

test('the page has no pictures if they are not wanted', async () => {
  const { page, close } = await open(browser, service.page(RUN_FAILED, 'none', '--no-pictures'));
  assert.equal(await page.locator('img').count(), 0);
  assert.doesNotMatch(await page.locator('main').innerText(), /picture/i);
  await close();
});

test('the page says which setting is missing', async () => {
  const { TAS_KNOWLEDGE_URL: host } = service.variables;
  delete service.variables.TAS_KNOWLEDGE_URL;
  const { page, close } = await open(browser, service.page(RUN_FAILED, 'no-host'));
  service.variables.TAS_KNOWLEDGE_URL = host;
  await page.getByText(/^2 pictures could not be read: .*TAS_KNOWLEDGE_URL is not set/).waitFor();
  assert.equal(await page.locator('img').count(), 0);
  await close();
});

test('a page with hundreds of pictures has at most 6 MB and says how many were left out', async () => {
  await answerWithPlayers(390);
  const url = service.page(RUN_FAILED, 'many');
  const { size } = statSync(fileURLToPath(url));
  assert.ok(size > 5_800_000 && size <= 6_000_000, `${size} bytes`);
  const { page, seen, close } = await open(browser, url);
  const shown = await page.locator('main img').count();
  assert.ok(shown > 200, `${shown}`);
  await page.getByText(`Left out, because the size of a page is limited: ${390 - shown} pictures.`).waitFor();
  assertQuiet(seen, url);
  await close();
});

test('bytes that are no picture are stated and add nothing to the page', async () => {
  const bodies = ['<svg onload="window.hurt=1">', '<script>window.hurt=1</script>', '', 'GIF89a'];
  for (const body of bodies) {
    await service.answer('get_run_artifact', body);
    const url = service.page(RUN_FAILED, 'bytes');
    const { page, seen, close } = await open(browser, url);
    await page.getByText(/^1 picture could not be read: .*neither PNG nor JPEG$/).waitFor();
    assert.equal(await page.locator('main img').count(), 1);
    assert.equal(await page.evaluate(() => window.hurt), undefined);
    assertQuiet(seen, url);
    await close();
  }
});

test('hostile data of a picture is not shown', async () => {
  const [view, run] = await service.ask(READ, call('get_run', { run_id: RUN_FAILED }));
  const picture = (src) => ({ run_id: RUN_FAILED, player: 1, step: 2, end: true, width: 9, height: 9, src });
  const sources = ['javascript:window.hurt=1', 'https://elsewhere.example/a.png', 'data:image/svg+xml,<svg onload="hurt=1">', 'data:text/html,<b>', '', null, { a: 1 }];
  const { seen, close, notify, say, heard, settled, start, frame } = await framed(browser, view);
  await start({ hostCapabilities: { serverResources: {} } });
  await notify('ui/notifications/tool-result', run);
  const { id } = await heard('resources/read');
  await say({ id, result: { contents: [{ text: JSON.stringify({ items: [...sources.map(picture), null, 'x'], unread: 3 }) }] } });
  await settled();
  assert.equal(await frame().locator('img').count(), 0);
  assertQuiet(seen, HOST);
  await close();
});

test('the view in a host reads the pictures as resources, if the host lets it', async () => {
  const uri = `tas://projects/demo/runs/${RUN_FAILED}/pictures`;
  const [view, run, summary, album] = await service.ask(
    READ, call('get_run', { run_id: RUN_FAILED }), call('summarize_results', { run_id: RUN_FAILED }), { method: 'resources/read', params: { uri } },
  );
  for (const [result, expected] of [[run, [STEP, END]], [summary, [STEP]]]) {
    const { seen, close, notify, say, heard, start, view: shown, frame } = await framed(browser, view);
    await start({ hostCapabilities: { serverResources: {} } });
    await notify('ui/notifications/tool-input', { arguments: { run_id: RUN_FAILED, project_id: 'demo' } });
    await notify('ui/notifications/tool-result', result);
    const asked = await heard('resources/read');
    assert.deepEqual(asked.params, { uri });
    await say({ id: asked.id, result: album });
    await shown.getByAltText(STEP).waitFor();
    assert.deepEqual(await names(frame()), expected);
    await shown.getByRole('button', { name: STEP }).click();
    await shown.getByRole('dialog').waitFor();
    await assertAccessible(frame());
    assertQuiet(seen, HOST);
    await close();
  }

  const silent = await framed(browser, view);
  await silent.start();
  await silent.notify('ui/notifications/tool-result', run);
  await silent.view.getByRole('heading', { level: 1 }).waitFor();
  assert.ok(!(await silent.waiting()).includes('resources/read'));
  await silent.close();
});

test('pictures that a host refuses are stated', async () => {
  const [view, run] = await service.ask(READ, call('get_run', { run_id: RUN_FAILED }));
  for (const answer of [{ error: { code: -32603, message: 'not now' } }, { result: { contents: [{ text: 'no JSON' }] } }, { result: {} }]) {
    const { seen, close, notify, say, heard, start, view: shown } = await framed(browser, view);
    await start({ hostCapabilities: { serverResources: {} } });
    await notify('ui/notifications/tool-result', run);
    await say({ id: (await heard('resources/read')).id, ...answer });
    await shown.getByText(`Pictures of ${RUN_FAILED} could not be read`).waitFor();
    await shown.getByRole('heading', { level: 1, name: 'Pause and resume' }).waitFor();
    assertQuiet(seen, HOST);
    await close();
  }
});

for (const theme of ['light', 'dark']) {
  test(`pictures and the enlarged picture are accessible, ${theme}`, async () => {
    const { page, close } = await open(browser, service.page(RUN_FAILED), { theme });
    await assertAccessible(page);
    await page.getByRole('button', { name: STEP }).click();
    await page.getByRole('dialog').waitFor();
    await assertAccessible(page);
    await close();
  });
}

test('pictures fit into every width', async () => {
  const url = service.page(RUN_FAILED);
  for (const width of [360, 480, 768, 1024, 1600]) {
    const { page, close } = await open(browser, url, { width });
    const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.equal(await overflow(), 0, `${width}`);
    await page.getByRole('button', { name: STEP }).click();
    const { x, y, width: wide, height } = await page.getByRole('dialog').boundingBox();
    assert.ok(x >= 0 && y >= 0 && x + wide <= width && y + height <= 800, `${width}: ${x} ${y} ${wide} ${height}`);
    assert.equal(await page.getByRole('dialog').evaluate((one) => one.scrollWidth - one.clientWidth), 0, `${width}`);
    assert.equal(await overflow(), 0, `${width}`);
    await close();
  }
});
