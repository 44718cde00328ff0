// The view inside a host of MCP Apps: a page that frames what `resources/read` gave, under the policy that the
// specification of the extension has for views that ask for nothing.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { EXECUTION, EXECUTION_QUEUED, EXECUTION_UNDER_WAY, RUN_FAILED, RUN_MANY_BUGS, Service } from './binary.mjs';
import { assertAccessible, assertQuiet, launch, open } from './browser.mjs';
import * as hostile from './hostile.mjs';

const HOST = 'http://host.example/';
const POLICY = "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; media-src 'self' data:; connect-src 'none'";

const call = (name, args) => ({ method: 'tools/call', params: { name, arguments: args } });

let service;
let browser;
let view;
let run;
let bugs;
let summary;
before(async () => {
  [service, browser] = await Promise.all([Service.start(), launch()]);
  [view, run, bugs, summary] = await service.ask(
    { method: 'resources/read', params: { uri: 'ui://tas/run-report' } },
    call('get_run', { run_id: RUN_FAILED }), call('list_run_bugs', { run_id: RUN_FAILED }),
    call('summarize_results', { test_plan_execution_id: EXECUTION }),
  );
});
after(async () => {
  await browser.close();
  service.stop();
});

/** A host with the view in a frame. It answers nothing by itself; everything that the view says is kept. */
async function host(options) {
  const body = '<!doctype html><title>host</title><iframe sandbox="allow-scripts" title="view"></iframe>';
  const serve = { [HOST]: { contentType: 'text/html', headers: { 'content-security-policy': POLICY }, body } };
  const { page, seen, close } = await open(browser, HOST, { serve, ...options });
  await page.evaluate((html) => {
    window.heard = [];
    window.frame = document.querySelector('iframe');
    frame.style.cssText = 'width: 100%; height: 700px; border: 0';
    addEventListener('message', ({ data, source }) => source === frame.contentWindow && window.heard.push(data));
    window.say = (message) => frame.contentWindow.postMessage({ jsonrpc: '2.0', ...message }, '*');
    frame.srcdoc = html;
  }, view.contents[0].text);
  const say = (message) => page.evaluate((one) => say(one), message);
  const notify = (method, params) => say({ method, params });
  /** The next message of that name that was not taken yet. */
  const heard = async (method) => {
    const there = await page.waitForFunction((name) => {
      const place = window.heard.findIndex((one) => one.method === name);
      return place >= 0 && window.heard.splice(place, 1)[0];
    }, method, { timeout: 5000 });
    return there.jsonValue();
  };
  /** When the view has dealt with everything that was said to it. */
  const settled = async () => {
    await say({ id: 'settled', method: 'ping' });
    await page.waitForFunction(() => window.heard.some((one) => one.id === 'settled'));
    await page.evaluate(() => { window.heard = window.heard.filter((one) => one.id !== 'settled'); });
  };
  const waiting = async () => {
    await settled();
    return page.evaluate(() => window.heard.map((one) => one.method));
  };
  const start = async (result = {}) => {
    const initialize = await heard('ui/initialize');
    await say({ id: initialize.id, result: { protocolVersion: '2026-01-26', hostInfo: { name: 'host', version: '1' }, hostCapabilities: {}, hostContext: {}, ...result } });
    await heard('ui/notifications/initialized');
    return initialize;
  };
  return { page, seen, close, say, notify, heard, settled, waiting, start, view: page.frameLocator('iframe'), frame: () => page.frames()[1] };
}

const ground = (frame) => frame.evaluate(() => getComputedStyle(document.body).backgroundColor);

