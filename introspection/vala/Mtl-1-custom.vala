/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Additions for Vala, which introspection cannot describe. */
namespace Mtl {
	public sealed class Buffer : GLib.Object {
		/* The address of the first byte, or null if the host cannot access it.
		 * It is valid as long as the buffer. */
		public void* get_contents ();

		/* vapigen only finds getters named get_…. It would read these
		 * properties through GValues. */
		public bool device_accessible { [CCode (cname = "mtl_buffer_is_device_accessible")] get; }
		public bool host_accessible { [CCode (cname = "mtl_buffer_is_host_accessible")] get; }
		public bool read_only { [CCode (cname = "mtl_buffer_is_read_only")] get; }
		public unowned Mtl.Device device { [CCode (cname = "mtl_buffer_get_device")] get; }
		public size_t size { [CCode (cname = "mtl_buffer_get_size")] get; }
		public Mtl.StorageMode storage_mode { [CCode (cname = "mtl_buffer_get_storage_mode")] get; }
		public bool size_known { [CCode (cname = "mtl_buffer_is_size_known")] get; }
	}

	public sealed class DlpackTensor : GLib.Object {
		public bool copied { [CCode (cname = "mtl_dlpack_tensor_is_copied")] get; }
		public bool consumed { [CCode (cname = "mtl_dlpack_tensor_is_consumed")] get; }
	}

	public sealed class StridedLayout : GLib.Object {
		/* Array libraries use these names. */
		[CCode (array_length_pos = 0.1, array_length_type = "gsize")]
		public int64[] shape { get; }
		/* The strides are in elements. */
		[CCode (array_length_pos = 0.1, array_length_type = "gsize")]
		public int64[] strides { get; }
		public uint ndim { [CCode (cname = "mtl_strided_layout_get_n_dims")] get; }
		public int64 size { [CCode (cname = "mtl_strided_layout_get_volume")] get; }
	}

	public sealed class StridedView : GLib.Object {
		/* The address of the first element, or null if the host cannot access
		 * it. It is valid as long as the view. */
		public void* get_data ();

		/* view[i, j], with up to four indices; view.get_double () has no limit.
		 *
		 * The default value is lower than any index. The body is this simple
		 * because vapigen fails on loops, negations and values of temporaries. */
		[CCode (cname = "_vala_mtl_strided_view_get")]
		public double @get (int64 i, int64 j = int64.MIN, int64 k = int64.MIN, int64 l = int64.MIN) throws Mtl.Error {
			int64[] indices = { i, j, k, l };
			int n_indices = 4;
			if (l == int64.MIN) {
				n_indices = 3;
			}
			if (k == int64.MIN) {
				n_indices = 2;
			}
			if (j == int64.MIN) {
				n_indices = 1;
			}
			double element = this.get_double (indices[0:n_indices]);
			return element;
		}

		/* view[i, j] = value, with up to four indices; view.set_double () has
		 * no limit. Vala passes the indices and then the value, so the last
		 * argument is the value. No element has the index that stands for a
		 * fraction. */
		[CCode (cname = "_vala_mtl_strided_view_set")]
		public void @set (int64 i, double a, double? b = null, double? c = null, double? d = null) throws Mtl.Error {
			int64 j = 0;
			int64 k = 0;
			int64 l = 0;
			double value = a;
			int n_indices = 1;
			if (b != null) {
				j = (int64) a;
				if (j != a) {
					j = int64.MIN;
				}
				value = b;
				n_indices = 2;
			}
			if (c != null) {
				k = (int64) b;
				if (k != b) {
					k = int64.MIN;
				}
				value = c;
				n_indices = 3;
			}
			if (d != null) {
				l = (int64) c;
				if (l != c) {
					l = int64.MIN;
				}
				value = d;
				n_indices = 4;
			}
			int64[] indices = { i, j, k, l };
			this.set_double (indices[0:n_indices], value);
		}

		/* foreach (var part in view): the parts along the first axis. */
		[CCode (cname = "_vala_mtl_strided_view_iterator")]
		public Mtl.StridedViewIterator iterator () throws Mtl.Error {
			Mtl.StridedView own = this.slice ("...");
			GLib.Object object = own;
			return (Mtl.StridedViewIterator) object;
		}

