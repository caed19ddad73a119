/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* mpirun -n 2 bench-mpi: views in messages, sent and received with a datatype, through a copy, by
 * the function that chooses, and packed by nested loops. Times are relative to a message of as many
 * bytes that are contiguous on both sides. */

#include <mtldl/mtl-mpi.h>

#define ROUNDS 25
#define SIZE 2048

typedef struct
{
  const char *name;
  MtlDType dtype;
  const char *slice; /* the part of SIZE x SIZE elements, or of pixels with four channels */
  gboolean has_pixels;
  gint64 n_rows;     /* other than SIZE, or 0 */
} Layout;

static const Layout layouts[] = {
  { "contiguous, f4", MTL_DTYPE_FLOAT32, ":" },
  { "crop of 1000 x 1000, f4", MTL_DTYPE_FLOAT32, "500:1500, 300:1300" },
  { "rows reversed, f4", MTL_DTYPE_FLOAT32, "::-1, :-1" },
  { "crop of 64 MiB, f4", MTL_DTYPE_FLOAT32, ":, 300:1324", FALSE, 16384 },
  { "64 columns, f4", MTL_DTYPE_FLOAT32, ":, :64" },
  { "4 columns, f4", MTL_DTYPE_FLOAT32, ":, :4" },
  { "every second column, c16", MTL_DTYPE_COMPLEX128, ":500, ::2" },
  { "three channels of four, f4", MTL_DTYPE_FLOAT32, "..., :3", TRUE },
  { "two channels of four, f4", MTL_DTYPE_FLOAT32, "..., :2", TRUE },
  { "three channels of four, u1", MTL_DTYPE_UINT8, "..., :3", TRUE },
  { "every second column, f8", MTL_DTYPE_FLOAT64, ":, ::2" },
  { "every second column, f4", MTL_DTYPE_FLOAT32, ":, ::2" },
  { "columns reversed, f4", MTL_DTYPE_FLOAT32, ":, ::-1" },
  { "transposed, f4", MTL_DTYPE_FLOAT32, NULL },
  { "transposed, c16", MTL_DTYPE_COMPLEX128, NULL },
  { "column of 2048, f8", MTL_DTYPE_FLOAT64, ":, 7" },
  { "column of 100, f8", MTL_DTYPE_FLOAT64, ":100, 7" },
  { "row of 100, f8", MTL_DTYPE_FLOAT64, "7, :100" },
};

static const char *const ways[] = { "contiguous", "datatype", "copy", "chosen", "loops" };
#define N_WAYS G_N_ELEMENTS (ways)

typedef struct
{
  MtlStridedView *view;
  MtlStridedView *dense;
  gsize item_size;
  int count;
} Message;

static void
stop (GError *error)
{
  g_printerr ("%s\n", error != NULL ? error->message : "no more memory");
  MPI_Abort (MPI_COMM_WORLD, 1);
}

#define COPY_ROW(size) \
  case size: \
    for (gint64 i = 0; i < n; i++) \
      memcpy (packs ? packed + i * size : data + i * stride, \
              packs ? data + i * stride : packed + i * size, size); \
    break

static void
copy_row (char     *packed,
          char     *data,
          gint64    n,
          gint64    stride,
          gsize     item_size,
          gboolean  packs)
{
  switch (item_size)
    {
      COPY_ROW (1);
      COPY_ROW (4);
      COPY_ROW (8);
      COPY_ROW (16);
    default:
      g_assert_not_reached ();
    }
}

/* An element at a time, as programs do that have no library for it. */
static char *
walk (char         *packed,
      char         *data,
      const gint64 *shape,
      const gint64 *strides,
      gsize         n_dims,
      gsize         item_size,
      gboolean      packs)
{
  const gint64 stride = strides[0] * (gint64) item_size;

  if (n_dims == 1)
    {
      copy_row (packed, data, shape[0], stride, item_size, packs);
      return packed + shape[0] * item_size;
    }

  for (gint64 i = 0; i < shape[0]; i++)
    packed = walk (packed, data + i * stride, shape + 1, strides + 1, n_dims - 1, item_size,
                   packs);
  return packed;
}

static void
walk_message (Message  *message,
              gboolean  packs)
{
  gsize n_dims;
  const gint64 *shape = mtl_strided_view_get_shape (message->view, &n_dims);

  walk (mtl_strided_view_get_data (message->dense), mtl_strided_view_get_data (message->view),
        shape, mtl_strided_view_get_strides (message->view, NULL), n_dims, message->item_size,
        packs);
}