test('the handshake comes first, and then what the tool was asked and answered', async () => {
  const { close, heard, waiting } = await host();
  const initialize = await heard('ui/initialize');
  assert.equal(initialize.jsonrpc, '2.0');
  assert.equal(initialize.params.protocolVersion, '2026-01-26');
  assert.equal(typeof initialize.params.appInfo.name, 'string');
  assert.deepEqual(initialize.params.appCapabilities, { availableDisplayModes: ['inline', 'fullscreen'] });
  // Nothing more is said before the host has answered.
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

test('the size follows what is shown', async () => {
  const { page, close, notify, heard, start, frame } = await host();
  await start();
  await notify('ui/notifications/tool-result', run);
  await page.waitForFunction(() => window.heard.some((one) => one.params?.height > 500));
  const height = await frame().evaluate(() => Math.ceil(document.documentElement.getBoundingClientRect().height));
  const told = await page.evaluate(() => window.heard.filter((one) => one.method === 'ui/notifications/size-changed').at(-1).params.height);
  assert.equal(told, height);
  await close();
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

test('colours of the host are taken as a whole set, or not at all', async () => {
  const names = ['background-primary', 'background-secondary', 'text-primary', 'text-secondary', 'border-primary'];
  const variables = Object.fromEntries(names.map((name) => [`--color-${name}`, name.startsWith('background') ? '#fffff0' : '#101010']));
  const whole = await host();
  await whole.start({ hostContext: { theme: 'light', styles: { variables } } });
  await whole.frame().waitForFunction(() => getComputedStyle(document.body).backgroundColor === 'rgb(255, 255, 240)');
  await whole.close();
  const half = await host();
  await half.start({ hostContext: { theme: 'light', styles: { variables: { '--color-background-primary': '#000000' } } } });
  assert.equal(await ground(half.frame()), 'rgb(255, 255, 255)');
  await half.close();
});

test('a summary is shown, also when the host hands on its text alone', async () => {
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

test('the bugs of a run are asked for where the host lets the view call tools', async () => {
  const { close, notify, say, heard, start, view: shown } = await host();
  await start({ hostCapabilities: { serverTools: {} } });
  await notify('ui/notifications/tool-input', { arguments: { run_id: RUN_FAILED, project_id: 'demo' } });
  await notify('ui/notifications/tool-result', run);
  const asked = await heard('tools/call');
  assert.deepEqual(asked.params, { name: 'list_run_bugs', arguments: { run_id: RUN_FAILED, project_id: 'demo' } });
  await say({ id: asked.id, result: bugs });
  await shown.getByRole('heading', { name: 'High (1)' }).waitFor();
  await shown.getByText('Pause button does not react').waitFor();
  await close();

  const silent = await host();
  await silent.start();
  await silent.notify('ui/notifications/tool-result', run);
  await silent.view.getByRole('heading', { level: 1 }).waitFor();
  assert.ok(!(await silent.waiting()).includes('tools/call'));
  await silent.close();
});

test('bugs are asked for unless the run has none', async () => {
  const [many, all] = await service.ask(call('get_run', { run_id: RUN_MANY_BUGS }), call('list_run_bugs', { run_id: RUN_MANY_BUGS }));
  assert.equal(many.structuredContent.bug_info, null);
  const { close, notify, say, heard, start, view: shown } = await host();
  await start({ hostCapabilities: { serverTools: {} } });
  await notify('ui/notifications/tool-result', many);
  await say({ id: (await heard('tools/call')).id, result: all });
  await shown.getByRole('heading', { name: 'Bugs (4)' }).waitFor();
  await close();

  const clean = await host();
  await clean.start({ hostCapabilities: { serverTools: {} } });
  await clean.notify('ui/notifications/tool-result', { structuredContent: { ...run.structuredContent, bug_info: { bug_label: 'no_bugs', bug_count: 0 } } });
  await clean.view.getByRole('heading', { level: 1 }).waitFor();
  assert.ok(!(await clean.waiting()).includes('tools/call'));
  await clean.close();
});

test('more bugs than a reply has room for are counted', async () => {
  const one = bugs.structuredContent.data[0];
  const data = Array.from({ length: 40 }, (_, index) => ({ ...one, id: `occ_${index}`, description: 'It broke. '.repeat(90) }));
  await service.answer('list_run_bugs', { data, pagination: { page: 0, page_size: 40, total_count: 40, total_pages: 1 } });
  const [cut] = await service.ask(call('list_run_bugs', { run_id: RUN_FAILED }));
  const { kept } = cut.structuredContent.truncated.cuts[0];
  assert.ok(kept < 40);
  const { pagination, ...unnumbered } = cut.structuredContent;
  const later = { data: data.slice(0, 20), pagination: { ...pagination, page_size: 20 } };
  for (const [answer, words] of [[cut.structuredContent, `Bugs (${kept} of 40)`], [unnumbered, `Bugs (${kept} of 40)`], [later, 'Bugs (20 of 40)']]) {
    const { close, notify, say, heard, start, view: shown } = await host();
    await start({ hostCapabilities: { serverTools: {} } });
    await notify('ui/notifications/tool-result', run);
    await say({ id: (await heard('tools/call')).id, result: { structuredContent: answer } });
    await shown.getByRole('heading', { name: words, exact: true }).waitFor();
    await close();
  }
});

/** A run of 41 steps, the last of which failed, as the server answers it: shortened. */
async function long(asked = {}) {
  const whole = run.structuredContent;
  const [passed, failed] = whole.players[0].steps;
  const steps = Array.from({ length: 41 }, (_, index) => ({ ...(index < 40 ? passed : failed), step_number: index + 1, report: 'Seen as expected. '.repeat(20) }));
  const player = { ...whole.players[0], steps, step_count: 41, step_result_summary: { SUCCESS: 40, FAILED: 1 } };
  await service.answer('get_run', { ...whole, bug_info: { bug_label: 'no_bugs', bug_count: 0 }, players: [player] });
  const [answer] = await service.ask(call('get_run', { run_id: RUN_FAILED, ...asked }));
  return answer;
}

test('what a shortened run lacks is said, and steps are counted by the service', async () => {
  const result = await long();
  const { hint, cuts: [{ path, omitted }] } = result.structuredContent.truncated;
  assert.equal(path, '/players/0/steps');
  const { close, notify, start, view: shown } = await host();
  await start();
  await notify('ui/notifications/tool-result', result);
  await shown.getByText(`This report was shortened: ${omitted} more of player 1 steps: ${hint}`, { exact: true }).waitFor();
  const counts = shown.getByRole('group', { name: 'Steps by result' });
  assert.deepEqual(await counts.locator('.verdict span:last-child').allInnerTexts(), ['Failed 1', 'Passed 40']);
  await close();

  const [player] = result.structuredContent.players;
  const uncounted = [
    { players: [{ ...player, step_result_summary: undefined }] },
    { truncated: { hint, cuts: [{ path: '/players', kept: 1, omitted: 1 }] } },
    { truncated: { hint, cuts: [], more_cuts: 2 } },
  ];
  for (const fields of uncounted) {
    const other = await host();
    await other.start();
    await other.notify('ui/notifications/tool-result', { structuredContent: { ...result.structuredContent, ...fields } });
    await other.view.getByText('This report was shortened').waitFor();
    assert.equal(await other.view.getByRole('group', { name: 'Steps by result' }).count(), 0);
    await other.close();
  }
});

test('steps that a shortened run lacks are asked for where the host lets the view call tools', async () => {
  const result = await long();
  const { seen, close, notify, say, heard, start, view: shown } = await host();
  await start({ hostCapabilities: { serverTools: {} } });
  await notify('ui/notifications/tool-result', result);
  const asked = await heard('tools/call');
  assert.equal(asked.params.name, 'get_run');
  const bare = await long(asked.params.arguments);
  assert.equal(bare.structuredContent.truncated, undefined);
  await say({ id: asked.id, result: bare });
  await shown.getByText(`41. ${run.structuredContent.players[0].steps[1].test.goal}`).waitFor();
  assert.equal(await shown.locator('ol > li').count(), 41);
  const { omitted } = result.structuredContent.truncated.cuts[0];
  await shown.getByText(`This report was shortened: ${omitted} steps by the result alone`).waitFor();
  // Those of the first answer keep all that they have.
  assert.equal(await shown.getByText('Seen as expected.').count(), 41 - omitted);
  const counts = shown.getByRole('group', { name: 'Steps by result' });
  assert.deepEqual(await counts.locator('.verdict span:last-child').allInnerTexts(), ['Failed 1', 'Passed 40']);
  assertQuiet(seen, HOST);
  await close();
});

test('a result that was narrowed is shown for what it is', async () => {
  const [named, failures, flaky, compared] = await service.ask(
    call('get_run', { run_id: RUN_FAILED, fields: ['test.name', 'players.steps.step_number'] }),
    ...['failures', 'flaky', 'comparison'].map((field) => call('summarize_results', { test_plan_execution_id: EXECUTION, compare_with: EXECUTION, fields: [field] })),
  );
  for (const [result, heading, word] of [[named, 'Steps', []], [failures, 'Failures (1)', ['Failed']], [flaky, 'Passed only when repeated', []], [compared, 'Compared', []]]) {
    const { seen, close, notify, start, view: shown } = await host();
    await start();
    await notify('ui/notifications/tool-result', result);
    await shown.getByRole('heading', { name: heading }).waitFor();
    assert.deepEqual(await shown.locator('header .verdict span:last-child').allInnerTexts(), word);
    assert.doesNotMatch(await shown.locator('main').innerText(), /Unknown|\?|undefined/);
    assertQuiet(seen, HOST);
    await close();
  }
});

test('of what was not started nobody says that it runs', async () => {
  const [queued, running] = await service.ask(...[EXECUTION_QUEUED, EXECUTION_UNDER_WAY].map((id) => call('summarize_results', { test_plan_execution_id: id })));
  for (const [result, word] of [[queued, 'Not finished'], [running, 'Running']]) {
    const { close, notify, start, view: shown } = await host();
    await start();
    await notify('ui/notifications/tool-result', result);
    await shown.getByRole('heading', { level: 1 }).waitFor();
    assert.equal(await shown.locator('header .verdict span:last-child').innerText(), word);
    await close();
  }
});

test('a host that refuses the handshake is told of, and no error is left uncaught', async () => {
  const { seen, close, say, heard, view: shown } = await host();
  const { id } = await heard('ui/initialize');
  await say({ id, error: { code: -32602, message: 'no such revision' } });
  await shown.locator('main').getByText('The host did not begin: no such revision').waitFor();
  assertQuiet(seen, HOST);
  await close();
});

test('bugs that do not come are missed in words', async () => {
  const said = (text) => ({ isError: true, content: [{ type: 'text', text }] });
  for (const [answer, why] of [[{ result: said('permission_denied') }, 'permission_denied'], [{ error: { code: -32000, message: 'not now' } }, 'not now']]) {
    const { seen, close, notify, say, heard, start, view: shown } = await host();
    await start({ hostCapabilities: { serverTools: {} } });
    await notify('ui/notifications/tool-result', run);
    await say({ id: (await heard('tools/call')).id, ...answer });
    await shown.getByText(`Bugs could not be read: ${why}`).waitFor();
    await shown.getByRole('heading', { level: 1, name: 'Pause and resume' }).waitFor();
    assertQuiet(seen, HOST);
    await close();
  }
});

test('bugs that come after another result, or after its end, are not shown', async () => {
  const next = [
    ['ui/notifications/tool-result', summary, 'Failures (1)'], ['ui/notifications/tool-cancelled', {}, 'Cancelled.'],
    ['ui/notifications/tool-result', { isError: true, content: [{ type: 'text', text: 'not_found' }] }, 'not_found'],
  ];
  for (const [method, params, words] of next) {
    const { close, notify, say, heard, settled, start, view: shown } = await host();
    await start({ hostCapabilities: { serverTools: {} } });
    await notify('ui/notifications/tool-result', run);
    const { id } = await heard('tools/call');
    await notify(method, params);
    await shown.locator('main').getByText(words).first().waitFor();
    await say({ id, result: bugs });
    await settled();
    assert.equal(await shown.getByRole('heading', { name: 'High (1)' }).count(), 0);
    assert.ok(await shown.locator('main').getByText(words).count() > 0);
    await close();
  }
});

test('hostile texts stay text, however the result comes', async () => {
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
    [{ structuredContent: { verdicts: null, failures: [null, 1, {}], flaky: [null], comparison: 'x', unread: ['an odd remark'], left_out: 3 } }, 'Something could not be read: an odd remark'],
    [{ structuredContent: { target_type: 'job', verdicts: { Success: 2, NEW_WORD: 1 }, finished: 3, total: 3 } }, 'NEW_WORD'],
    [{ structuredContent: { target_type: 'run', comparison: { with: { target_id: 'x' }, newly_failing: [null, 'y', { test: { name: 'z' }, was: 'SUCCESS' }] } } }, 'was: Passed'],
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

test('what the host asks is answered, and a message of anybody else is not heard', async () => {
  const { seen, close, say, heard, settled, start, frame, view } = await host();
  await start();
  for (const [id, method] of [[70, 'ping'], [71, 'ui/resource-teardown']]) {
    await say({ id, method, params: {} });
    assert.deepEqual(await heard(undefined), { jsonrpc: '2.0', id, result: {} });
  }
  await say({ id: 72, method: 'ui/unheard-of' });
  assert.equal((await heard(undefined)).error.code, -32601);
  // From the view itself, which is not its host; its listener was there before this one.
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
