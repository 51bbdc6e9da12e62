// SPDX-License-Identifier: Apache-2.0
// Compiles the published schema strictly with ajv and holds its verdicts against those of Assay's own validator.
// Usage: node check.mjs MODULES SCHEMA_FOLDER VERDICTS_PROGRAM WORK_FOLDER
import {execFileSync} from 'node:child_process';
import {readdirSync, readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {join} from 'node:path';

const [modules, folder, program, work] = process.argv.slice(2);
const Ajv = createRequire(join(modules, 'package.json'))('ajv').default;
const read = (file) => JSON.parse(readFileSync(file, 'utf8'));

// Not strictRequired: `not: {required}` and `then: {required}` name members that the object around them defines.
const ajv = new Ajv({strict: true, strictRequired: false, allowUnionTypes: true, allErrors: true});
const schemas = readdirSync(folder).filter((name) => name.endsWith('.schema.json')).map((name) => read(join(folder, name)));
for (const schema of schemas) ajv.addSchema(schema);
for (const schema of schemas) ajv.getSchema(schema.$id);  // compiles: a reference that leads nowhere is found here
const validate = ajv.getSchema(schemas.find((schema) => schema.$id.endsWith('/document.schema.json')).$id);

const examples = readdirSync(join(folder, 'examples')).map((name) => join(folder, 'examples', name));
const verdicts = execFileSync(program, [work, ...examples], {encoding: 'utf8', maxBuffer: 1 << 28})
  .trim().split('\n').map((line) => line.split('\t'));

let wrong = 0;
const count = {valid: 0, invalid: 0};
for (const [ours, file] of verdicts) {
  const theirs = validate(read(file)) ? 'valid' : 'invalid';
  ++count[theirs];
  if (theirs === ours) continue;
  ++wrong;
  console.error(`${file}: ajv says ${theirs}, assay says ${ours}; ${JSON.stringify(validate.errors?.slice(0, 2))}`);
}
for (const file of examples) {
  const expected = file.split('/').pop().startsWith('invalid-') ? 'invalid' : 'valid';
  if ((validate(read(file)) ? 'valid' : 'invalid') !== expected) { ++wrong; console.error(`${file}: is not ${expected}`); }
}
console.log(`${schemas.length} schema files, ${verdicts.length} documents: ${count.valid} valid, ${count.invalid} invalid, ${wrong} disagreements`);
process.exit(wrong === 0 && count.valid > 0 && count.invalid > 0 ? 0 : 1);
