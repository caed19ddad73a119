/* SPDX-License-Identifier: LGPL-2.1-or-later */

// test-search.js FOLDER: searches in the index of a book with the script of its pages.

import GLib from 'gi://GLib';
import System from 'system';

const [folder] = System.programArgs;
const window = {};

function readText(name) {
    return new TextDecoder().decode(GLib.file_get_contents(`${folder}/${name}`)[1]);
}

new Function('window', readText('search-index.js'))(window);
const {searchSite, prepareEntry} = new Function('window', 'document',
    `${readText('search.js')}\nreturn {searchSite, prepareEntry};`)(window, undefined);
const entries = window.siteIndex.map(prepareEntry);

let n = 0, nFailed = 0;

function check(what, holds, details = '') {
    n++;
    nFailed += holds ? 0 : 1;
    print(`${holds ? 'ok' : 'not ok'} ${n} ${what}`);
    if (!holds)
        print(`# ${details}`);
}

// Checks that an address with this part is among the first results.
function finds(query, address, nFirst = 1) {
    const results = searchSite(entries, query);
    const addresses = results.map(({href}) => href);

    check(`“${query}” finds ${address}`, addresses.slice(0, nFirst).some(
        href => href.includes(address)), addresses.slice(0, 5).join(' '));
}

finds('asview', 'python-interface.html#Mtl.asview');
finds('Mtl.asview()', 'python-interface.html#Mtl.asview');
finds('ASVIEW', 'python-interface.html#Mtl.asview');
finds('load', 'python-interface.html#Mtl.load');
finds('toTypedArray', 'javascript-interface.html#Mtl.StridedView.toTypedArray');
finds('totypedarray', 'javascript-interface.html#Mtl.StridedView.toTypedArray');
finds('__dlpack__', 'python-interface.html#Mtl.StridedView.__dlpack__', 2);
finds('np.asarray', 'python.html#');
finds('asarray', 'python.html#', 3);
finds('safetensors', 'files.html#files-of-tensors');
finds('npy', 'files.html#files-of-tensors');
finds('toArray', 'javascript-interface.html#Mtl.StridedView.toArray');
finds('pixbuf_from_view', '#MtlPixbuf.pixbuf_from_view');
finds('zeros', 'python-interface.html#Mtl.zeros');
finds('mtldl ls', 'files.html#the-command-mtldl');
finds('mtldl cp', 'files.html#the-command-mtldl');
finds('PyTorch', 'python.html#pytorch', 3);
finds('mtl_strided_view_copy_from', 'method.StridedView.copy_from.html');
finds('copy_from', 'StridedView.copy_from', 4);
finds('MtlStridedView', 'class.StridedView.html');
finds('StridedView', 'class.StridedView.html', 4);
finds('view_from_pixbuf', 'func.view_from_pixbuf.html', 3);
finds('MTL_ERROR', 'error.Error.html', 5);
finds('MTL_DTYPE_FLOAT32', 'enum.DType.html');
finds('float32', 'DType', 3);
finds('copy', '.copy', 1);
check('virtual methods come after methods',
    searchSite(entries, 'copy')[0].kind !== 'virtual method');
finds('method: copy', 'method.StridedView.copy.html', 2);
finds('python: load', 'python-interface.html#Mtl.load');
finds('lifetimes', 'html#lifetimes', 3);
finds('hop by hop', 'example-demo.html');
finds('use it from your own project', 'installation.html#use-it-from-your-own-project');
finds('strdvw', 'StridedView', 10);

const nothing = searchSite(entries, 'zzzqqqxxx');
check('what does not exist is not found', nothing.length === 0, nothing.length);
check('an empty query finds nothing', searchSite(entries, '  ').length === 0);
check('a query of special letters does no harm',
    ['(', '[', '\\', '*', '.*', ':', '::'].every(
        query => Array.isArray(searchSite(entries, query))));
check('everything has a name, a kind and an address', entries.length > 500 &&
    entries.every(({name, kind, href}) => name && kind && href),
JSON.stringify(entries.find(({name, kind, href}) => !(name && kind && href))));

const begin = GLib.get_monotonic_time();
for (const query of ['copy', 'a', 'np.asarray', 'strdvw'])
    searchSite(entries, query);
const milliseconds = (GLib.get_monotonic_time() - begin) / 4000;
check('a search takes less than half a second', milliseconds < 500, `${milliseconds} ms`);

print(`1..${n}`);
System.exit(nFailed > 0 ? 1 : 0);
