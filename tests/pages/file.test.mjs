// Tests the page that `tas-mcp report --html` writes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EXECUTION, RUN_FAILED, RUN_MANY_BUGS, RUN_THREE_PLAYERS, RUN_UNDER_WAY } from './binary.mjs';
import { assertAccessible, assertQuiet, open } from './browser.mjs';
import { fixture } from './fixture.mjs';
import * as hostile from './hostile.mjs';

const { service, browser } = await fixture();

const STEP = `Screenshot: step 2, player 1, run ${RUN_FAILED}`;
const END = `Screenshot: end, player 1, run ${RUN_FAILED}`;

const names = (page) => page.locator('main img').evaluateAll((images) => images.map((one) => one.alt));
/** Returns whether the pixels of an image were decoded. */
const isPainted = (image) => image.evaluate((one) => one.decode().then(() => one.naturalWidth > 0));

test('a run is shown with its verdict, players, steps, bugs and files', async () => {
  const url = service.page(RUN_THREE_PLAYERS);
  const { page, seen, close } = await open(browser, url);
  assert.equal(await page.title(), 'FAILED: Cross-play: three lanterns');
  assert.equal(await page.locator('h1').innerText(), 'Cross-play: three lanterns');
  assert.match(await page.locator('header').innerText(), /FAILED/);
  assert.deepEqual(await page.locator('h2').allInnerTexts(), ['Bugs (1)', 'Player 1', 'Player 2', 'Player 3']);
  assert.deepEqual(await page.locator('h3').allInnerTexts(), Array(3).fill(['End of the run', 'Files']).flat());
  assert.match(await page.locator('section', { hasText: 'Bugs (1)' }).locator('summary').innerText(), /critical/i);
  assert.equal(await page.locator('ol > li').count(), 6);
  assert.deepEqual(await page.locator('details[open] > summary .title').allInnerTexts(), ['2. Light the beacon together']);
  assert.equal(await page.getByText('The guest on the phone fell through').count(), 2);
  assertQuiet(seen, url);
  await close();
});

test('files are links to the service, with the command that saves them', async () => {
  const { page, close } = await open(browser, service.page(RUN_THREE_PLAYERS));
  assert.equal(await page.getByText('agent.log').count(), 3);
  assert.deepEqual(await page.locator('code').allInnerTexts(), Array(3).fill(`tas-mcp download ${RUN_THREE_PLAYERS}`));
  const links = await page.locator('a:not([href^="#"])').evaluateAll((all) => all.map(({ href, target, rel }) => [href, target, rel]));
  const log = `${service.variables.TAS_KNOWLEDGE_URL}/runs/${RUN_THREE_PLAYERS}-1/artifacts/agent.log`;
  assert.ok(links.some(([href]) => href === log), `${links}`);
  assert.ok(links.every(([, ...rest]) => String(rest) === '_blank,noopener noreferrer'), `${links}`);
  await close();
  for (const id of ['$(x)', "';x", '`x`']) {
    await service.answer('get_run', { ...hostile.run(), multiplayer_run_id: id });
    const odd = await open(browser, service.page(RUN_FAILED, 'odd-id'));
    await odd.page.getByRole('heading', { name: 'Files' }).waitFor();
    assert.equal(await odd.page.locator('code').count(), 0, id);
    await odd.close();
  }
  for (const id of ['a b', '-', 'run\n']) {
    await service.answer('get_run', { ...hostile.run(), multiplayer_run_id: id });
    assert.throws(() => service.page(RUN_FAILED, 'no-id'), /has white space, control characters or `-` at its beginning/, id);
  }
});

test('without scripts, verdicts and failures are shown', async () => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(service.page(EXECUTION));
  assert.equal(await page.locator('h1').innerText(), 'Release smoke: 3 of 4 passed');
  assert.equal(await page.locator('h2').first().innerText(), 'FAILED: Pause and resume');
  assert.match(await page.locator('main').innerText(), /step 2 Pause the game[^]*observed Three taps/);
  await context.close();
});

test('a bug links to its step', async () => {
  const { page, close } = await open(browser, service.page(RUN_FAILED));
  const step = page.locator('ol details').filter({ hasText: 'Pause the game' });
  await step.evaluate((row) => { row.open = false; });
  await page.getByText('Pause button does not react').click();
  await page.getByRole('link', { name: 'player 1, step 2' }).click();
  assert.equal(await step.evaluate((row) => row.open), true);
  assert.equal(await step.locator('summary').evaluate((head) => head === document.activeElement), true);
  await close();
});

