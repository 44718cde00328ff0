// Tests the view of incomplete results: shortened by the size limit, or narrowed by the caller.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EXECUTION, EXECUTION_QUEUED, EXECUTION_UNDER_WAY, RUN_FAILED, RUN_MANY_BUGS } from './binary.mjs';
import { assertQuiet } from './browser.mjs';
import { fixture } from './fixture.mjs';
import { HOST, READ, call, framed } from './host.mjs';

const { service, browser } = await fixture();
const [view, run, bugs] = await service.ask(READ, call('get_run', { run_id: RUN_FAILED }), call('list_run_bugs', { run_id: RUN_FAILED }));

const host = (options) => framed(browser, view, options);

test('bugs are requested unless the run has none', async () => {
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

test('bugs that do not fit into a reply are counted', async () => {
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

/** A run of 41 steps, the last of which failed, shortened by the server. */
async function long(asked = {}) {
  const whole = run.structuredContent;
  const [passed, failed] = whole.players[0].steps;
  const steps = Array.from({ length: 41 }, (_, index) => ({ ...(index < 40 ? passed : failed), step_number: index + 1, report: 'Seen as expected. '.repeat(20) }));
  const player = { ...whole.players[0], steps, step_count: 41, step_result_summary: { SUCCESS: 40, FAILED: 1 } };
  await service.answer('get_run', { ...whole, bug_info: { bug_label: 'no_bugs', bug_count: 0 }, players: [player] });
  const [answer] = await service.ask(call('get_run', { run_id: RUN_FAILED, ...asked }));
  return answer;
}

test('the missing parts of a shortened run are reported, and the steps are those of the service', async () => {
  const result = await long();
  const { hint, cuts: [{ path, omitted }] } = result.structuredContent.truncated;
  assert.equal(path, '/players/0/steps');
  const { close, notify, start, view: shown } = await host();
  await start();
  await notify('ui/notifications/tool-result', result);
  await shown.getByText(`This report was shortened: ${omitted} more of player 1 steps: ${hint}`, { exact: true }).waitFor();
  const counts = shown.getByRole('group', { name: 'Steps by result' });
  assert.deepEqual(await counts.locator('.verdict span:last-child').allInnerTexts(), ['FAILED 1', 'SUCCESS 40']);
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

test('missing steps of a shortened run are requested if the host lets the view call tools', async () => {
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
  // The steps of the first answer keep all their fields.
  assert.equal(await shown.getByText('Seen as expected.').count(), 41 - omitted);
  const counts = shown.getByRole('group', { name: 'Steps by result' });
  assert.deepEqual(await counts.locator('.verdict span:last-child').allInnerTexts(), ['FAILED 1', 'SUCCESS 40']);
  assertQuiet(seen, HOST);
  await close();
});

test('a narrowed result is shown as such', async () => {
  const [named, failures, retried, compared] = await service.ask(
    call('get_run', { run_id: RUN_FAILED, fields: ['test.name', 'players.steps.step_number'] }),
    ...['failures', 'passed_after_retry', 'comparison'].map((field) => call('summarize_results', { test_plan_execution_id: EXECUTION, compare_with: EXECUTION, fields: [field] })),
  );
  for (const [result, heading, word] of [[named, 'Steps', []], [failures, 'Failures (1)', ['FAILED']], [retried, 'Passed only when repeated', []], [compared, 'Compared', []]]) {
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

test('a run that was not started is not shown as running', async () => {
  const [queued, running] = await service.ask(...[EXECUTION_QUEUED, EXECUTION_UNDER_WAY].map((id) => call('summarize_results', { test_plan_execution_id: id })));
  for (const [result, word] of [[queued, 'unfinished'], [running, 'RUNNING']]) {
    const { close, notify, start, view: shown } = await host();
    await start();
    await notify('ui/notifications/tool-result', result);
    await shown.getByRole('heading', { level: 1 }).waitFor();
    assert.equal(await shown.locator('header .verdict span:last-child').innerText(), word);
    await close();
  }
});
