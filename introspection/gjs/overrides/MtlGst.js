/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exported _init */

// Adapts MtlGst to JavaScript, which frees objects some time after their last use.

const System = imports.system;

function _init() {
    const MtlGst = this;

    // Calls work(view) with a view of a buffer, and returns what that returns. The buffer is
    // mapped no longer than that, unless `work` keeps another view of it.
    MtlGst.map = function (buffer, caps, flags, work, plane = 0) {
        const view = MtlGst.view_from_caps(buffer, caps, plane, flags);

        try {
            return work(view);
        } finally {
            // Slices that nobody uses any longer.
            if (!view.close())
                System.gc();
        }
    };
}
