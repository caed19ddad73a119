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
		public bool size_known { [CCode (cname = "mtl_buffer_is_size_known")] get; }
	}

	public sealed class DlpackTensor : GLib.Object {
		public bool consumed { [CCode (cname = "mtl_dlpack_tensor_is_consumed")] get; }
	}

	public sealed class StridedView : GLib.Object {
		/* The address of the first element, or null if the host cannot access
		 * it. It is valid as long as the view. */
		public void* get_data ();

		/* view[i, j], with up to four indices; view.get_double () has no limit.
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

		/* view.@set ({ i, j }, value) */
		[CCode (cname = "mtl_strided_view_set_double")]
		public bool @set ([CCode (array_length_pos = 1.5, array_length_type = "gsize")] int64[] indices, double value) throws Mtl.Error;

		public bool host_accessible { [CCode (cname = "mtl_strided_view_is_host_accessible")] get; }
		public Mtl.StridedLayout layout { [CCode (cname = "mtl_strided_view_dup_layout")] owned get; }
		public bool padded { [CCode (cname = "mtl_strided_view_is_padded")] get; }
		public bool read_only { [CCode (cname = "mtl_strided_view_is_read_only")] get; }
	}

	public sealed class TensorFile : GLib.Object {
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
		public async Mtl.StridedView[] load_views_async (string? pattern = null, int io_priority = GLib.Priority.DEFAULT, GLib.Cancellable? cancellable = null, owned GLib.FileProgressCallback? progress = null) throws Mtl.Error, GLib.IOError;
	}
}
