/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Asynchronous calls, in async methods; threads. */

const int64 N_ROWS = 1500;
const int64 N_COLUMNS = 1000;

Mtl.StridedView zeros (int64[] shape) throws Error {
	return place (new Mtl.StridedView.zeros (Mtl.Device.get_host (), Mtl.DType.FLOAT32, shape));
}

/* Numbers 0, 1, 2, … in rows that become columns. */
Mtl.StridedView transposed_numbers () throws Error {
	var values = new double[N_ROWS * N_COLUMNS];

	for (var i = 0; i < values.length; i++) {
		values[i] = i;
	}
	var numbers = new Mtl.StridedView.from_doubles (values, Mtl.DType.FLOAT32, { N_ROWS, N_COLUMNS });
	return place (numbers).transpose ();
}

void assert_transposed (Mtl.StridedView view) throws Error {
	var numbers = fetch (view);

	for (int64 column = 0; column < N_COLUMNS; column += 37) {
		for (int64 row = 0; row < N_ROWS; row++) {
			assert_true (numbers[column, row] == row * N_COLUMNS + column);
		}
	}
}

/* The progress that a callback is told. */
class Told : Object {
	public int64 done = -1;
	public int64 total = -1;

	public void tell (int64 done, int64 total) {
		assert_true (this.done <= done && done <= total);
		this.done = done;
		this.total = total;
	}

	public void assert_all (int64 n_bytes) {
		assert_true (done == n_bytes && total == n_bytes);
	}
}

class Waiter {
	private MainLoop loop = new MainLoop ();
	private AsyncResult result;

	public void ready (Object? source, AsyncResult result) {
		this.result = result;
		loop.quit ();
	}

	public AsyncResult wait () {
		loop.run ();
		return result;
	}
}

async void copy_and_convert () throws GLib.Error {
	var source = transposed_numbers ();
	var view = zeros ({ N_COLUMNS, N_ROWS });
	var told = new Told ();
	bool turned = false;

	Idle.add (() => {
		turned = true;
		return Source.REMOVE;
	}, Priority.HIGH);
	assert_true (yield view.copy_from_async (source, null, told.tell));
	assert_true (turned);
	assert_transposed (view);
	told.assert_all (N_ROWS * N_COLUMNS * 4);

	var dense = yield source.to_contiguous_async ();
	assert_true (dense.is_contiguous (C));
	assert_transposed (dense);

	var wide = yield source.to_dtype_async (FLOAT64, K, null, new Told ().tell);
	assert_true (wide.dtype == FLOAT64);
	assert_transposed (wide);

	var moved = yield source.to_device_async (Mtl.Device.get_host (), HOST);
	assert_true (moved.device == Mtl.Device.get_host ());
	assert_transposed (moved);

	var turned_copy = yield source.copy_async (F, null, new Told ().tell);
	assert_true (turned_copy.is_contiguous (F));
	assert_transposed (turned_copy);
	var bytes = yield source.dup_bytes_async ();
	assert_true (bytes.length == N_ROWS * N_COLUMNS * 4);
	assert_true (yield source.array_equal_async (turned_copy));
	assert_false (yield source.all_close_async (zeros ({ 2, 3 })));
	var least = yield source.reduce_async (MINIMUM, { 1 });
	assert_true (least[3] == 3);

	assert_true (yield view.fill_double_async (7));
	assert_true (fetch (view)[-1, -1] == 7);

	assert_true (yield view.fill_async (new Bytes ({ 0, 0, 0x80, 0x3f })));
	assert_true (fetch (view)[-1, -1] == 1);
}

void test_results () throws GLib.Error {
	var waiter = new Waiter ();

	copy_and_convert.begin (waiter.ready);
	copy_and_convert.end (waiter.wait ());
}

/* The delegate is the callee's, and freed with what it holds. */
void test_progress_is_freed () throws GLib.Error {
	var waiter = new Waiter ();
	var view = zeros ({ 2, 3 });
	var told = new Told ();

	view.fill_double_async.begin (7, null, told.tell, waiter.ready);
	assert_cmpuint (told.ref_count, EQ, 2);
	assert_true (view.fill_double_async.end (waiter.wait ()));
	told.assert_all (24);
	assert_cmpuint (told.ref_count, EQ, 1);
}

async void cancel (Mtl.StridedView view, Cancellable cancellable) throws GLib.Error {
	/* It may end before this thread has its turn. */
	for (var i = 0; i < 50; i++) {
		view.fill_double (0);
		yield view.fill_double_async (7, cancellable, () => cancellable.cancel ());
		cancellable.reset ();
	}
}

void test_cancelled () throws GLib.Error {
	var waiter = new Waiter ();
	var view = zeros ({ 4000, 4000 });
	var cancellable = new Cancellable ();

	cancel.begin (view, cancellable, waiter.ready);
	try {
		cancel.end (waiter.wait ());
		assert_not_reached ();
	} catch (IOError.CANCELLED e) {
		var first = fetch (view)[0, 0];
		assert_true (first == 0 || first == 7);
	}
}

void test_errors () throws GLib.Error {
	var waiter = new Waiter ();
	var view = zeros ({ 2, 3 });

	view.copy_from_async.begin (zeros ({ 4, 5 }), null, null, waiter.ready);
	try {
		view.copy_from_async.end (waiter.wait ());
		assert_not_reached ();
	} catch (Mtl.Error.INVALID_ARGUMENT e) {
		assert_says (e, { "(4, 5)" });
	}
}

void test_threads () throws GLib.Error {
	var n_default = Mtl.get_max_threads ();
	var source = transposed_numbers ();

	assert_cmpuint (n_default, GE, 1);
	for (var n_threads = 1; n_threads <= 3; n_threads++) {
		Mtl.set_max_threads (n_threads);
		assert_cmpuint (Mtl.get_max_threads (), EQ, n_threads);
		assert_transposed (source.copy ());
	}
	Mtl.set_max_threads (0);
	assert_cmpuint (Mtl.get_max_threads (), EQ, n_default);
}

int main (string[] args) {
	Test.init (ref args);
	add_any_memory_test ("/vala/async/results", test_results);
	add_any_memory_test ("/vala/async/progress-is-freed", test_progress_is_freed);
	add_test ("/vala/async/cancelled", test_cancelled);
	add_any_memory_test ("/vala/async/errors", test_errors);
	add_test ("/vala/threads", test_threads);
	return Test.run ();
}
