/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* cuda [OUT.png]
 *
 * Crops a picture in the memory of an NVIDIA GPU, converts it to bytes there, and makes a texture of
 * GTK from it. */

const int HEIGHT = 480;
const int WIDTH = 640;

/* Red grows to the right and green downwards, from 0 to 1. */
Mtl.StridedView make_picture (Mtl.Device gpu) throws Error {
	var picture = new Mtl.StridedView.zeros (gpu, Mtl.DType.FLOAT32, { HEIGHT, WIDTH, 3 });
	var columns = new Mtl.StridedView.arange (gpu, Mtl.DType.FLOAT32, 0, 1, 1.0 / WIDTH);
	var rows = new Mtl.StridedView.arange (gpu, Mtl.DType.FLOAT32, 0, 1, 1.0 / HEIGHT);

	picture.slice ("..., 0").copy_from (columns);
	picture.slice ("..., 1").transpose ().copy_from (rows);
	return picture;
}

void run (string? path) throws Error {
	unowned var gpu = Mtl.Device.@get (CUDA);
	var crop = make_picture (gpu).slice ("120:360, 160:480");

	/* By the GPU, into memory that the host reaches: GTK's texture is over that memory. */
	var pixels = new Mtl.StridedView.uninitialized (gpu, Mtl.DType.UINT8, crop.shape, SHARED);
	pixels.copy_scaled_from (crop, 255);
	var texture = MtlGtk.texture_from_view (pixels);

	print ("%d x %d pixels\n", texture.width, texture.height);
	if (path != null) {
		texture.save_to_png (path);
	}
}

int main (string[] args) {
	try {
		run (args.length > 1 ? args[1] : null);
		return 0;
	} catch (Error e) {
		printerr ("%s\n", e.message);
		return 1;
	}
}
