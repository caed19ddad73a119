/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exported _init */

// Adapts MtlGtk to JavaScript as Mtl is: arrays as arguments, defaults, promises.

// Without the value that only tells that nothing was thrown.
function _withoutSuccess(owner, name) {
    const original = owner[name];

    owner[name] = (...args) => {
        const [, ...results] = original(...args);
        return results.length === 1 ? results[0] : results;
    };
    Object.defineProperty(owner[name], 'length', {value: original.length});
}

// gjs ends the program if such a function fails, so find out first.
function _checkSurface(MtlGtk) {
    const original = MtlGtk.surface_from_view;

    MtlGtk.surface_from_view = (view, format) => {
        MtlGtk.check_surface(view, format);
        return original(view, format);
    };
}

function _init() {
    const MtlGtk = this;
    const {Mtl} = imports.gi; // with its override
    const {_makeAdapter, _makeEnumerationConverters} = imports.overrides.Mtl;
    const adapt = _makeAdapter(_makeEnumerationConverters(['Channels', 'ColorMap', 'TextureFlags'],
        () => MtlGtk, 'MtlGtk'));
    const {AUTO} = MtlGtk.Channels;
    const {NONE} = MtlGtk.TextureFlags;
    const {UINT8} = Mtl.DType;

    const adaptAll = (owner, functions, allocates) => {
        for (const [name, [signature, ...defaults]] of Object.entries(functions))
            adapt(owner, name, signature, defaults, allocates);
    };

    _checkSurface(MtlGtk);

    // The last argument of those that can wait is a Gio.Cancellable.
    adaptAll(MtlGtk, {
        check_surface: ['view int32'],
        memory_format_from_channels: ['dtype Channels boolean', false],
        memory_format_to_channels: ['int32'],
        surface_from_view: ['view int32'],
        view_from_texture_plane: ['- uint32'],
    }, false);
    adaptAll(MtlGtk, {
        colorize: ['view ColorMap double double -', null],
        colorize_async: ['view ColorMap double double -', null],
        colorize_with_colors: ['view view double double -', null],
        colorize_with_colors_async: ['view view double double -', null],
        download_texture: ['- dtype Channels TextureFlags -', UINT8, AUTO, NONE, null],
        download_texture_async: ['- dtype Channels TextureFlags -', UINT8, AUTO, NONE, null],
        texture_from_view: ['view Channels TextureFlags', AUTO, NONE],
    }, true);
    adaptAll(MtlGtk.ViewPaintable.prototype, {
        invalidate: ['-', null],
        set_color_map: ['ColorMap double double'],
        set_colors: ['view double double'],
        set_view: ['nullable-view Channels TextureFlags', AUTO, NONE],
    }, true);
    if (MtlGtk.view_from_dmabuf) { // on Linux
        adaptAll(MtlGtk, {
            texture_from_dmabuf: ['- int32 uint64 - uint32 TextureFlags', NONE],
            view_from_dmabuf: ['int32 uint64 - dtype boolean', false],
        }, false);
    }

    _withoutSuccess(MtlGtk, 'memory_format_from_channels');
    _withoutSuccess(MtlGtk, 'memory_format_to_channels');
}
