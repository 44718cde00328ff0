// Tests the view in a host of MCP Apps.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EXECUTION, RUN_FAILED } from './binary.mjs';
import { assertAccessible, assertQuiet } from './browser.mjs';
import { fixture } from './fixture.mjs';
import { HOST, READ, call, framed } from './host.mjs';
import * as hostile from './hostile.mjs';

const { service, browser } = await fixture();
const PICTURES = `tas://projects/demo/runs/${RUN_FAILED}/pictures`;
const [view, run, details, summary] = await service.ask(
  READ,
  call('get_run', { run_id: RUN_FAILED }), { method: 'resources/read', params: { uri: PICTURES } },
  call('summarize_results', { test_plan_execution_id: EXECUTION }),
);

const host = (options) => framed(browser, view, options);
const ground = (frame) => frame.evaluate(() => getComputedStyle(document.body).backgroundColor);

test('the handshake precedes the arguments and the result of the tool', async () => {
  const { close, heard, waiting } = await host();
  const initialize = await heard('ui/initialize');
  assert.equal(initialize.jsonrpc, '2.0');
  assert.equal(initialize.params.protocolVersion, '2026-01-26');
  assert.equal(typeof initialize.params.appInfo.name, 'string');
  assert.deepEqual(initialize.params.appCapabilities, { availableDisplayModes: ['inline', 'fullscreen'] });
  // The view sends no further message before the host has answered.
  assert.deepEqual(await waiting(), []);
  await close();

  const other = await host();
  await other.start();
  await other.notify('ui/notifications/tool-input', { arguments: { run_id: RUN_FAILED } });
  await other.notify('ui/notifications/tool-result', run);
  await other.view.getByRole('heading', { level: 1, name: 'Pause and resume' }).waitFor();
  assertQuiet(other.seen, HOST);
  await other.close();
});

test('the theme is that of the host, at the start and when it changes', async () => {
  const { close, notify, start, frame } = await host({ theme: 'light' });
  await start({ hostContext: { theme: 'dark' } });
  assert.equal(await ground(frame()), 'rgb(17, 22, 28)');
  await notify('ui/notifications/tool-result', run);
  await notify('ui/notifications/host-context-changed', { theme: 'light' });
  await frame().waitForFunction(() => getComputedStyle(document.body).backgroundColor === 'rgb(255, 255, 255)');
  await close();
});

test('a summary is shown even if the host passes on only its text', async () => {
  for (const result of [summary, { content: summary.content }]) {
    const { seen, close, notify, start, view: shown, frame } = await host();
    await start();
    await notify('ui/notifications/tool-result', result);
    await shown.getByRole('heading', { name: 'Failures (1)' }).waitFor();
    await assertAccessible(frame());
    assertQuiet(seen, HOST);
    await close();
  }
});

test('the bugs and pictures of a run are requested if the host lets the view read resources', async () => {
  const { close, notify, say, heard, start, view: shown } = await host();
  await start({ hostCapabilities: { serverResources: {} } });
  await notify('ui/notifications/tool-input', { arguments: { run_id: RUN_FAILED, project_id: 'demo' } });
  await notify('ui/notifications/tool-result', run);
  const asked = await heard('resources/read');
  assert.deepEqual(asked.params, { uri: PICTURES });
  await say({ id: asked.id, result: details });
  await shown.getByRole('heading', { name: 'Bugs (1)' }).waitFor();
  await shown.getByText('Pause button does not react').waitFor();
  assert.equal(await shown.locator('main img').count(), 2);
  await close();

  for (const [capabilities, missing] of [[{}, 0], [{ serverResources: {} }, 1]]) {
    const other = await host();
    await other.start({ hostCapabilities: capabilities });
    await other.notify('ui/notifications/tool-result', run);
    await other.view.getByRole('heading', { level: 1 }).waitFor();
    const waiting = await other.waiting();
    assert.equal(waiting.filter((method) => method === 'resources/read').length, missing);
    if (missing > 0) {
      const { id } = await other.heard('resources/read');
      await other.say({ id, error: { code: -32603, message: 'no pictures today' } });
      await other.view.getByText(`Missing: pictures of ${RUN_FAILED}: no pictures today`).waitFor();
    }
    await other.close();
  }
});

