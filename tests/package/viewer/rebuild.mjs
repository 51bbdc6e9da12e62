// SPDX-License-Identifier: Apache-2.0
// The shipped viewer is, byte for byte, what its sources build; they are well typed; nothing in it names a place to load from.
// usage: node rebuild.mjs MODULES WORK VIEWER_FOLDER
import {execFileSync} from 'node:child_process';
import {cpSync, readFileSync, readdirSync, rmSync} from 'node:fs';
import {join} from 'node:path';

const [modules, work, folder] = process.argv.slice(2);
const fail = (text) => { console.error(text); process.exitCode = 1; };

// A copy beside the packages: the type checker looks for them upwards from the sources.
const copy = join(modules, 'viewer');
rmSync(copy, {recursive: true, force: true});
for (const part of ['src', 'tsconfig.json', 'build.mjs', 'package.json']) cpSync(join(folder, part), join(copy, part), {recursive: true});
try {
  execFileSync(process.execPath, [join(modules, 'node_modules/typescript/bin/tsc'), '--noEmit', '-p', copy], {stdio: 'pipe'});
} catch (error) {
  fail(`the sources of the viewer are not well typed:\n${error.stdout}`);
}

const rebuilt = join(work, 'viewer.html');
execFileSync(process.execPath, [join(copy, 'build.mjs'), rebuilt, modules], {stdio: 'inherit'});
const [shipped, built] = [join(folder, 'dist/viewer.html'), rebuilt].map((file) => readFileSync(file, 'utf8'));
if (shipped !== built) {
  let at = 0;
  while (shipped[at] === built[at]) ++at;
  fail(`dist/viewer.html is not what its sources build (first difference at byte ${at}); run: npm ci && npm run build in suite/report/viewer`);
}

const lock = readFileSync(join(folder, 'package-lock.json'), 'utf8');
if (lock.includes('"resolved"')) fail('package-lock.json names a registry; .npmrc says omit-lockfile-registry-resolved');
for (const [what, pattern] of [['a src or href', /<(?:script|img|link|iframe|object|embed)[^>]*(?:src|href)="(?!data:)/i], ['an import', /@import|url\((?!#)/],
  ['a fetch', /\bfetch\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon|importScripts/]])
  if (pattern.test(shipped.replace(/\/\*[\s\S]*?\*\//, ''))) fail(`the viewer holds ${what}`);
// Our own sources make no markup from text (the charts' library can, and nothing asks it to).
for (const name of readdirSync(join(folder, 'src'), {recursive: true}).filter((file) => file.endsWith('.ts')))
  if (/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\.html\(/.test(readFileSync(join(folder, 'src', name), 'utf8'))) fail(`${name} makes markup from text`);
for (const name of ['d3-array', 'd3-axis', 'd3-scale', 'd3-selection', 'd3-shape'])
  if (!new RegExp(`${name} [0-9.]+ \\(ISC\\)\\nCopyright`).test(shipped)) fail(`the notice of ${name} is missing`);
