// service.mjs - a service for a test: the small one, or `neardup serve` on a store of its own
import {execFileSync, spawn} from 'node:child_process';
import {existsSync, mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {createInterface} from 'node:readline';

import {Mock} from './mock.mjs';

function withPost(service, key) {
  service.post = async (document) => {
    const response = await fetch(`${service.address}v1/documents`, {method: 'POST', body: JSON.stringify(document),
      headers: {'Content-Type': 'application/json', ...(key && {Authorization: `Bearer ${key}`})}});
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  };
  return service;
}

/** Why `neardup serve` cannot be tried here; empty: it can. */
function whyNot() {
  const command = process.env.NEARDUP;
  if (!command || !existsSync(command)) return 'there is no command: NEARDUP does not name one';
  try {
    execFileSync(command, ['serve', '--help'], {stdio: 'pipe'});
    return '';
  } catch {
    return 'this neardup is built without the service';
  }
}

async function startReal({withKey = false, least = null}) {
  const missing = whyNot();
  if (missing) return {missing};
  const folder = mkdtempSync(join(tmpdir(), 'neardup-page-'));
  const keys = join(folder, 'keys');
  const key = withKey ? execFileSync(process.env.NEARDUP, ['serve', '--new-key', 'test', '--administrator', '--keys', keys]).toString().trim() : '';
  const child = spawn(process.env.NEARDUP, ['serve', '--listen', '127.0.0.1:0', ...(withKey ? ['--keys', keys] : []), ...(least === null ? [] : ['--least', String(least)]), join(folder, 'store')], {stdio: ['ignore', 'pipe', 'inherit']});
  const ended = new Promise((resolve) => { child.on('exit', resolve); });
  const [line] = await Promise.race([new Promise((resolve) => { createInterface(child.stdout).once('line', (l) => resolve([l])); }), ended.then((status) => [`it ended with status ${status}`])]);
  const address = /http:\/\/\S+/.exec(line)?.[0];
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
    rmSync(folder, {recursive: true, force: true});
  };
  if (!address) {
    await stop();
    throw new Error(`neardup serve: ${line}`);
  }
  return withPost({address, key, stop}, key);
}

/**
 * @param {'mock'|'real'} kind
 * @param {{withKey?: boolean, least?: number}} [options]
 */
export async function startService(kind, options = {}) {
  if (kind === 'real') return startReal(options);
  const key = options.withKey ? 'a key of the test' : '';
  const mock = new Mock({key, least: options.least ?? null});
  return withPost({address: await mock.start(), key, stop: () => mock.stop()}, key);
}