test('hostile texts are shown as text in every form of result', async () => {
  const results = [hostile.run(), hostile.summary()].flatMap((value) => [{ structuredContent: value }, { content: [{ type: 'text', text: JSON.stringify(value) }] }]);
  results.push({ isError: true, content: [{ type: 'text', text: `${hostile.MARKUP}${hostile.CLOSING}` }] });
  for (const result of results) {
    const { seen, close, notify, start, frame } = await host();
    await start();
    await notify('ui/notifications/tool-result', result);
    await frame().waitForFunction((text) => document.getElementById('report').textContent.includes(text), hostile.MARKUP);
    assert.deepEqual(await frame().evaluate(hostile.brought), { hurt: null, elements: [], scripts: 2, handlers: [], links: [] });
    assert.doesNotMatch(await frame().evaluate(() => document.body.textContent), /[\u202A-\u202E\u2066-\u2069\u200B]/);
    assertQuiet(seen, HOST);
    await close();
  }
});

test('results of any form are shown without an error', async () => {
  const forms = [
    [{}, 'There is no result.'], [{ content: [{ type: 'text', text: 'plain' }] }, 'plain'], [{ structuredContent: null }, 'There is no result.'], [{ structuredContent: {} }, 'Run'],
    [{ structuredContent: { verdicts: null, failures: [null, 1, {}], passed_after_retry: [null], passed_with_bugs: [null], comparison: 'x', unread: ['an odd remark'], left_out: 3 } }, 'Missing: an odd remark'],
    [{ structuredContent: { target_type: 'job', verdicts: { Success: 2, NEW_WORD: 1 }, finished: 3, total: 3 } }, 'NEW_WORD'],
    [{ structuredContent: { target_type: 'run', comparison: { with: { target_id: 'x' }, new: [null, 'y', { test: { name: 'z' }, was: 'SUCCESS' }] } } }, 'was: SUCCESS'],
    [{ structuredContent: { target_type: 'constructor', verdicts: { constructor: 1, toString: 2 }, failures: [{ verdict: 'valueOf' }] } }, 'toString'],
    [{ isError: true, content: [{ type: 'text', text: 'not_found' }] }, 'not_found'],
    [{ isError: true, structuredContent: { multiplayer_run_id: 'x' } }, 'There is no result.'],
    [{ isError: true, content: [null, { type: 'text', text: 'half' }] }, 'half'],
  ];
  for (const [result, words] of forms) {
    const { seen, close, notify, start, frame } = await host();
    await start();
    await notify('ui/notifications/tool-result', result);
    await frame().waitForFunction((text) => document.getElementById('report').textContent.includes(text), words);
    assertQuiet(seen, HOST);
    await close();
  }
});

test('requests of the host are answered, and messages of other windows are ignored', async () => {
  const { seen, close, say, heard, settled, start, frame, view } = await host();
  await start();
  for (const [id, method] of [[70, 'ping'], [71, 'ui/resource-teardown']]) {
    await say({ id, method, params: {} });
    assert.deepEqual(await heard(undefined), { jsonrpc: '2.0', id, result: {} });
  }
  await say({ id: 72, method: 'ui/unheard-of' });
  assert.equal((await heard(undefined)).error.code, -32601);
  // The sender is the view itself and not its host. The listener of the view was added before this one.
  await frame().evaluate((result) => new Promise((arrived) => {
    addEventListener('message', arrived, { once: true });
    postMessage({ jsonrpc: '2.0', method: 'ui/notifications/tool-result', params: result }, '*');
  }).then(() => null), run);
  await settled();
  assert.equal(await view.locator('main').innerText(), 'Waiting for the result …');
  await say({ method: 'ui/notifications/tool-cancelled', params: { reason: 'by the person' } });
  await view.locator('main').getByText('Cancelled. by the person').waitFor();
  assertQuiet(seen, HOST);
  await close();
});