		/* Array libraries use these names. */
		[CCode (array_length_pos = 0.1, array_length_type = "gsize")]
		public int64[] shape { get; }
		/* The strides are in elements. */
		[CCode (array_length_pos = 0.1, array_length_type = "gsize")]
		public int64[] strides { get; }
		public uint ndim { [CCode (cname = "mtl_strided_view_get_n_dims")] get; }
		public int64 size { [CCode (cname = "mtl_strided_view_get_volume")] get; }
		public bool host_accessible { [CCode (cname = "mtl_strided_view_is_host_accessible")] get; }
		public bool padded { [CCode (cname = "mtl_strided_view_is_padded")] get; }
		public bool read_only { [CCode (cname = "mtl_strided_view_is_read_only")] get; }
	}

	/* A view of its own, which knows the next index. */
	[CCode (cname = "MtlStridedView", type_id = "mtl_strided_view_get_type ()")]
	public class StridedViewIterator : GLib.Object {
		/* The next part, or null after the last. */
		[CCode (cname = "_vala_mtl_strided_view_iterator_next_value")]
		public Mtl.StridedView? next_value () throws Mtl.Error {
			GLib.Object object = this;
			Mtl.StridedView view = (Mtl.StridedView) object;
			void* position = object.get_data<void*> ("mtl-next-index");
			size_t given_index = (size_t) position;
			int64 index = (int64) given_index;
			int64 extent = view.get_extent (0);
			if (index >= extent) {
				return null;
			}
			size_t next_index = (size_t) index + 1;
			void* next_position = (void*) next_index;
			object.set_data_full ("mtl-next-index", next_position, null);
			Mtl.StridedView part = view.select (0, index);
			return part;
		}
	}

	public sealed class TensorFile : GLib.Object {
		/* The file with a path. A constructor in Vala's own code is not
		 * possible here, so there is no `new`. */
		[CCode (cname = "_vala_mtl_tensor_file_open_path")]
		public static Mtl.TensorFile open_path (string path, GLib.Cancellable? cancellable = null) throws Mtl.Error, GLib.IOError {
			GLib.File file = GLib.File.new_for_path (path);
			Mtl.TensorFile tensors = new Mtl.TensorFile.open (file, null, Mtl.TensorFileMode.AUTO, cancellable);
			return tensors;
		}

		/* foreach (var name in file.names) */
		[CCode (array_length = false, array_null_terminated = true)]
		public (unowned string)[] names { [CCode (cname = "mtl_tensor_file_list_names")] owned get; }

		/* file["name"]; use file.load_view () to be able to cancel. */
		[CCode (cname = "_vala_mtl_tensor_file_get")]
		public Mtl.StridedView @get (string name) throws Mtl.Error, GLib.IOError {
			Mtl.StridedView view = this.load_view (name, null);
			return view;
		}

		/* Introspection does not specify the type of the number of views that
		 * an async method returns. */
		[CCode (array_length_type = "gsize", array_length_pos = 1.1)]
		public async Mtl.StridedView[] load_views_async (string? pattern = null, int io_priority = 0, GLib.Cancellable? cancellable = null, owned GLib.FileProgressCallback? progress = null) throws Mtl.Error, GLib.IOError;
	}

	public sealed class TensorFileBuilder : GLib.Object {
		/* Writes to the file with a path. */
		[CCode (cname = "_vala_mtl_tensor_file_builder_write_path")]
		public bool write_path (string path, GLib.Cancellable? cancellable = null, GLib.FileProgressCallback? progress = null) throws Mtl.Error, GLib.IOError {
			GLib.File file = GLib.File.new_for_path (path);
			bool written = this.write (file, cancellable, progress);
			return written;
		}
	}

	public sealed class TensorFileEntry : GLib.Object {
		/* Array libraries use this name. */
		[CCode (array_length_pos = 0.1, array_length_type = "gsize")]
		public int64[] shape { get; }
	}
}
