// Tests the page that `tas-mcp report --html` writes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EXECUTION, EXECUTION_QUEUED, EXECUTION_UNDER_WAY, RUN_FAILED, RUN_MANY_BUGS, RUN_THREE_PLAYERS, RUN_UNDER_WAY } from './binary.mjs';
import { assertAccessible, assertQuiet, open } from './browser.mjs';
import { fixture } from './fixture.mjs';
import * as hostile from './hostile.mjs';

const { service, browser } = await fixture();

test('a run is shown with its verdict, players, steps, bugs and files', async () => {
  const url = service.page(RUN_THREE_PLAYERS);
  const { page, seen, close } = await open(browser, url);
  assert.equal(await page.title(), 'FAILED: Cross-play: three lanterns');
  assert.equal(await page.locator('h1').innerText(), 'Cross-play: three lanterns');
  assert.match(await page.locator('header').innerText(), /FAILED/);
  assert.deepEqual(await page.locator('h2').allInnerTexts(), ['Bugs (1)', 'Player 1', 'Player 2', 'Player 3']);
  assert.deepEqual(await page.locator('h3').allInnerTexts(), ['Critical (1)', ...Array(3).fill(['End of the run', 'Files']).flat()]);
  assert.equal(await page.locator('ol > li').count(), 6);
  assert.deepEqual(await page.locator('details[open] > summary .title').allInnerTexts(), ['2. Light the beacon together']);
  assert.equal(await page.getByText('The guest on the phone fell through').count(), 2);
  assertQuiet(seen, url);
  await close();
});

