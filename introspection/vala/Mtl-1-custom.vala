/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What Vala's indexing syntax needs beside what introspection tells. */
namespace Mtl {
	public class StridedView {
		[CCode (cname = "mtl_strided_view_get_double")]
		public double @get (params int64[] indices) throws Mtl.Error;
	}
}
