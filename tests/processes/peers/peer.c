/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* usage: peer send|receive FD: one end of test_languages.py */

#include <stdio.h>
#include <stdlib.h>

#include <mtldl/mtldl.h>

static void
send_view (MtlTensorConnection *connection,
           MtlStridedView      *view,
           const char          *name)
{
  g_autoptr (GError) error = NULL;

  mtl_tensor_connection_send (connection, view, g_variant_new_parsed ("{'name': <%s>}", name),
                              NULL, &error);
  g_assert_no_error (error);
}

static void
send_all (MtlTensorConnection *connection)
{
  g_autoptr (GError) error = NULL;
  MtlDevice *host = mtl_device_get_host ();
  g_autoptr (MtlStridedView) row =
    mtl_strided_view_new_arange_int64 (host, MTL_DTYPE_INT64, 0, 6, 1, MTL_STORAGE_MODE_DEFAULT,
                                       &error);
  g_autoptr (MtlStridedView) small = mtl_strided_view_reshape (row, (gint64[]) { 2, 3 }, 2, &error);
  g_autoptr (MtlStridedView) numbers =
    mtl_strided_view_new_arange (host, MTL_DTYPE_FLOAT32, 0, 24, 1, MTL_STORAGE_MODE_INTERPROCESS,
                                 &error);
  g_autoptr (MtlStridedView) matrix =
    mtl_strided_view_reshape (numbers, (gint64[]) { 4, 6 }, 2, &error);
  g_autoptr (MtlStridedView) shared = mtl_strided_view_slice_string (matrix, "::-1, ::2", &error);
  g_autoptr (MtlStridedView) large =
    mtl_strided_view_new_arange_int64 (host, MTL_DTYPE_UINT32, 0, 100000, 1,
                                       MTL_STORAGE_MODE_DEFAULT, &error);

  g_assert_no_error (error);
  send_view (connection, small, "small");
  send_view (connection, shared, "shared");
  send_view (connection, large, "large");
}

static void
receive_one (MtlTensorConnection *connection)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) extras = NULL;
  g_autoptr (MtlStridedView) view =
    mtl_tensor_connection_receive (connection, &extras, NULL, &error);
  g_autofree char *text = NULL;
  const char *name;

  g_assert_no_error (error);
  g_assert_true (g_variant_lookup (extras, "name", "&s", &name));
  text = mtl_strided_view_format (view, 1000);
  g_strdelimit (text, "\n", '|');
  printf ("%s %d %d %s\n", name, mtl_strided_view_is_read_only (view),
          mtl_buffer_is_interprocess (mtl_strided_view_get_buffer (view)), text);
}

int
main (int   argc,
      char *argv[])
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GSocket) socket = g_socket_new_from_fd (atoi (argv[2]), &error);
  g_autoptr (MtlTensorConnection) connection = NULL;

  g_assert_no_error (error);
  connection = mtl_tensor_connection_new (socket, MTL_TENSOR_PEER_FLAGS_NONE);
  if (g_str_equal (argv[1], "send"))
    send_all (connection);
  else
    for (int i = 0; i < 3; i++)
      receive_one (connection);
  return 0;
}
