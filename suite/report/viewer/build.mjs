// SPDX-License-Identifier: Apache-2.0
// Bundles the viewer into one HTML file without anything to load. usage: node build.mjs OUTPUT [MODULES_FOLDER]
import {createHash} from 'node:crypto';
import {existsSync, readFileSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {dirname, join, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';

const [output, modules] = process.argv.slice(2);
if (!output) { console.error('usage: node build.mjs OUTPUT [MODULES_FOLDER]'); process.exit(64); }
const here = dirname(fileURLToPath(import.meta.url));
const packages = resolve(modules ?? here, 'node_modules');
const esbuild = createRequire(join(packages, 'x.js'))('esbuild');
const shared = {bundle: true, minify: true, write: false, charset: 'ascii', target: 'es2021', legalComments: 'none', absWorkingDir: here};

// The palette is a module; its variables become the head of the style sheet.
const palette = esbuild.buildSync({...shared, entryPoints: ['src/palette.ts'], format: 'esm'}).outputFiles[0].text;
const {variables} = await import('data:text/javascript;base64,' + Buffer.from(palette).toString('base64'));
const css = `:root{${variables('light')}}@media (prefers-color-scheme:dark){@media screen{:root{${variables('dark')}}}}` +
  readFileSync(join(here, 'src/style.css'), 'utf8');
const style = esbuild.transformSync(css, {loader: 'css', minify: true, charset: 'ascii', legalComments: 'none'}).code.trim();

const built = esbuild.buildSync({...shared, entryPoints: ['src/main.ts'], format: 'iife', metafile: true, nodePaths: [packages]});
// The notice of every package that went in.
const names = new Set();
for (const input of Object.keys(built.metafile.inputs)) {
  const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
  if (found) names.add(found[1]);
}
const notices = [...names].sort().map((name) => {
  const {version, license} = JSON.parse(readFileSync(join(packages, name, 'package.json'), 'utf8'));
  const file = ['LICENSE', 'LICENSE.md', 'LICENSE.txt'].map((f) => join(packages, name, f)).find(existsSync);
  if (!file) throw new Error(`${name} has no licence file`);
  return `${name} ${version} (${license})\n${readFileSync(file, 'utf8').trim()}`;
});
const head = `/*\nSPDX-License-Identifier: Apache-2.0\nThe viewer of Assay reports; sources in suite/report/viewer. It contains:\n\n${notices.join('\n\n')}\n*/\n`;
const script = '\n' + head + built.outputFiles[0].text.trim() + '\n';

const hash = (text) => createHash('sha256').update(text).digest('base64');
const parts = {'script-hash': hash(script), 'style-hash': hash(style), style, data: '{{data}}', script};
const page = readFileSync(join(here, 'src/template.html'), 'utf8').replace(/\{\{([a-z-]+)\}\}/g, (_, key) => parts[key]);

const odd = /[^\x20-\x7e\n]/.exec(page);
if (odd) throw new Error(`the page is not plain ASCII at ${odd.index}: ${page.slice(odd.index - 30, odd.index + 30)}`);
for (const text of [script, style]) if (/<\/(script|style)|<!--/i.test(text)) throw new Error('the bundle would end its own element');
if (page.split('{{data}}').length !== 2) throw new Error('the place of the data is not unique');
writeFileSync(output, page);
console.log(`${output}: ${page.length} bytes, with ${[...names].sort().join(', ')}`);
