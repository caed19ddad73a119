/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What Vala has beside what introspection tells. */
namespace Mtl {
	public sealed class Buffer : GLib.Object {
		/* The address of the first byte, null where the host cannot reach it;
		 * valid as long as the buffer. */
		public void* get_contents ();
	}

	public sealed class StridedView : GLib.Object {
		/* The address of the first element, null where the host cannot reach
		 * it; valid as long as the view. */
		public void* get_data ();

		/* view[i, j], the same as view.get_double ({ i, j }) */
		[CCode (cname = "mtl_strided_view_get_double")]
		public double @get ([CCode (array_length_type = "gsize")] params int64[] indices) throws Mtl.Error;

		/* view.@set ({ i, j }, value); a params array could not come before the
		 * value. */
		[CCode (cname = "mtl_strided_view_set_double")]
		public bool @set ([CCode (array_length_pos = 1.5, array_length_type = "gsize")] int64[] indices, double value) throws Mtl.Error;
	}
}
