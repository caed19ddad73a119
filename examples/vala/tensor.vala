/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Shows a tensor's shape, slices and values. */

void run () throws Error {
	/* The elements are in C order, row by row. */
	var view = new Mtl.StridedView.from_doubles ({ 1, 2, 3, 4, 5, 6 }, Mtl.DType.FLOAT32, { 2, 3 });
	unowned var shape = view.get_shape ();
	print (@"shape $(shape[0]) x $(shape[1]), $(view.dtype):\n$view\n");

	/* A slice, written as in Python, is another view of the same memory: writing
	 * to it changes the first one, too. A negative index counts from the end. */
	var columns = view.slice (":, 1:");
	columns[-1, -1] = 60;
	print ("last element: %g\n", view[1, 2]);

	/* Transposing exchanges the strides, the distances to the next element along
	 * each axis. It moves no elements. */
	var transposed = view.transpose ();
	unowned var strides = transposed.get_strides ();
	print (@"transposed, strides $(strides[0]) and $(strides[1]):\n$transposed\n");
	print (@"same memory: $(transposed.get_address () == view.get_address ())\n");

	/* Copying repeats a row to fit a matrix, and converts the elements. */
	var tens = new Mtl.StridedView.zeros (null, Mtl.DType.INT32, { 2, 3 });
	tens.copy_from (new Mtl.StridedView.from_doubles ({ 10, 20, 30 }, Mtl.DType.FLOAT64, { 3 }));
	print (@"broadcast:\n$tens\n");

	for (var i = 0; i < shape[0]; i++) {
		print ("sum of a row: %g\n", view[i, 0] + view[i, 1] + view[i, 2]);
	}

	/* Errors are in the domain Mtl.Error. */
	try {
		view.@get (2, 0);
	} catch (Mtl.Error.OUT_OF_BOUNDS e) {
		print ("%s\n", e.message);
	}
}

int main () {
	try {
		run ();
		return 0;
	} catch (Error e) {
		printerr ("%s\n", e.message);
		return 1;
	}
}
