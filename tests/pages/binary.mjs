// Runs the binary: as a sandbox, as the command that writes pages, and as an MCP server.

import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const binary = process.env.BINARY;

/** Ids of the seed data that the tests use. */
export const RUN_THREE_PLAYERS = 'ih5w5636edb';
export const RUN_FAILED = 'x03031trjx0';
export const RUN_UNDER_WAY = 's3sank19vdh';
export const RUN_MANY_BUGS = '8v7v3xuojfb';
export const EXECUTION = '4ea293c9-1c5e-4484-9aa0-aaa3664e6f27';

/** A sandbox whose clock stands still, and a directory for pages. */
export class Service {
  static async start() {
    const child = spawn(binary, ['sandbox', '--listen', '127.0.0.1:0', '--speed', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
    const service = new Service(child);
    for await (const line of createInterface({ input: child.stdout })) {
      const [, name, value] = line.match(/export (\w+)=(.*)/) ?? [];
      if (name) service.variables[name] = value;
      // The key is the last one.
      if (name === 'TAS_API_KEY') break;
    }
    return service;
  }

  constructor(child) {
    this.child = child;
    this.variables = {};
    this.directory = mkdtempSync(join(tmpdir(), 'pages-'));
  }

  get environment() {
    return { ...process.env, ...this.variables };
  }

  /** Sets the next answer of an operation. */
  async answer(operation, body) {
    const url = new URL('/_sandbox/faults', this.variables.TAS_BASE_URL);
    const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ operation, body }) });
    if (!answer.ok) throw new Error(`${operation}: ${await answer.text()}`);
  }

  /** Writes the page of an id with the command. Returns the URL of the page. */
  page(id, name = id, ...more) {
    const file = join(this.directory, `${name}.html`);
    const run = spawnSync(binary, ['report', id, '--html', file, ...more], { encoding: 'utf8', env: this.environment });
    if (run.status !== 0) throw new Error(`report ${id}: ${run.stderr}`);
    return pathToFileURL(file).href;
  }

  /** Sends these requests to the MCP server. Returns its answers. */
  ask(...requests) {
    const initialize = { method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } } };
    const numbered = [initialize, ...requests].map((request, id) => ({ jsonrpc: '2.0', id, ...request }));
    const lines = [numbered[0], { jsonrpc: '2.0', method: 'notifications/initialized' }, ...numbered.slice(1)];
    const server = spawn(binary, [], { env: this.environment, stdio: ['pipe', 'pipe', 'inherit'] });
    const results = new Map();
    return new Promise((resolve, reject) => {
      createInterface({ input: server.stdout }).on('line', (line) => {
        const message = JSON.parse(line);
        if (message.error) reject(new Error(line));
        results.set(message.id, message.result);
        if (results.size < numbered.length) return;
        server.stdin.end();
        resolve(requests.map((_, index) => results.get(index + 1)));
      });
      server.stdin.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    });
  }

  stop() {
    this.child.kill('SIGKILL');
    rmSync(this.directory, { recursive: true });
  }
}
