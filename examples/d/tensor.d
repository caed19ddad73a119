/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Shares a tensor through DLPack, reads its elements, and saves it. */

import std.algorithm : map, sum;
import std.array : join;
import std.conv : to;
import std.range : iota;
import std.stdio : writefln, writeln;
import std.uni : toLower;

import gio.AsyncResultIF : AsyncResultIF, GAsyncResult;
import gio.FileIF : FileIF;
import glib.GException : GException;
import glib.MainContext : MainContext;
import glib.MainLoop : MainLoop;
import gobject.ObjectG : GObject, ObjectG;
import mtl.StridedView : MtlDlpackFlags, MtlDType, MtlOrder, StridedView;
import mtl.TensorFile : MtlTensorFileMode, TensorFile;
import mtl.TensorFileBuilder : TensorFileBuilder;

/* Callbacks are functions of C. What they need comes by their last parameter. */
struct Conversion
{
    StridedView view;
    MainLoop loop;
}

extern (C) void report(long done, long total, void* data)
{
    writefln("%d of %d bytes", done, total);
}

extern (C) void finish(GObject* source, GAsyncResult* result, void* data)
{
    auto conversion = cast(Conversion*) data;
    auto converted = conversion.view.toDtypeFinish(ObjectG.getDObject!AsyncResultIF(result));
    writeln(converted);
    conversion.loop.quit();
}

void main()
{
    auto view = new StridedView([1.0, 2, 3, 4, 5, 6], MtlDType.FLOAT32, [2, 3]);
    auto column = view.sliceString(":, -1");
    auto tensor = column.exportDlpack(MtlDlpackFlags.NONE, null);
    auto shared_ = new StridedView(tensor);
    shared_.fillDouble(0, null);
    writeln(view);

    // The shape belongs to the view, and is valid as long as the view is.
    auto shape = view.getShape();
    foreach (i; 0 .. shape[0])
        writefln("sum of row %d: %g", i, iota(shape[1]).map!(j => view.getDouble([i, j])).sum);

    // The bytes are those of the view, and are valid as long as their object is.
    auto bytes = view.select(0, 1).getBytes();
    auto row = cast(float[]) bytes.getData();
    writefln("bytes of row 1: %g %g %g", row[0], row[1], row[2]);

    auto file = FileIF.parseName("tensors.safetensors");
    auto builder = new TensorFileBuilder();
    builder.add("view", view);
    builder.write(file, null, null, null);

    auto tensors = new TensorFile(file, null, MtlTensorFileMode.AUTO, null);
    foreach (name; tensors.listNames())
    {
        auto entry = tensors.lookupEntry(name);
        auto extents = entry.getShape().map!(to!string).join(" x ");
        writefln("%s: %s, %s", name, entry.getDtype().to!string.toLower, extents);
    }

    try
        view.getDouble([2, 0]);
    catch (GException exception)
        writeln(exception.msg);

    auto conversion = Conversion(view, new MainLoop(MainContext.default_(), false));
    view.toDtypeAsync(MtlDType.FLOAT16, MtlOrder.K, null, &report, null, null, &finish, &conversion);
    conversion.loop.run();
}
