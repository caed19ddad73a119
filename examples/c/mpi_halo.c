/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* mpirun -n 4 mpi_halo [FIELD.npy]
 *
 * Simulates heat in a plate with a hot upper edge. Each process has a part of the plate and,
 * around it, a halo: the nearest elements of its neighbours' parts. Edges go from view to view,
 * rows and columns alike: nothing here packs them.
 */

#include <math.h>

#include <mtldl/mtl-mpi.h>

#define STEPS 200
#define HOT 100.0

static const int plate_shape[] = { 90, 70 };

/* The neighbours' ranks are MPI_PROC_NULL at the edges of the plate, so that nothing comes from
 * there, and the halo does not change. */
typedef struct
{
  MPI_Comm plate;
  int rank;
  int n_parts[2];
  int above, below, left, right;
} World;

static World
world_new (void)
{
  World self = { .n_parts = { 0, 0 } };
  int size;

  MPI_Comm_size (MPI_COMM_WORLD, &size);
  MPI_Dims_create (size, 2, self.n_parts);
  MPI_Cart_create (MPI_COMM_WORLD, 2, self.n_parts, (int[]) { FALSE, FALSE }, FALSE, &self.plate);
  MPI_Comm_rank (self.plate, &self.rank);
  MPI_Cart_shift (self.plate, 0, 1, &self.above, &self.below);
  MPI_Cart_shift (self.plate, 1, 1, &self.left, &self.right);
  return self;
}

/* The first element of a part and the one after its last, along an axis. */
static void
get_bounds (const World *world,
            int          rank,
            int          axis,
            gint64      *first,
            gint64      *end)
{
  int coordinates[2];

  MPI_Cart_coords (world->plate, rank, 2, coordinates);
  *first = plate_shape[axis] * coordinates[axis] / world->n_parts[axis];
  *end = plate_shape[axis] * (coordinates[axis] + 1) / world->n_parts[axis];
}

/* The plate without what is not this process's. */
static MtlStridedView *
slice_part (const World     *world,
            int              rank,
            MtlStridedView  *plate,
            GError         **error)
{
  gint64 top, bottom, left, right;

  get_bounds (world, rank, 0, &top, &bottom);
  get_bounds (world, rank, 1, &left, &right);
  return mtl_strided_view_slice (plate, (MtlSlice[]) { MTL_SLICE_RANGE (top, bottom),
                                                       MTL_SLICE_RANGE (left, right) },
                                 2, error);
}

static MtlStridedView *
new_zeros (gint64    n_rows,
           gint64    n_columns,
           GError  **error)
{
  return mtl_strided_view_new_zeros (mtl_device_get_host (), MTL_DTYPE_FLOAT64,
                                     (gint64[]) { n_rows, n_columns }, 2,
                                     MTL_STORAGE_MODE_DEFAULT, error);
}

/* A part and its halo. */
static MtlStridedView *
new_part (const World  *world,
          GError      **error)
{
  gint64 top, bottom, left, right;
  g_autoptr (MtlStridedView) part = NULL;
  g_autoptr (MtlStridedView) edge = NULL;

  get_bounds (world, world->rank, 0, &top, &bottom);
  get_bounds (world, world->rank, 1, &left, &right);
  part = new_zeros (bottom - top + 2, right - left + 2, error);
  if (part == NULL || top > 0)
    return g_steal_pointer (&part);

  edge = mtl_strided_view_select (part, 0, 0, error);
  if (edge == NULL || !mtl_strided_view_fill_double (edge, HOT, NULL, error))
    return NULL;

  return g_steal_pointer (&part);
}

static gboolean
send_edge (const World     *world,
           MtlStridedView  *part,
           const char      *edge,
           int              dest,
           const char      *halo,
           int              source,
           GError         **error)
{
  g_autoptr (MtlStridedView) sent = mtl_strided_view_slice_string (part, edge, error);
  g_autoptr (MtlStridedView) received =
    sent != NULL ? mtl_strided_view_slice_string (part, halo, error) : NULL;

  return received != NULL
         && mtl_mpi_sendrecv (sent, dest, 0, received, source, 0, world->plate, MPI_STATUS_IGNORE,
                              error);
}

static gboolean
exchange (const World     *world,
          MtlStridedView  *part,
          GError         **error)
{
  return send_edge (world, part, "1, 1:-1", world->above, "-1, 1:-1", world->below, error)
         && send_edge (world, part, "-2, 1:-1", world->below, "0, 1:-1", world->above, error)
         && send_edge (world, part, "1:-1, 1", world->left, "1:-1, -1", world->right, error)
         && send_edge (world, part, "1:-1, -2", world->right, "1:-1, 0", world->left, error);
}