test('only an address of the web that holds no permission is a link', async () => {
  const addresses = ['http://a.example/x', 'https://a.example/?X-Amz-Signature=1', 'https://user:key@a.example/', 'javascript:alert(1)', 'data:text/html,x', '//a.example/', 'file:///etc/passwd'];
  const record = hostile.run();
  record.players[0].artifacts = addresses.map((url) => ({ filename: 'a', url, size: 1, uploaded_at: '' }));
  await service.answer('get_run', { ...record, url: 'https://service.example/runs/1' });
  const { page, close } = await open(browser, service.page(RUN_FAILED, 'addresses'));
  const links = await page.locator('a:not([href^="#"])').evaluateAll((all) => all.map(({ href }) => href));
  assert.deepEqual(links, ['https://service.example/runs/1', 'http://a.example/x']);
  await close();
});

test('rows are filtered by words of their texts and verdicts', async () => {
  const url = service.page(EXECUTION);
  const { page, seen, close } = await open(browser, url);
  const shown = () => page.locator('section:last-of-type li:visible .title:visible').allInnerTexts();
  const filter = page.getByLabel('Filter by words');
  await filter.fill('success');
  assert.deepEqual(await shown(), ['Beat the Cinder Golem', 'Explore the Ashen Woods', 'Finish the first level']);
  assert.equal(await page.getByRole('heading', { name: /^Failures/ }).isVisible(), false);
  await filter.fill('golem Success');
  assert.deepEqual(await shown(), ['Beat the Cinder Golem']);
  assert.equal(await page.getByText(/^1 of \d+ rows$/).count(), 1);
  await filter.fill('');
  assert.equal((await shown()).length, 5);
  assertQuiet(seen, url);
  await close();
});

test('an execution is shown with its failures and every run, the worst first', async () => {
  const url = service.page(EXECUTION);
  const { page, seen, close } = await open(browser, url);
  assert.equal(await page.locator('h1').innerText(), 'Release smoke');
  assert.match(await page.locator('header').innerText(), /FAILED/);
  assert.deepEqual(await page.locator('h2').allInnerTexts(), ['Failures (1)', 'Passed after a retry', 'Passed with bugs', 'Slowest', 'Runs (5)']);
  assert.deepEqual(await page.locator('section:last-of-type .verdict span:last-child').allInnerTexts(), ['FAILED', 'TIMEOUT', 'SUCCESS', 'SUCCESS', 'SUCCESS']);
  assert.match(await page.locator('.facts').innerText(), /4 of 4/);
  assertQuiet(seen, url);
  await close();
});

test('hostile texts are shown as text', async () => {
  await service.answer('get_run', hostile.run());
  await service.answer('list_run_bugs', hostile.bugs());
  const url = service.page(RUN_FAILED, 'hostile');
  const { page, seen, close } = await open(browser, url);
  assert.equal(await page.locator('h1').innerText(), `${hostile.CLOSING} ${hostile.MARKUP}`);
  assert.deepEqual(await page.evaluate(hostile.brought), { hurt: null, elements: [], scripts: 2, handlers: [], links: ['https://elsewhere.example/'] });
  for (const part of await page.locator('summary').all()) await part.click();
  const shown = await page.locator('main').innerText();
  assert.ok(shown.includes('reportfdp.exe end'), shown);
  assert.doesNotMatch(shown, /[\u202A-\u202E\u2066-\u2069\u200B]/);
  assertQuiet(seen, url);
  await close();
});

test('records with missing and additional fields are shown', async () => {
  const odd = [
    {}, { players: [{}, null, 3, 'x'], test: 'a name', build: [] },
    { players: { 1: {} }, result: 7, duration_ms: 'long', started_at: 'yesterday', tags: 'x', bug_info: 3 },
    { state: 'running', result: null, players: [{ steps: [{}, null, { test: null, items: [null, 1] }], artifacts: [null, {}] }] },
    { state: 'completed', result: 'success', players: [] }, { result: 'GAVE_UP' },
  ];
  const words = [[], [], ['7'], ['RUNNING'], ['SUCCESS'], ['GAVE_UP']];
  for (const [index, record] of odd.entries()) {
    await service.answer('get_run', { multiplayer_run_id: 'odd', ...record });
    const url = service.page(RUN_FAILED, `odd-${index}`);
    const { page, seen, close } = await open(browser, url);
    assert.deepEqual(await page.locator('header .verdict span:last-child').allInnerTexts(), words[index]);
    assert.doesNotMatch(await page.locator('main').innerText(), /\b(Unknown|false|undefined|NaN)\b/);
    assertQuiet(seen, url);
    await close();
  }
});

