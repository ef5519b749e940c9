// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// processor.js FOLDER: runs the trace processor of Perfetto's UI, which is in FOLDER,
// without a browser. Standard input are its requests, and standard output its answers,
// both of the type TraceProcessorRpcStream.
const fs = require('fs');
const path = require('path');
// Without the optimizing compiler, which would take a second for each trace. A node that
// does not know the flag goes on without it.
require('v8').setFlagsFromString('--liftoff-only');
const folder = process.argv[2];
const answers = [];
const node = process;

// What a worker of a browser has, and the engine asks for.
Object.assign(globalThis, {
  self: globalThis,
  location: {href: 'http://localhost/'},
  WorkerGlobalScope: class {},
  importScripts() {},
  process: undefined,
  XMLHttpRequest: class {
    open(method, url) {
      this.url = url;
    }
    send() {
      const file = fs.readFileSync(path.join(folder, path.basename(this.url)));
      this.response = file.buffer.slice(
          file.byteOffset, file.byteOffset + file.length);
    }
  },
});
(0, eval)(fs.readFileSync(path.join(folder, 'engine_bundle.js'), 'utf8'));
globalThis.process = node;

const port = {postMessage: (message) => answers.push(Buffer.from(message))};
self.onmessage({data: port});
setTimeout(() => {
  port.onmessage({data: new Uint8Array(fs.readFileSync(0))});
  fs.writeFileSync(1, Buffer.concat(answers));
}, 20);