/* Sets each element to the mean of its neighbours, and returns the greatest change. */
static double
step (MtlStridedView *before,
      MtlStridedView *after)
{
  const gint64 *shape = mtl_strided_view_get_shape (before, NULL);
  const gint64 row = mtl_strided_view_get_strides (before, NULL)[0];
  const double *from = mtl_strided_view_get_data (before);
  double *to = mtl_strided_view_get_data (after);
  double change = 0;

  for (gint64 i = 1; i < shape[0] - 1; i++)
    for (gint64 j = i * row + 1; j < i * row + shape[1] - 1; j++)
      {
        to[j] = (from[j - row] + from[j + row] + from[j - 1] + from[j + 1]) / 4;
        change = fmax (change, fabs (to[j] - from[j]));
      }

  return change;
}

/* The first process receives each part in its place in the whole plate. */
static gboolean
collect (const World     *world,
         MtlStridedView  *part,
         MtlStridedView  *whole,
         GError         **error)
{
  g_autoptr (MtlStridedView) inner = mtl_strided_view_slice_string (part, "1:-1, 1:-1", error);
  int size;

  if (inner == NULL)
    return FALSE;
  if (world->rank > 0)
    return mtl_mpi_send (inner, 0, 0, world->plate, error);

  MPI_Comm_size (world->plate, &size);
  for (int rank = 0; rank < size; rank++)
    {
      g_autoptr (MtlStridedView) place = slice_part (world, rank, whole, error);

      if (place == NULL
          || !(rank == 0 ? mtl_strided_view_copy_from (place, inner, NULL, error)
                         : mtl_mpi_recv (place, rank, 0, world->plate, MPI_STATUS_IGNORE, error)))
        return FALSE;
    }

  return TRUE;
}

static gboolean
save (MtlStridedView  *view,
      const char      *path,
      GError         **error)
{
  g_autoptr (MtlTensorFileBuilder) builder = mtl_tensor_file_builder_new ();
  g_autoptr (GFile) file = g_file_new_for_path (path);

  return mtl_tensor_file_builder_add (builder, "plate", view, error)
         && mtl_tensor_file_builder_write (builder, file, NULL, NULL, NULL, error);
}

static gboolean
report (const World     *world,
        MtlStridedView  *whole,
        double           change,
        GError         **error)
{
  g_autoptr (MtlStatistics) statistics =
    mtl_strided_view_compute_statistics (whole, NULL, NULL, NULL, error);

  if (statistics == NULL)
    return FALSE;

  g_print ("%d processes, %d x %d parts\n", world->n_parts[0] * world->n_parts[1],
           world->n_parts[0], world->n_parts[1]);
  g_print ("greatest change in step %d: %.6f\n", STEPS, change);
  g_print ("mean temperature: %.6f\n", mtl_statistics_get_mean (statistics));
  return TRUE;
}

static gboolean
simulate (const World  *world,
          const char   *path,
          GError      **error)
{
  g_autoptr (MtlStridedView) whole = new_zeros (plate_shape[0], plate_shape[1], error);
  g_autoptr (MtlStridedView) even = new_part (world, error);
  g_autoptr (MtlStridedView) odd = even != NULL ? new_part (world, error) : NULL;
  double change = 0, greatest;

  if (whole == NULL || odd == NULL)
    return FALSE;

  for (int i = 0; i < STEPS; i++)
    {
      MtlStridedView *before = i % 2 == 0 ? even : odd;

      if (!exchange (world, before, error))
        return FALSE;
      change = step (before, i % 2 == 0 ? odd : even);
    }

  MPI_Allreduce (&change, &greatest, 1, MPI_DOUBLE, MPI_MAX, world->plate);
  if (!collect (world, STEPS % 2 == 0 ? even : odd, whole, error))
    return FALSE;

  return world->rank > 0
         || (report (world, whole, greatest, error)
             && (path == NULL || save (whole, path, error)));
}

int
main (int    argc,
      char **argv)
{
  g_autoptr (GError) error = NULL;
  World world;

  MPI_Init (&argc, &argv);
  world = world_new ();
  if (!simulate (&world, argc > 1 ? argv[1] : NULL, &error))
    {
      g_printerr ("%s\n", error->message);
      MPI_Abort (MPI_COMM_WORLD, 1);
    }

  MPI_Comm_free (&world.plate);
  MPI_Finalize ();
  return 0;
}