test('the keyboard reaches every expandable element, and Enter opens it', async () => {
  const { page, close } = await open(browser, service.page(RUN_FAILED, 'keyboard', '--no-pictures'));
  const wanted = await page.locator('summary').count();
  const reached = new Set();
  for (let presses = 0; presses < wanted; presses += 1) {
    await page.keyboard.press('Tab');
    reached.add(await page.evaluate(() => {
      const { activeElement: at } = document;
      const { outlineStyle, outlineWidth } = getComputedStyle(at);
      return `${at.tagName} ${[...document.querySelectorAll('summary')].indexOf(at)} ${outlineStyle} ${parseFloat(outlineWidth) >= 2}`;
    }));
  }
  assert.equal(reached.size, wanted);
  for (const one of reached) assert.match(one, /^SUMMARY \d+ solid true$/);
  const first = page.locator('summary').first();
  await first.focus();
  assert.equal(await page.locator('details').first().evaluate((one) => one.open), false);
  await page.keyboard.press('Enter');
  assert.equal(await page.locator('details').first().evaluate((one) => one.open), true);
  await page.keyboard.press('Enter');
  assert.equal(await page.locator('details').first().evaluate((one) => one.open), false);
  await close();
});

for (const theme of ['light', 'dark']) {
  test(`the accessibility checker finds nothing, ${theme}`, async () => {
    for (const id of [RUN_THREE_PLAYERS, RUN_UNDER_WAY, RUN_MANY_BUGS, EXECUTION]) {
      const { page, close } = await open(browser, service.page(id), { theme });
      await page.locator('details').evaluateAll((all) => all.forEach((one) => { one.open = true; }));
      await assertAccessible(page);
      await close();
    }
  });
}

/** Returns the right edge of the rightmost text, including clipped text. */
const rightmost = () => {
  const texts = document.createTreeWalker(document.getElementById('report'), NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  let most = 0;
  while (texts.nextNode()) {
    range.selectNodeContents(texts.currentNode);
    for (const part of range.getClientRects()) most = Math.max(most, part.right);
  }
  return most;
};

test('nothing is cut off at 320 pixels', async () => {
  const records = [null, hostile.run(), hostile.wide()];
  const pages = [[RUN_THREE_PLAYERS, ...records], [EXECUTION, null]].flatMap(([id, ...all]) => all.map((record) => [id, record]));
  for (const [id, record] of pages) {
    if (record) await service.answer('get_run', record);
    const { page, close } = await open(browser, service.page(id, 'narrow'), { width: 320 });
    await page.locator('details').evaluateAll((all) => all.forEach((one) => { one.open = true; }));
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 320);
    const most = await page.evaluate(rightmost);
    assert.ok(most > 200 && most <= 304, `text goes to ${most}`);
    await close();
  }
});

test('the policy of the page blocks other scripts and all requests', async () => {
  const url = service.page(RUN_FAILED);
  const { page, seen, close } = await open(browser, url);
  await page.evaluate(() => {
    const script = document.createElement('script');
    script.textContent = 'window.hurt = 1';
    document.body.append(script, Object.assign(new Image(), { src: 'https://elsewhere.example/x.png' }));
    return fetch('https://elsewhere.example/').catch(() => {});
  });
  assert.equal(await page.evaluate(() => window.hurt), undefined);
  assert.equal(seen.errors.filter((error) => error.includes('Content Security Policy')).length >= 3, true, seen.errors.join('\n'));
  assert.deepEqual(seen.requests, [url]);
  await close();
});

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

test('a picture is enlarged in its place by Enter and by Space', async () => {
  const { page, close } = await open(browser, service.page(RUN_FAILED));
  const button = page.getByRole('button', { name: END });
  const width = () => button.locator('img').evaluate((image) => image.getBoundingClientRect().width);
  const small = await width();
  await button.focus();
  assert.equal(await button.evaluate((one) => getComputedStyle(one).outlineStyle), 'solid');
  await page.keyboard.press('Enter');
  assert.equal(await button.getAttribute('aria-expanded'), 'true');
  assert.ok(await width() > 2 * small, `${small} to ${await width()}`);
  await page.keyboard.press('Space');
  assert.equal(await width(), small);
  await close();
});

test('the last results are a grid of letters', async () => {
  const url = service.page(EXECUTION, 'history', '--history', '5', '--compare-with', 'previous');
  for (const [theme, width] of [['light', 900], ['dark', 400]]) {
    const { page, seen, close } = await open(browser, url, { theme, width });
    const part = page.locator('section', { hasText: 'Last 2 results' });
    assert.match(await part.locator('.row', { hasText: 'Cinder Golem' }).locator('code').innerText(), /^\S \S$/);
    assert.match(await part.locator('p').innerText(), /s SUCCESS after a retry/);
    assert.equal(await part.locator('.results > li').count(), 2);
    assert.equal(await page.getByRole('heading', { name: 'Compared' }).count(), 1);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
    assertQuiet(seen, url);
    await assertAccessible(page);
    await close();
  }
});
