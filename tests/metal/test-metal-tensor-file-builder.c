/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Files of tensors, from memory of GPUs that the host may not reach. */

#include "test-tensor-file-builders.h"

#include "metal-tests.h"

/* The size needs several pieces. */
#define N_ROWS 1500
#define N_COLUMNS 1999

static MtlStridedView *
new_numbers (MtlDevice      *device,
             MtlStorageMode  mode)
{
  g_autofree double *values = g_new (double, N_ROWS * N_COLUMNS);
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = NULL;
  MtlStridedView *moved;

  for (int i = 0; i < N_ROWS * N_COLUMNS; i++)
    values[i] = i;
  view = mtl_strided_view_new_from_doubles (values, N_ROWS * N_COLUMNS, MTL_DTYPE_FLOAT32,
                                            DIMS (N_ROWS, N_COLUMNS), &error);
  g_assert_no_error (error);
  moved = mtl_strided_view_to_device (view, device, mode, NULL, &error);
  g_assert_no_error (error);
  return moved;
}

/* Read by the host, which has its own way to the elements. */
static const float *
read_numbers (GFile           *file,
              const char      *name,
              MtlStridedView **view)
{
  g_autoptr (MtlTensorFile) tensors = open_file (file, MTL_TENSOR_FILE_MODE_READ);

  *view = get_view (tensors, name);
  return mtl_strided_view_get_data (*view);
}

static void
test_written (void)
{
  for (int i = 0; i < N_METAL_DEVICES * (int) G_N_ELEMENTS (metal_modes); i++)
    {
      MtlDevice *device = get_metal (i / G_N_ELEMENTS (metal_modes));
      MtlStorageMode mode = metal_modes[i % G_N_ELEMENTS (metal_modes)];
      g_autoptr (GFileIOStream) stream = NULL;
      g_autoptr (GError) error = NULL;
      g_autoptr (GFile) file = g_file_new_tmp (NULL, &stream, &error);
      g_autoptr (MtlTensorFileBuilder) builder = mtl_tensor_file_builder_new ();
      g_autoptr (MtlStridedView) view = NULL;
      g_autoptr (MtlStridedView) turned = NULL;
      g_autoptr (MtlStridedView) part = NULL;
      g_autoptr (MtlStridedView) straight = NULL;
      g_autoptr (MtlStridedView) columns = NULL;
      g_autoptr (MtlStridedView) half = NULL;
      const float *rows, *across, *few;

      g_assert_no_error (error);
      view = new_numbers (device, mode);
      turned = mtl_strided_view_transpose (view);
      part = slice (view, "::-1,3::5");
      add (builder, "straight", view);
      add (builder, "turned", turned);
      add (builder, "part", part);
      write_tensors (builder, file);

      rows = read_numbers (file, "straight", &straight);
      across = read_numbers (file, "turned", &columns);
      few = read_numbers (file, "part", &half);
      for (int row = 0; row < N_ROWS; row++)
        for (int column = 0; column < N_COLUMNS; column++)
          {
            float expected = row * N_COLUMNS + column;

            g_assert_true (*rows++ == expected);
            g_assert_true (across[column * N_ROWS + row] == expected);
          }
      for (int row = N_ROWS - 1; row >= 0; row--)
        for (int column = 3; column < N_COLUMNS; column += 5)
          g_assert_true (*few++ == row * N_COLUMNS + column);
      g_assert_cmpint (g_unlink (g_file_peek_path (file)), ==, 0);
    }
}

/* The old file stays, whichever of the GPU's answers is a failure. */
static void
test_failures (void)
{
  g_autoptr (GFileIOStream) stream = NULL;
  g_autoptr (GFile) file = g_file_new_tmp (NULL, &stream, NULL);
  g_autoptr (MtlTensorFileBuilder) builder = mtl_tensor_file_builder_new ();
  g_autoptr (MtlStridedView) view = new_numbers (get_metal (DISCRETE), MTL_STORAGE_MODE_PRIVATE);
  gboolean done = FALSE;
  guint n_failures = 0;

  add (builder, "numbers", view);
  for (guint i = 1; !done; i++)
    {
      g_autoptr (GError) error = NULL;

      metal_double_fail_at (i);
      done = mtl_tensor_file_builder_write (builder, file, NULL, NULL, NULL, &error);
      metal_double_fail_at (0);
      if (!done)
        {
          GStatBuf info;

          n_failures++;
          g_assert_true (error->domain == MTL_ERROR);
          assert_says (error->message, "“numbers”");
          g_assert_cmpint (g_stat (g_file_peek_path (file), &info), ==, 0);
          g_assert_cmpint (info.st_size, ==, 0);
        }
    }
  g_assert_cmpuint (n_failures, >, 3);
  g_assert_cmpint (g_unlink (g_file_peek_path (file)), ==, 0);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  set_up_metal ();

  add_metal_test ("/MetalTensorFileBuilder/written", test_written);
  add_metal_test ("/MetalTensorFileBuilder/failures", test_failures);

  return g_test_run ();
}
