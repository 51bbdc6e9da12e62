// SPDX-License-Identifier: Apache-2.0
// A page around generated documents, embedded the way the program does it.
import {readFileSync} from 'node:fs';

export function page(viewer, documents) {
  const data = {program: 'assay test', documents: documents.map(([file, document]) => ({file, counters_left_out: 0, document}))};
  const text = JSON.stringify(data).replace(/[<>&]|[^\x20-\x7e]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return readFileSync(viewer, 'utf8').replace('{{data}}', () => text);
}