test('files are links to the service, with the command that saves them', async () => {
  const { page, close } = await open(browser, service.page(RUN_THREE_PLAYERS));
  assert.equal(await page.getByText('agent.log').count(), 3);
  assert.deepEqual(await page.locator('code').allInnerTexts(), Array(3).fill(`tas-mcp download run ${RUN_THREE_PLAYERS}`));
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

test('a failure links to its run', async () => {
  const { page, close } = await open(browser, service.page(EXECUTION));
  await page.getByRole('region', { name: /^Failures/ }).getByRole('link').first().click();
  const reached = await page.evaluate(() => document.activeElement.innerText);
  assert.match(reached, /Pause and resume/);
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

test('the address of a run leads to its row, which has its bugs', async () => {
  const url = service.page(EXECUTION);
  const { page, close } = await open(browser, url);
  const runs = page.getByRole('region', { name: /^Runs/ });
  const run = runs.locator('details').filter({ hasText: 'Explore the Ashen Woods' });
  await run.locator('summary').click();
  assert.match(await run.innerText(), /Player falls through the rope bridge/);
  const href = await run.getByRole('link', { name: 'Link to this run' }).getAttribute('href');
  await page.evaluate((hash) => { document.querySelectorAll('details').forEach((one) => { one.open = false; }); location.hash = hash; }, href);
  await page.waitForFunction(() => document.querySelector('details[open]'));
  assert.equal(await run.evaluate((row) => row.open), true);
  await close();
});

test('rows are filtered by verdict and text', async () => {
  const url = service.page(EXECUTION);
  const { page, seen, close } = await open(browser, url);
  const shown = () => page.locator('section:last-of-type li:visible .title:visible').allInnerTexts();
  await page.getByLabel('Filter by verdict').selectOption('SUCCESS');
  assert.deepEqual(await shown(), ['Beat the Cinder Golem', 'Explore the Ashen Woods', 'Finish the first level']);
  assert.equal(await page.getByRole('heading', { name: /^Failures/ }).isVisible(), false);
  await page.getByLabel('Filter by text').fill('golem');
  assert.deepEqual(await shown(), ['Beat the Cinder Golem']);
  assert.equal(await page.getByText('2 of 8 rows').count(), 1);
  await page.getByLabel('Filter by verdict').selectOption({ index: 0 });
  await page.getByLabel('Filter by text').fill('');
  assert.equal((await shown()).length, 5);
  assertQuiet(seen, url);
  await close();
});

test('the page says when it was made, with the time zone', async () => {
  const { page, close } = await open(browser, service.page(RUN_FAILED));
  assert.match(await page.locator('.created').innerText(), /^Report of \w+ \d+, 20\d\d, [\d:]+.[AP]M UTC$/);
  await close();
});

test('the page of a compared run shows the changes below the run', async () => {
  const url = service.page(RUN_FAILED, 'compared', '--compare-with', RUN_FAILED);
  const { page, seen, close } = await open(browser, url);
  assert.equal(await page.locator('h1').innerText(), 'Pause and resume');
  assert.deepEqual(await page.locator('h2').allInnerTexts(), ['Bugs (1)', 'Steps', 'Compared']);
  assert.equal(await page.locator('ol .track').count(), 2);
  const compared = page.getByRole('region', { name: 'Compared' });
  assert.match(await compared.innerText(), new RegExp(`With Run · ${RUN_FAILED}`));
  assert.deepEqual(await compared.locator('h3').allInnerTexts(), ['Still failing (1)']);
  assertQuiet(seen, url);
  await close();
});

test('an execution without started runs is queued', async () => {
  const { page, close } = await open(browser, service.page(EXECUTION_QUEUED));
  assert.equal(await page.locator('header .verdict span:last-child').innerText(), 'QUEUED');
  await close();
});

test('the bars of the timeline are in proportion to the time', async () => {
  const { page, close } = await open(browser, service.page(RUN_FAILED));
  // 28.5 s and 33 s of 61.5 s.
  const bars = await page.locator('.track').evaluateAll((tracks) => tracks.map((track) => {
    const [whole, part] = [track, track.firstChild].map((one) => one.getBoundingClientRect());
    return [(part.left - whole.left) / whole.width, part.width / whole.width].map((share) => share.toFixed(2));
  }));
  assert.deepEqual(bars, [['0.00', '0.46'], ['0.46', '0.54']]);
  await close();
});

test('an unfinished run and a run with bugs of every severity are shown', async () => {
  const url = service.page(RUN_UNDER_WAY);
  const running = await open(browser, url);
  assert.match(await running.page.locator('header').innerText(), /RUNNING/);
  assert.deepEqual(await running.page.locator('ol > li > * > .verdict span:last-child, summary .verdict span:last-child').allInnerTexts(), ['SUCCESS', 'RUNNING', 'INITIALIZING']);
  assertQuiet(running.seen, url);
  await running.close();
  const bugs = await open(browser, service.page(RUN_MANY_BUGS));
  assert.deepEqual((await bugs.page.locator('h3').allInnerTexts()).slice(0, 3), ['Critical (1)', 'Medium (2)', 'Low (1)']);
  await bugs.close();
  await service.answer('list_run_bugs', { data: hostile.bugs().data, pagination: { page: 0, page_size: 20, total_count: 40, total_pages: 2 } });
  const more = await open(browser, service.page(RUN_MANY_BUGS, 'more-bugs'));
  await more.page.getByRole('heading', { name: 'Bugs (1 of 40)' }).waitFor();
  await more.close();
});

test('an execution is shown with its failures and every run, the worst first', async () => {
  const url = service.page(EXECUTION);
  const { page, seen, close } = await open(browser, url);
  assert.equal(await page.locator('h1').innerText(), 'Release smoke');
  assert.match(await page.locator('header').innerText(), /FAILED/);
  assert.deepEqual(await page.locator('h2').allInnerTexts(), ['Failures (1)', 'Passed only when repeated', 'Passed with bugs', 'Runs (5)']);
  assert.deepEqual(await page.locator('section:last-of-type .verdict span:last-child').allInnerTexts(), ['FAILED', 'TIMEOUT', 'SUCCESS', 'SUCCESS', 'SUCCESS']);
  assert.match(await page.locator('.facts').innerText(), /4 of 4/);
  assertQuiet(seen, url);
  await close();
});

test('an unfinished execution shows how many runs are not finished', async () => {
  const { page, close } = await open(browser, service.page(EXECUTION_UNDER_WAY));
  const counts = page.getByRole('group', { name: 'Tests by verdict' });
  assert.deepEqual(await counts.locator('.verdict span:last-child').allInnerTexts(), ['unfinished 3', 'SUCCESS 1']);
  const widths = await counts.locator('.share > span').evaluateAll((bars) => bars.map((bar) => bar.getBoundingClientRect().width));
  assert.ok(Math.abs(widths[0] / widths[1] - 3) < 0.1, `${widths}`);
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
