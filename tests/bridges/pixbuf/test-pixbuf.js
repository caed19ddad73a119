// SPDX-License-Identifier: LGPL-2.1-or-later

// Both functions from JavaScript; test-pixbuf.c has the cases.

import {equal, run, test, throws} from '../../support/tap.js';

imports.gi.versions.GdkPixbuf = '2.0';
imports.gi.versions.Mtl = '1';
imports.gi.versions.MtlPixbuf = '1';

const {GdkPixbuf, Mtl, MtlPixbuf} = imports.gi;

const tests = {
    toView() {
        const pixbuf = GdkPixbuf.Pixbuf.new(GdkPixbuf.Colorspace.RGB, false, 8, 5, 3);
        pixbuf.fill(0x0a141eff);
        const view = MtlPixbuf.view_from_pixbuf(pixbuf);
        equal(view.get_shape(), [3, 5, 3]);
        equal(view.get_strides(), [16, 3, 1]);
        equal(view.get_int64([2, 4, 2]), 0x1e);

        view.set_int64([1, 2, 0], 99);
        equal([...pixbuf.get_pixels().slice(16 + 6, 16 + 9)], [99, 0x14, 0x1e]);
    },

    newFromView() {
        const view = Mtl.StridedView.new_zeros(null, Mtl.DType.UINT8, [2, 3, 4]);
        const pixbuf = MtlPixbuf.pixbuf_from_view(view);
        equal(pixbuf.get_has_alpha(), true);

        pixbuf.fill(0x01020304);
        equal([0, 1, 2, 3].map(i => view.get_int64([1, 2, i])), [1, 2, 3, 4]);
        equal(MtlPixbuf.view_from_pixbuf(pixbuf).get_address(), view.get_address());
    },

    arraysAndArguments() {
        const pixels = Mtl.array(Uint8Array.of(1, 2, 3)).reshape(1, 1, 3);

        equal(MtlPixbuf.pixbuf_from_view(pixels).get_pixels()[2], 3);
        throws(TypeError, [1, 2], () => MtlPixbuf.pixbuf_from_view(pixels, 1));
        throws(TypeError, ['values', '“view”'], () => MtlPixbuf.pixbuf_from_view('view'));
        throws(TypeError, 1, () => MtlPixbuf.view_from_pixbuf());
    },

    error() {
        const view = Mtl.StridedView.new_zeros(null, Mtl.DType.UINT8, [2, 3, 4]);
        let error = null;
        try {
            MtlPixbuf.pixbuf_from_view(view.flip(0));
        } catch (e) {
            error = e;
        }
        equal(error?.matches(Mtl.Error, Mtl.Error.NEEDS_COPY), true);
        equal(error.message.includes('(-12, 4, 1)'), true);
    },
};

for (const [name, callback] of Object.entries(tests))
    test(name, callback);

await run();
