#!/usr/bin/env node
// Starts the program, which is in a package of its own for each platform: npm installs the one for this machine beside this one.
'use strict';

const { accessSync, constants } = require('node:fs');
const { optionalDependencies } = require('./package.json');

/** Exit codes of shells for a program that may not be started, and for one that does not exist. */
const MAY_NOT_START = 126;
const NOT_FOUND = 127;

function fail(status, sentence) {
  console.error(`tas-mcp: ${sentence}`);
  process.exit(status);
}

/** Returns the path of the program for this machine. */
function find() {
  const platform = `${process.platform}-${process.arch}`;
  const name = `@tas-mcp/${platform}`;
  try {
    return require.resolve(`${name}/tas-mcp${process.platform === 'win32' ? '.exe' : ''}`);
  } catch {
    const build = 'with Rust, `cargo install tas-mcp` builds it';
    if (!(name in optionalDependencies)) return fail(NOT_FOUND, `there is no package for ${platform}: ${build}`);
    const again = 'install tas-mcp again without `--omit=optional`';
    return fail(NOT_FOUND, `the package ${name} is missing: ${again}; on Linux without the GNU C library, ${build}`);
  }
}

/** Runs the program below this process. */
function runBelow(program, args) {
  const child = require('node:child_process').spawn(program, args, { stdio: 'inherit' });
  // The console of Windows gives Ctrl-C to the program as well, which `kill` would not let finish.
  const forward = process.platform === 'win32' ? () => {} : (signal) => child.kill(signal);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, forward);
  child.on('error', (error) => fail(MAY_NOT_START, `${program} cannot be started: ${error.message}`));
  child.on('exit', (status, signal) => {
    if (signal === null) process.exit(status);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

const program = find();
try {
  accessSync(program, constants.X_OK);
} catch {
  fail(MAY_NOT_START, `${program} may not be executed: \`chmod +x\` it, or install tas-mcp again where programs may run`);
}

const args = process.argv.slice(2);
try {
  process.execve(program, [program, ...args]);
} catch {
  // On Windows, no process can become another program.
  runBelow(program, args);
}
