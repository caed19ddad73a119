/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exported _init */

// Adapts MtlPixbuf to JavaScript: arrays in place of views, and errors for arguments that are
// missing or too many.

function _init() {
    imports.gi.Mtl; // loads the override
    imports.overrides.mtldl.arguments._adaptFunctions(this, 'MtlPixbuf', {
        '': ['pixbuf_from_view'],
    });
}
