/* SPDX-License-Identifier: LGPL-2.1-or-later */

import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import Mtl from 'gi://Mtl?version=1';

import {run} from '../../support/tap.js';
import {testWrongArguments} from '../../support/wrong-arguments.js';

const folder = GLib.Dir.make_tmp('mtldl-XXXXXX');
const path = GLib.build_filenamev([folder, 'tensors.safetensors']);
const view = Mtl.array([[1, 2, 3], [4, 5, 6]], 'float32');
const builder = new Mtl.TensorFileBuilder();

builder.add('view', view);
builder.write(path);
const file = Mtl.TensorFile.open(path, null, Mtl.TensorFileMode.READ);
for (const name of [path, folder])
    Gio.File.new_for_path(name).delete(null);

const instances = {
    StridedLayout: view.layout,
    StridedView: view,
    TensorFile: file,
    TensorFileEntry: file.lookup_entry('view'),
};

testWrongArguments(Mtl, className => instances[className]);

await run();