static void
send_dense (MtlStridedView *view,
            int             count)
{
  MPI_Send (mtl_strided_view_get_data (view), count, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
}

static void
send_message (Message *message,
              gsize    way)
{
  g_autoptr (MtlStridedView) copy = NULL;
  g_autoptr (GError) error = NULL;
  MPI_Datatype datatype;

  switch (way)
    {
    case 1:
      if (!mtl_mpi_create_datatype (message->view, &datatype, &error))
        stop (error);
      MPI_Send (mtl_strided_view_get_data (message->view), 1, datatype, 1, 0, MPI_COMM_WORLD);
      MPI_Type_free (&datatype);
      break;
    case 2:
      copy = mtl_strided_view_copy (message->view, MTL_ORDER_C, NULL, &error);
      if (copy == NULL)
        stop (error);
      send_dense (copy, message->count);
      break;
    case 3:
      if (!mtl_mpi_send (message->view, 1, 0, MPI_COMM_WORLD, &error))
        stop (error);
      break;
    case 4:
      walk_message (message, TRUE);
      G_GNUC_FALLTHROUGH;
    default:
      send_dense (message->dense, message->count);
    }
}

static void
receive_dense (MtlStridedView *view,
               int             count)
{
  MPI_Recv (mtl_strided_view_get_data (view), count, MPI_BYTE, 0, 0, MPI_COMM_WORLD,
            MPI_STATUS_IGNORE);
}

static void
receive_message (Message *message,
                 gsize    way)
{
  g_autoptr (MtlStridedView) copy = NULL;
  g_autoptr (GError) error = NULL;
  MPI_Datatype datatype;
  const gint64 *shape;
  gsize n_dims;

  switch (way)
    {
    case 1:
      if (!mtl_mpi_create_datatype (message->view, &datatype, &error))
        stop (error);
      MPI_Recv (mtl_strided_view_get_data (message->view), 1, datatype, 0, 0, MPI_COMM_WORLD,
                MPI_STATUS_IGNORE);
      MPI_Type_free (&datatype);
      break;
    case 2:
      shape = mtl_strided_view_get_shape (message->view, &n_dims);
      copy = mtl_strided_view_new_uninitialized (mtl_device_get_host (),
                                                 mtl_strided_view_get_dtype (message->view), shape,
                                                 n_dims, MTL_STORAGE_MODE_DEFAULT, &error);
      if (copy == NULL)
        stop (error);
      receive_dense (copy, message->count);
      if (!mtl_strided_view_copy_from (message->view, copy, NULL, &error))
        stop (error);
      break;
    case 3:
      if (!mtl_mpi_recv (message->view, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, &error))
        stop (error);
      break;
    default:
      receive_dense (message->dense, message->count);
      if (way == 4)
        walk_message (message, FALSE);
    }
}

/* The time until the other side has it all, in seconds. */
static double
measure (Message  *message,
         gsize     send_way,
         gsize     receive_way,
         int       rank)
{
  double begin;

  MPI_Barrier (MPI_COMM_WORLD);
  begin = MPI_Wtime ();
  if (rank == 0)
    {
      send_message (message, send_way);
      MPI_Recv (NULL, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  else
    {
      receive_message (message, receive_way);
      MPI_Send (NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    }

  return MPI_Wtime () - begin;
}

static MtlStridedView *
new_view (const Layout  *layout,
          GError       **error)
{
  gint64 shape[] = { SIZE, SIZE, 4 };
  g_autoptr (MtlStridedView) whole = NULL;

  if (layout->has_pixels)
    shape[1] /= 4;
  if (layout->n_rows > 0)
    shape[0] = layout->n_rows;
  whole = mtl_strided_view_new_filled (mtl_device_get_host (), layout->dtype, shape,
                                       layout->has_pixels ? 3 : 2, 1, MTL_STORAGE_MODE_DEFAULT,
                                       error);
  if (whole == NULL)
    return NULL;

  return layout->slice == NULL ? mtl_strided_view_transpose (whole)
                               : mtl_strided_view_slice_string (whole, layout->slice, error);
}

static void
run (const Layout *layout,
     int           rank)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = new_view (layout, &error);
  g_autoptr (MtlStridedView) dense =
    view != NULL ? mtl_strided_view_copy (view, MTL_ORDER_C, NULL, &error) : NULL;
  double best[2][N_WAYS];
  Message message;

  if (dense == NULL)
    stop (error);

  message.view = view;
  message.dense = dense;
  message.item_size = mtl_strided_layout_get_item_bits (mtl_strided_view_get_layout (view)) / 8;
  message.count = mtl_strided_view_get_volume (view) * message.item_size;
  for (int i = 0; i < ROUNDS; i++)
    for (gsize way = 0; way < N_WAYS; way++)
      for (int receives = 0; receives < 2; receives++)
        {
          double seconds = measure (&message, receives ? 0 : way, receives ? way : 0, rank);

          best[receives][way] = i == 0 ? seconds : MIN (best[receives][way], seconds);
        }

  if (rank != 0)
    return;

  g_print ("%-27s %9d %9.1f", layout->name, message.count, best[0][0] * 1e6);
  for (int receives = 0; receives < 2; receives++)
    for (gsize way = 1; way < N_WAYS; way++)
      g_print ("%s%9.2f", way == 1 ? "  " : "", best[receives][way] / best[receives][0]);
  g_print ("\n");
}

int
main (int    argc,
      char **argv)
{
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length, rank, size;

  MPI_Init (&argc, &argv);
  MPI_Comm_rank (MPI_COMM_WORLD, &rank);
  MPI_Comm_size (MPI_COMM_WORLD, &size);
  if (size != 2)
    {
      g_printerr ("mpirun -n 2 %s\n", argv[0]);
      MPI_Abort (MPI_COMM_WORLD, 2);
    }

  MPI_Get_library_version (version, &length);
  if (rank == 0)
    {
      g_print ("%.*s\n%-27s %9s %9s", (int) strcspn (version, ",\n"), version, "view", "bytes",
               "us");
      for (int receives = 0; receives < 2; receives++)
        for (gsize way = 1; way < N_WAYS; way++)
          g_print ("%s%9s", way == 1 ? receives ? "< " : "> " : "", ways[way]);
      g_print ("\n");
    }
  for (gsize i = 0; i < G_N_ELEMENTS (layouts); i++)
    run (&layouts[i], rank);

  MPI_Finalize ();
  return 0;
}
