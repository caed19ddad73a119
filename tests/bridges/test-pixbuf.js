// SPDX-License-Identifier: LGPL-2.1-or-later

// Both functions from JavaScript; test-pixbuf.c has the cases.

imports.gi.versions.GdkPixbuf = '2.0';
imports.gi.versions.Mtl = '1';
imports.gi.versions.MtlPixbuf = '1';

const {GdkPixbuf, Mtl, MtlPixbuf} = imports.gi;
const System = imports.system;

function assertEqual(actual, expected) {
    if (JSON.stringify(actual) !== JSON.stringify(expected))
        throw new Error(`${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`);
}

const tests = {
    toView() {
        const pixbuf = GdkPixbuf.Pixbuf.new(GdkPixbuf.Colorspace.RGB, false, 8, 5, 3);
        pixbuf.fill(0x0a141eff);
        const view = MtlPixbuf.to_view(pixbuf);
        assertEqual(view.get_shape(), [3, 5, 3]);
        assertEqual(view.get_strides(), [16, 3, 1]);
        assertEqual(view.get_int64([2, 4, 2]), 0x1e);

        view.set_int64([1, 2, 0], 99);
        assertEqual([...pixbuf.get_pixels().slice(16 + 6, 16 + 9)], [99, 0x14, 0x1e]);
    },

    newFromView() {
        const view = Mtl.StridedView.new_zeros(null, Mtl.DType.UINT8, [2, 3, 4]);
        const pixbuf = MtlPixbuf.new_from_view(view);
        assertEqual(pixbuf.get_has_alpha(), true);

        pixbuf.fill(0x01020304);
        assertEqual([0, 1, 2, 3].map(i => view.get_int64([1, 2, i])), [1, 2, 3, 4]);
        assertEqual(MtlPixbuf.to_view(pixbuf).get_address(), view.get_address());
    },

    error() {
        const view = Mtl.StridedView.new_zeros(null, Mtl.DType.UINT8, [2, 3, 4]);
        let error = null;
        try {
            MtlPixbuf.new_from_view(view.flip(0));
        } catch (e) {
            error = e;
        }
        assertEqual(error?.matches(Mtl.Error, Mtl.Error.NEEDS_COPY), true);
        assertEqual(error.message.includes('(-12, 4, 1)'), true);
    },
};

let number = 0;
let nFailed = 0;

print(`1..${Object.keys(tests).length}`);
for (const [name, test] of Object.entries(tests)) {
    number++;
    try {
        test();
        print(`ok ${number} ${name}`);
    } catch (e) {
        nFailed++;
        print(`not ok ${number} ${name}\n# ${e.message}`);
    }
}

System.exit(nFailed > 0 ? 1 : 0);
