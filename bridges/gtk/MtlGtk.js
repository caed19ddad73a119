/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exported _init */

// Adapts MtlGtk to JavaScript as Mtl is: arrays as arguments, defaults, promises.

// gjs ends the program if such a function fails, so check first.
function _checkSurface(MtlGtk) {
    const original = MtlGtk.surface_from_view;

    MtlGtk.surface_from_view = (view, format) => {
        MtlGtk.check_surface(view, format);
        return original(view, format);
    };
}

function _init() {
    const MtlGtk = this;
    const {_adaptFunctions, _wrap} = imports.overrides.mtldl.arguments;

    imports.gi.Mtl; // loads the override
    _checkSurface(MtlGtk);
    _adaptFunctions(MtlGtk, 'MtlGtk', {
        '': ['colorize', 'colorize_async', 'colorize_with_colors', 'colorize_with_colors_async',
            'download_texture', 'download_texture_async', 'texture_from_view'],
        'ViewPaintable.prototype': ['invalidate', 'set_color_map', 'set_colors', 'set_view'],
    });

    // The first value only says that nothing was thrown.
    _wrap(MtlGtk, 'memory_format_from_pixel', ([, format]) => format);
    _wrap(MtlGtk, 'pixel_from_memory_format', ([, ...results]) => results);
}
