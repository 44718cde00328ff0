// Starts the server of an unpacked MCPB bundle, as the manifest says, and makes a call.
// Usage: node check_bundle.mjs DIRECTORY BINARY

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { createInterface } from 'node:readline';
import { getMcpConfigForManifest } from '@anthropic-ai/mcpb';

const [directory, binary] = process.argv.slice(2);
const manifest = JSON.parse(readFileSync(join(directory, 'manifest.json'), 'utf8'));

/** Time limit of the whole check, in milliseconds. */
const TIME_LIMIT = 60_000;
setTimeout(() => process.exit(1), TIME_LIMIT).unref();

/** Returns what a host starts after a person has filled in these values; `undefined` if a required value is missing. */
const command = (userConfig) =>
  getMcpConfigForManifest({ manifest, extensionPath: directory, systemDirs: {}, userConfig, pathSeparator: sep });

/** Starts the sandbox. Returns the process, and the settings that it prints. */
async function startSandbox() {
  const sandbox = spawn(binary, ['sandbox', '--listen', '127.0.0.1:0', '--speed', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const values = {};
  for await (const line of createInterface({ input: sandbox.stdout })) {
    const [, name, value] = /export (TAS_\w+)=(\S+)/.exec(line) ?? [];
    if (name) values[name] = value;
    // The sandbox prints the key last.
    if (values.TAS_API_KEY) return [sandbox, values];
  }
  throw new Error('the sandbox has ended');
}

/** Sends these requests to the server of the bundle. Returns their results. */
async function ask({ command, args, env }, requests) {
  // A host passes few variables of its own.
  const server = spawn(command, args, { env: { HOME: process.cwd(), ...env }, cwd: '/', stdio: ['pipe', 'pipe', 'inherit'] });
  const answers = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
  const results = [];
  for (const [id, [method, params]] of requests.entries()) {
    server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    results.push(JSON.parse((await answers.next()).value).result);
    if (method === 'initialize') server.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  }
  server.stdin.end();
  return results;
}

const initialize = ['initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'check', version: '1' } }];
const call = (name, args) => ['tools/call', { name, arguments: args }];

const [sandbox, values] = await startSandbox();
try {
  assert.equal(await command({ base_url: values.TAS_BASE_URL }), undefined, 'the key is required');

  const required = await command({ base_url: values.TAS_BASE_URL, api_key: values.TAS_API_KEY });
  const [{ serverInfo }, { tools }, tests, upload] = await ask(required, [
    initialize,
    ['tools/list', {}],
    call('list_tests', {}),
    call('upload_build', { path: 'game.apk' }),
  ]);
  assert.equal(serverInfo.version, manifest.version);
  assert.deepEqual(tools.map((tool) => tool.name).sort(), manifest.tools.map((tool) => tool.name).sort());
  assert.ok(tests.structuredContent.data.length > 0);
  assert.match(upload.content[0].text, /TAS_FILES_ROOT/, 'without a folder, no file is read');

  const all = await command({
    base_url: values.TAS_BASE_URL,
    api_key: values.TAS_API_KEY,
    knowledge_url: values.TAS_KNOWLEDGE_URL,
    project: 'demo',
    files_root: directory,
  });
  const [, files, uploaded] = await ask(all, [
    initialize,
    call('list_knowledge_files', {}),
    call('upload_build', { path: 'LICENSE-MIT', platform: 'linux', confirm: true }),
  ]);
  assert.equal(files.isError ?? false, false, JSON.stringify(files));
  assert.equal(uploaded.isError ?? false, false, JSON.stringify(uploaded));
} finally {
  sandbox.kill();
}
console.log(`ok      bundle: the server starts as the manifest says, with ${manifest.tools.length} tools`);
