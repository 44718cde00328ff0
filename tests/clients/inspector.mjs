// Runs the command line of the MCP inspector in each protocol era of its configuration.
// Usage: node inspector.mjs SERVER INSPECTOR

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { report, scenario } from './scenario.mjs';

const [server, inspector] = process.argv.slice(2);
const eras = ['legacy', 'auto', 'modern'];
const config = 'inspector.json';

/** Exit code of the inspector for a result with `isError`. */
const IS_ERROR = 5;

const entry = (protocolEra) => ({ command: server, args: ['--sandbox'], protocolEra });
writeFileSync(config, JSON.stringify({ mcpServers: Object.fromEntries(eras.map((era) => [era, entry(era)])) }));

/** Runs the inspector once, with a new process and a new server. */
function run(era, ...args) {
  const run = spawnSync(process.execPath, [inspector, '--cli', '--config', config, '--server', era, ...args, '--format', 'json'], {
    encoding: 'utf8',
    // The default secret store needs a keychain.
    env: { ...process.env, MCP_INSPECTOR_SECRET_STORE: 'memory' },
  });
  assert.ok([0, IS_ERROR].includes(run.status), `exit code ${run.status}: ${run.stderr}`);
  return run;
}

function inspect(era, ...args) {
  const { status, stdout } = run(era, ...args);
  const answer = JSON.parse(stdout).result;
  assert.equal(answer.isError ?? false, status === IS_ERROR);
  return answer;
}

/** Returns what the inspector reports about the view of a tool. */
function view(era, name) {
  return JSON.parse(run(era, '--method', 'tools/call', '--tool-name', name, '--app-info').stdout).appInfo;
}

for (const era of eras) {
  await report(`MCP inspector, ${era}`, async () => {
    const tools = await scenario({
      tools: async () => inspect(era, '--method', 'tools/list').tools.map((tool) => tool.name),
      call: async (name, args) =>
        inspect(era, '--method', 'tools/call', '--tool-name', name, '--tool-args-json', JSON.stringify(args)),
    });
    // The job is running. In an era with tasks the wait becomes a task, which the inspector polls to the end.
    const job = { job_id: 'fc3a0611-66b1-46a6-ac1c-51f6f144ac87', timeout_seconds: 60 };
    const waited = inspect(era, '--method', 'tools/call', '--tool-name', 'wait_for_completion', '--tool-args-json', JSON.stringify(job));
    assert.equal(waited.structuredContent.status, 'completed');
    const { hasApp, resourceMimeType } = view(era, 'get_run');
    assert.deepEqual([hasApp, resourceMimeType], [true, 'text/html;profile=mcp-app']);
    return `${tools} tools, and a view`;
  });
}
