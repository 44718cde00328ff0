// The results that every JavaScript client must get from `tas-mcp --sandbox`, in every protocol revision.
// An adapter has two functions: `tools()` returns the names of the tools, `call(name, arguments)` the result of a call.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** Parses the single text block of a result, which is always JSON. */
function text(result) {
  assert.equal(result.content.length, 1);
  assert.equal(result.content[0].type, 'text');
  return JSON.parse(result.content[0].text);
}

function success(result) {
  assert.ok(!result.isError, JSON.stringify(result));
  assert.deepEqual(text(result), result.structuredContent);
  return result.structuredContent;
}

function failure(result, code) {
  assert.equal(result.isError, true, JSON.stringify(result));
  assert.equal(result.structuredContent, undefined);
  const { error } = text(result);
  assert.equal(error.code, code, JSON.stringify(error));
  return error;
}

export async function scenario(client) {
  const tools = await client.tools();
  for (const name of ['list_deployment_configs', 'list_runs', 'get_run', 'get_job', 'start_run']) {
    assert.ok(tools.includes(name), `${name} is not offered`);
  }

  const configs = success(await client.call('list_deployment_configs', {}));
  assert.ok(configs.data.length > 0);

  const runs = success(await client.call('list_runs', { project_id: 'demo', page_size: 100 })).data;
  // The oldest run is part of the seed data. Newer runs may be missing, because some clients start a sandbox per call.
  const [{ multiplayer_run_id: id }] = runs.sort((one, other) => one.created_at.localeCompare(other.created_at));
  assert.equal(success(await client.call('get_run', { run_id: id })).multiplayer_run_id, id);

  const refused = failure(await client.call('get_job', { job_id: 'x', colour: 'red' }), 'invalid_arguments');
  const paths = refused.details.violations.map((violation) => violation.path).sort();
  assert.deepEqual(paths, ['colour', 'job_id']);

  const foreign = failure(await client.call('get_run', { run_id: id, project_id: 'arena' }), 'project_scope_mismatch');
  assert.deepEqual([foreign.details.requested_project, foreign.details.owning_project], ['arena', 'demo']);

  return tools.length;
}

/** Starts a server over HTTP with these arguments. Returns the address of its endpoint. */
export async function start(binary, args) {
  const child = spawn(binary, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let address;
  for await (const line of createInterface({ input: child.stderr })) {
    address = line.match(/^listening on (\S+)$/)?.[1];
    if (address) break;
  }
  assert.ok(address, 'the server does not listen');
  child.stderr.resume();

  const stop = async () => {
    child.kill();
    await once(child, 'exit');
  };
  return { address, stop };
}

/** Runs the scenario and prints one line with its result. */
export async function report(title, run) {
  try {
    console.log(`ok      ${title}: ${await run()}`);
  } catch (error) {
    console.log(`FAILED  ${title}: ${error.message.replaceAll('\n', ' ')}`);
    process.exitCode = 1;
  }
}
