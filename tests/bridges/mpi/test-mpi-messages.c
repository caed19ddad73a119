/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Views in messages between processes, which mpirun starts. Pairs of processes exchange elements
 * of layouts drawn at random, and compare them with what loops over single elements find. */

#include "mpi-fixture.h"

#include "drawn-layouts.h"

#define N_CASES 1200
#define MAX_DIMS 5

static const DrawnAxes with_repeats = { 30, 3, 30, 5, 30, 15 };
static const DrawnAxes without_repeats = { 30, 3, 30, 5, 30, 0 };

/* One of the two layouts in a message. */
typedef struct
{
  gint64 strides[MAX_DIMS];
  gsize size;
  guint8 *memory;
  guint8 *first;
  MtlStridedView *view;
} Side;

typedef struct
{
  const ElementType *type;
  gsize item_size;
  gsize n_dims;
  gint64 shape[MAX_DIMS];
  gsize n_bytes; /* in a message */
  int count;     /* MPI's, in its numbers */
  guint8 *packed;
  Side sent;
  Side received;
} Case;

static int other; /* the other process of the pair */

static void
draw_side (Case            *self,
           Side            *side,
           const DrawnAxes *axes)
{
  gint64 low, high;

  draw_strides (axes, self->n_dims, self->shape, side->strides);
  get_offset_bounds (self->n_dims, self->shape, side->strides, &low, &high);
  if (self->n_bytes == 0)
    low = high = 0;
  side->size = (high - low + 1) * self->item_size;
  side->memory = g_malloc (side->size);
  fill_at_random (side->memory, side->size);
  side->first = side->memory - low * (gint64) self->item_size;
  side->view = new_view (side->first, self->type, self->shape, side->strides, self->n_dims, 1,
                         FALSE);
}

static void
draw_case (Case *self)
{
  gsize n_types;
  const ElementType *types = get_element_types (&n_types);
  int number_size;

  self->type = &types[pick (0, n_types - 1)];
  self->item_size = get_item_size (self->type);
  self->n_dims = pick (0, MAX_DIMS);
  self->n_bytes = self->item_size;
  for (gsize i = 0; i < self->n_dims; i++)
    {
      gboolean is_long = i + 1 == self->n_dims && i < 3 && happens (30);

      self->shape[i] = happens (3) ? 0 : is_long ? pick (60, 300) : pick (1, 5);
      self->n_bytes *= self->shape[i];
    }
  MPI_Type_size (self->type->number, &number_size);
  self->count = self->n_bytes / number_size;
  self->packed = g_malloc (self->n_bytes + 1);
  draw_side (self, &self->sent, &with_repeats);
  draw_side (self, &self->received, &without_repeats);
}

static void
clear_side (Side *side)
{
  assert_unused (side->view);
  g_object_unref (side->view);
  g_free (side->memory);
}

static void
clear_case (Case *self)
{
  clear_side (&self->sent);
  clear_side (&self->received);
  g_free (self->packed);
}

/* Each process has other values, which the others know. */
static void
set_values (Case *self,
            Side *side,
            int   of_rank)
{
  for (gsize i = 0; i < side->size; i++)
    side->memory[i] = self->type->dtype.code == kDLBool ? (side->memory[i] + of_rank) % 2
                                                        : side->memory[i] + 37 * of_rank;
}

/* --- Ways to send, and to receive */

static void
send_view (Case *self)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (mtl_mpi_send (self->sent.view, other, 3, MPI_COMM_WORLD, &error));
  g_assert_no_error (error);
}

/* The datatype may be freed before the elements are sent. */
static void
send_datatype (Case *self)
{
  g_autoptr (GError) error = NULL;
  MPI_Datatype datatype;
  MPI_Request request;

  g_assert_true (mtl_mpi_create_datatype (self->sent.view, &datatype, &error));
  g_assert_no_error (error);
  MPI_Isend (mtl_strided_view_get_data (self->sent.view), self->n_bytes > 0, datatype, other, 3,
             MPI_COMM_WORLD, &request);
  MPI_Type_free (&datatype);
  MPI_Wait (&request, MPI_STATUS_IGNORE);
}

static void
send_packed (Case *self)
{
  copy_one_by_one (self->packed, self->sent.first, self->shape, self->sent.strides, self->n_dims,
                   self->item_size, TRUE);
  MPI_Send (self->packed, self->count, self->type->number, other, 3, MPI_COMM_WORLD);
}

static void
receive_view (Case *self)
{
  g_autoptr (GError) error = NULL;
  MPI_Status status;
  int count;

  g_assert_true (mtl_mpi_recv (self->received.view, other, 3, MPI_COMM_WORLD, &status, &error));
  g_assert_no_error (error);
  g_assert_cmpint (status.MPI_SOURCE, ==, other);
  MPI_Get_count (&status, self->type->number, &count);
  g_assert_cmpint (count, ==, self->count);
}

static void
receive_datatype (Case *self)
{
  g_autoptr (GError) error = NULL;
  MPI_Datatype datatype;

  g_assert_true (mtl_mpi_create_datatype (self->received.view, &datatype, &error));
  g_assert_no_error (error);
  MPI_Recv (mtl_strided_view_get_data (self->received.view), self->n_bytes > 0, datatype, other, 3,
            MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Type_free (&datatype);
}

static void
receive_packed (Case *self)
{
  MPI_Recv (self->packed, self->count, self->type->number, other, 3, MPI_COMM_WORLD,
            MPI_STATUS_IGNORE);
  copy_one_by_one (self->packed, self->received.first, self->shape, self->received.strides,
                   self->n_dims, self->item_size, FALSE);
}

static void
exchange (Case *self)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (mtl_mpi_sendrecv (self->sent.view, other, 3, self->received.view, other, 3,
                                   MPI_COMM_WORLD, MPI_STATUS_IGNORE, &error));
  g_assert_no_error (error);
}

/* The memory to be, with all that is between the elements. */
static guint8 *
expect (Case *self)
{
  const gsize offset = self->received.first - self->received.memory;
  guint8 *expected = g_memdup2 (self->received.memory, self->received.size);

  copy_one_by_one (self->packed, self->sent.first, self->shape, self->sent.strides, self->n_dims,
                   self->item_size, TRUE);
  copy_one_by_one (self->packed, expected + offset, self->shape, self->received.strides,
                   self->n_dims, self->item_size, FALSE);
  return expected;
}

static void
run_case (Case *self,
          int   i)
{
  static void (* const senders[]) (Case *) = { send_view, send_datatype, send_packed };
  static void (* const receivers[]) (Case *) = { receive_view, receive_datatype, receive_packed };
  const gboolean exchanges = i % 10 == 9;
  const gboolean sends = rank % 2 == i % 2;
  g_autofree guint8 *own = g_memdup2 (self->sent.memory, self->sent.size);
  g_autofree guint8 *expected = NULL;

  set_values (self, &self->sent, other);
  expected = expect (self);
  memcpy (self->sent.memory, own, self->sent.size);
  set_values (self, &self->sent, rank);

  if (exchanges)
    exchange (self);
  else if (sends)
    senders[i % 3] (self);
  else
    receivers[i / 3 % 3] (self);

  if (exchanges || !sends)
    g_assert_cmpmem (self->received.memory, self->received.size, expected, self->received.size);
}

static void
test_random_layouts (void)
{
  other = rank ^ 1;
  for (int i = 0; i < N_CASES; i++)
    {
      Case one;

      draw_case (&one);
      run_case (&one, i);
      clear_case (&one);
    }
}

/* --- Known views */

static MtlStridedView *
new_numbers (MtlDType      dtype,
             const gint64 *shape,
             gsize         n_dims,
             double        first)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) numbers = NULL;
  MtlStridedView *view;
  gint64 volume = 1;

  for (gsize i = 0; i < n_dims; i++)
    volume *= shape[i];
  numbers = mtl_strided_view_new_arange (mtl_device_get_host (), dtype, first, first + volume, 1,
                                         MTL_STORAGE_MODE_DEFAULT, &error);
  g_assert_no_error (error);
  view = mtl_strided_view_reshape (numbers, shape, n_dims, &error);
  g_assert_no_error (error);
  return view;
}

/* A message to this process itself, so that the memory of both can be seen. */
static void
pass_to_self (MtlStridedView *sent,
              MtlStridedView *received)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) dense = mtl_strided_view_copy (received, MTL_ORDER_C, NULL, &error);
  MPI_Request request;
  const int n_bytes = mtl_strided_view_get_volume (dense) * 8;

  MPI_Irecv (mtl_strided_view_get_data (dense), n_bytes / 8, MPI_DOUBLE, 0, 1, MPI_COMM_SELF,
             &request);
  g_assert_true (mtl_mpi_send (sent, 0, 1, MPI_COMM_SELF, &error));
  g_assert_no_error (error);
  MPI_Wait (&request, MPI_STATUS_IGNORE);

  MPI_Isend (mtl_strided_view_get_data (dense), n_bytes / 8, MPI_DOUBLE, 0, 1, MPI_COMM_SELF,
             &request);
  g_assert_true (mtl_mpi_recv (received, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE, &error));
  g_assert_no_error (error);
  MPI_Wait (&request, MPI_STATUS_IGNORE);
}

/* MPI gets the elements themselves, or a copy. */
static void
test_choice (void)
{
  static const struct
  {
    const char *slice;
    gboolean is_in_place;
    gboolean is_one_item; /* or as many numbers */
  } cases[] = {
    { ":", TRUE, FALSE },
    { "2:7", TRUE, FALSE },
    { "3, 7:", TRUE, FALSE },
    { "3, 7", TRUE, FALSE },
    { "3:3", TRUE, FALSE },
    { ":, :32", TRUE, TRUE },     /* 256 bytes side by side */
    { "::-1, :40", TRUE, TRUE },
    { ":, :31", FALSE, FALSE },   /* 248 */
    { ":, 7", FALSE, FALSE },
    { ":, ::2", FALSE, FALSE },
    { ":, ::-1", FALSE, FALSE },
  };
  g_autoptr (MtlStridedView) numbers = new_numbers (MTL_DTYPE_FLOAT64, DIMS (8, 50), 0);

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (MtlStridedView) target = new_numbers (MTL_DTYPE_FLOAT64, DIMS (8, 50), 1000);
      g_autoptr (MtlStridedView) sent = slice (numbers, cases[i].slice);
      g_autoptr (MtlStridedView) received = slice (target, cases[i].slice);
      gint64 volume = mtl_strided_view_get_volume (sent);

      pass_to_self (sent, received);
      g_assert_true (mtl_strided_view_array_equal (sent, received, MTL_COMPARE_FLAGS_NONE, NULL,
                                                   NULL));
      g_assert_true ((passed_memory == mtl_strided_view_get_data (received))
                     == cases[i].is_in_place);
      if (_MTL_MPI_MAX_COUNT == INT_MAX)
        g_assert_cmpint (passed_count, ==, cases[i].is_one_item ? 1 : volume);
      assert_unused (sent);
      assert_unused (received);
    }
}

/* Each process passes numbers on to the next one, in a circle. There are no other messages. */
static void
test_circle (void)
{
  const int next = (rank + 1) % n_ranks, previous = (rank + n_ranks - 1) % n_ranks;
  g_autoptr (MtlStridedView) part = new_numbers (MTL_DTYPE_INT32, DIMS (1000, 30), 100000 * rank);
  g_autoptr (MtlStridedView) edge = slice (part, ":, 1");
  g_autoptr (MtlStridedView) halo = slice (part, "::-1, -1");
  g_autoptr (GError) error = NULL;
  MPI_Status status;

  MPI_Barrier (MPI_COMM_WORLD);
  g_assert_true (mtl_mpi_sendrecv (edge, next, 5, halo, MPI_ANY_SOURCE, MPI_ANY_TAG,
                                   MPI_COMM_WORLD, &status, &error));
  MPI_Barrier (MPI_COMM_WORLD);
  g_assert_no_error (error);
  g_assert_cmpint (status.MPI_SOURCE, ==, previous);
  g_assert_cmpint (status.MPI_TAG, ==, 5);
  for (int i = 0; i < 1000; i++)
    g_assert_cmpfloat (get_number_at (part, i, 29, 0), ==, 100000 * previous + 30 * (999 - i) + 1);
  g_assert_cmpfloat (get_number_at (part, 5, 28, 0), ==, 100000 * rank + 30 * 5 + 28);
  assert_unused (edge);
  assert_unused (halo);
}

/* Elements that are sent and received may overlap. */
static void
test_same_elements (void)
{
  g_autoptr (MtlStridedView) part = new_numbers (MTL_DTYPE_FLOAT64, DIMS (4, 4), 100 * rank);
  g_autoptr (MtlStridedView) shifted = slice (part, "1:");
  g_autoptr (MtlStridedView) upper = slice (part, ":-1");
  g_autoptr (GError) error = NULL;

  other = rank ^ 1;
  g_assert_true (mtl_mpi_sendrecv (part, other, 0, part, other, 0, MPI_COMM_WORLD,
                                   MPI_STATUS_IGNORE, &error));
  g_assert_no_error (error);
  for (int i = 0; i < 16; i++)
    g_assert_cmpfloat (get_number_at (part, i / 4, i % 4, 0), ==, 100 * other + i);

  g_assert_true (mtl_mpi_sendrecv (upper, other, 0, shifted, other, 0, MPI_COMM_WORLD,
                                   MPI_STATUS_IGNORE, &error));
  g_assert_no_error (error);
  for (int i = 0; i < 16; i++)
    g_assert_cmpfloat (get_number_at (part, i / 4, i % 4, 0), ==,
                       i < 4 ? 100 * other + i : 100 * rank + i - 4);
}

/* Collective functions take a datatype. */
static void
test_broadcast (void)
{
  g_autoptr (MtlStridedView) part = new_numbers (MTL_DTYPE_FLOAT32, DIMS (20, 6), 1000 * rank);
  g_autoptr (MtlStridedView) columns = slice (part, "::-1, 1::2");
  g_autoptr (GError) error = NULL;
  MPI_Datatype datatype;

  g_assert_true (mtl_mpi_create_datatype (columns, &datatype, &error));
  g_assert_no_error (error);
  MPI_Bcast (mtl_strided_view_get_data (columns), 1, datatype, 1, MPI_COMM_WORLD);
  MPI_Type_free (&datatype);
  for (int i = 0; i < 120; i++)
    {
      const int from = i % 2 == 1 ? 1 : rank;

      g_assert_cmpfloat (get_number_at (part, i / 6, i % 6, 0), ==, 1000 * from + i);
    }
}

/* At an edge of the world there is nobody. */
static void
test_nobody (void)
{
  g_autoptr (MtlStridedView) part = new_numbers (MTL_DTYPE_FLOAT64, DIMS (5, 3), 0);
  g_autoptr (MtlStridedView) column = slice (part, ":, 0");
  g_autoptr (MtlStridedView) rows = slice (part, "1:");
  g_autoptr (GError) error = NULL;
  MPI_Status status;

  g_assert_true (mtl_mpi_send (column, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &error));
  g_assert_true (mtl_mpi_recv (column, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status, &error));
  g_assert_cmpint (status.MPI_SOURCE, ==, MPI_PROC_NULL);
  g_assert_true (mtl_mpi_sendrecv (rows, MPI_PROC_NULL, 0, rows, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
                                   MPI_STATUS_IGNORE, &error));
  g_assert_no_error (error);
  for (int i = 0; i < 15; i++)
    g_assert_cmpfloat (get_number_at (part, i / 3, i % 3, 0), ==, i);
}

/* Packed elements come in any order, as long as all of them together fill bytes. */
static void
test_packed_elements (void)
{
  g_autoptr (MtlStridedView) packed = host_zeros (MTL_DTYPE_INT4, DIMS (6, 5));
  g_autoptr (MtlStridedView) part = slice (packed, "1:, 1:");
  g_autoptr (MtlStridedView) transposed = mtl_strided_view_transpose (part);
  g_autoptr (MtlStridedView) target = host_zeros (MTL_DTYPE_INT4, DIMS (5, 7));
  g_autoptr (MtlStridedView) received = slice (target, ":4, 6:1:-1");
  g_autoptr (MtlStridedView) odd = slice (packed, "1:4, 1");
  GError *error = NULL;

  for (int i = 0; i < 30; i++)
    set_number_at (packed, i / 5, i % 5, 0, i % 16 - 8);
  for (int i = 0; i < 35; i++)
    set_number_at (target, i / 7, i % 7, 0, 7);
  g_assert_true (mtl_mpi_sendrecv (transposed, rank, 0, received, rank, 0, MPI_COMM_WORLD,
                                   MPI_STATUS_IGNORE, &error));
  g_assert_no_error (error);
  for (int i = 0; i < 35; i++)
    {
      const int row = i / 7, column = i % 7;
      const int from = 5 * (7 - column) + row + 1;

      g_assert_cmpfloat (get_number_at (target, row, column, 0), ==,
                         row < 4 && column > 1 ? from % 16 - 8 : 7);
    }

  g_assert_false (mtl_mpi_send (odd, rank, 0, MPI_COMM_WORLD, &error));
  assert_failed (error, MTL_ERROR_NOT_SUPPORTED, "(3,) & 4");
  g_assert_false (mtl_mpi_recv (odd, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, &error));
  assert_failed (error, MTL_ERROR_NOT_SUPPORTED, "(3,) & 4");
  assert_unused (odd);
  assert_unused (transposed);
  assert_unused (received);
}

/* Bits that do not begin where a byte does. */
static void
test_bits (void)
{
  const ElementType type = { { 77, 1, 1 }, FALSE, MPI_BYTE };
  guint8 bits[2] = { 0xa8, 0xfd }, received_bits[2] = { 0 };
  const gint64 n = 16, stride = 1;
  g_autoptr (MtlStridedView) all = new_view (bits, &type, &n, &stride, 1, 1, FALSE);
  g_autoptr (MtlStridedView) others = new_view (received_bits, &type, &n, &stride, 1, 1, FALSE);
  g_autoptr (MtlStridedView) sent = slice (all, "3:11");
  g_autoptr (MtlStridedView) received = slice (others, "6:14");
  g_autoptr (GError) error = NULL;

  g_assert_true (mtl_mpi_sendrecv (sent, rank, 0, received, rank, 0, MPI_COMM_WORLD,
                                   MPI_STATUS_IGNORE, &error));
  g_assert_no_error (error);
  g_assert_cmpmem (received_bits, 2, ((guint8[]) { 0x40, 0x2d }), 2);
}

/* --- Errors of messages */

static MPI_Comm tolerant; /* its errors are returned */

static void
send_bytes (int n_bytes)
{
  const guint8 bytes[256] = { 1, 2, 3 };

  MPI_Send (bytes, n_bytes, MPI_BYTE, other, 0, tolerant);
}

static void
send_doubles (int n_doubles)
{
  const double doubles[32] = { -1, -2, -3, -4, -5, -6, -7, -8, -9 };

  MPI_Send (doubles, n_doubles, MPI_DOUBLE, other, 0, tolerant);
}

/* The even processes send what the odd ones do not expect. */
static void
test_other_sizes (void)
{
  g_autoptr (MtlStridedView) part = new_numbers (MTL_DTYPE_FLOAT64, DIMS (4, 3), 0);
  g_autoptr (MtlStridedView) column = slice (part, ":, 1");
  g_autofree char *sender = g_strdup_printf ("4 & 8 & 3 & 0 & %d", rank ^ 1);
  GError *error = NULL;

  other = rank ^ 1;
  if (rank % 2 == 0)
    {
      send_doubles (3);
      send_doubles (0);
      send_bytes (20);
      send_doubles (5);
      send_doubles (4);
      return;
    }

  g_assert_false (mtl_mpi_recv (column, other, 0, tolerant, MPI_STATUS_IGNORE, &error));
  assert_failed (error, MTL_ERROR_INVALID_DATA, sender);
  g_assert_false (mtl_mpi_recv (column, other, 0, tolerant, MPI_STATUS_IGNORE, &error));
  assert_failed (error, MTL_ERROR_INVALID_DATA, "4 & 8 & 0");
  g_assert_false (mtl_mpi_recv (column, other, 0, tolerant, MPI_STATUS_IGNORE, &error));
  assert_failed (error, MTL_ERROR_INVALID_DATA, "4 & 8 & no");
  g_assert_false (mtl_mpi_recv (column, other, 0, tolerant, MPI_STATUS_IGNORE, &error));
  assert_failed_with (error, MTL_MPI_ERROR, MPI_ERR_TRUNCATE, "32");
  for (int i = 0; i < 12; i++)
    g_assert_cmpfloat (get_number_at (part, i / 3, i % 3, 0), ==, i);

  g_assert_true (mtl_mpi_recv (column, other, 0, tolerant, MPI_STATUS_IGNORE, &error));
  g_assert_no_error (error);
  assert_elements (column, -1, -2, -3, -4);
  assert_unused (column);
}

static void
test_errors_of_mpi (void)
{
  g_autoptr (MtlStridedView) part = new_numbers (MTL_DTYPE_FLOAT64, DIMS (4, 3), 0);
  g_autoptr (MtlStridedView) column = slice (part, ":, 1");
  g_autoptr (MtlStridedView) halo = slice (part, ":, 2");
  GError *error = NULL;

  g_assert_false (mtl_mpi_send (column, n_ranks, 0, tolerant, &error));
  assert_failed_with (error, MTL_MPI_ERROR, MPI_ERR_RANK, "32");
  g_assert_false (mtl_mpi_send (part, 0, -5, tolerant, &error));
  assert_failed_with (error, MTL_MPI_ERROR, MPI_ERR_TAG, "96");
  g_assert_false (mtl_mpi_recv (column, n_ranks, 0, tolerant, MPI_STATUS_IGNORE, &error));
  assert_failed_with (error, MTL_MPI_ERROR, MPI_ERR_RANK, "32");
  g_assert_false (mtl_mpi_sendrecv (column, n_ranks, 0, halo, MPI_PROC_NULL, 0, tolerant,
                                    MPI_STATUS_IGNORE, &error));
  assert_failed_with (error, MTL_MPI_ERROR, MPI_ERR_RANK, "32");
  assert_unused (column);
  assert_unused (halo);
  assert_unused (part);
}

/* The processes do not disagree: no message is on its way after a mistake of all. */
static void
assert_no_messages (void)
{
  int has_message;

  MPI_Barrier (MPI_COMM_WORLD);
  MPI_Iprobe (MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &has_message, MPI_STATUS_IGNORE);
  g_assert_false (has_message);
  MPI_Barrier (MPI_COMM_WORLD);
}

static void
test_refused_views (void)
{
  g_autoptr (MtlStridedView) part = new_numbers (MTL_DTYPE_FLOAT64, DIMS (4, 3), 0);
  g_autoptr (MtlStridedView) read_only = mtl_strided_view_as_read_only (part);
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlStridedView) row = slice (part, "1");
  g_autoptr (MtlStridedView) repeated =
    mtl_strided_view_broadcast_to (row, DIMS (7, 3), &local_error);
  const ElementType doubles = { { kDLFloat, 64, 1 }, FALSE, MPI_DOUBLE };
  g_autoptr (MtlStridedView) overlapping =
    new_view (mtl_strided_view_get_data (part), &doubles, (gint64[]) { 2, 3 }, (gint64[]) { 2, 1 },
              2, 1, FALSE);
  GError *error = NULL;

  other = rank ^ 1;
  g_assert_no_error (local_error);
  g_assert_false (mtl_mpi_recv (read_only, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, &error));
  assert_failed (error, MTL_ERROR_READ_ONLY, "(4, 3)");
  g_assert_false (mtl_mpi_recv (repeated, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, &error));
  assert_failed (error, MTL_ERROR_INVALID_ARGUMENT, "(7, 3) & (0, 1)");
  g_assert_false (mtl_mpi_recv (overlapping, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, &error));
  assert_failed (error, MTL_ERROR_INVALID_ARGUMENT, "(2, 3) & (2, 1)");
  g_assert_false (mtl_mpi_sendrecv (part, other, 0, repeated, other, 0, MPI_COMM_WORLD,
                                    MPI_STATUS_IGNORE, &error));
  assert_failed (error, MTL_ERROR_INVALID_ARGUMENT, "(7, 3)");
  assert_no_messages ();

  /* They can be sent. */
  g_assert_true (mtl_mpi_sendrecv (read_only, other, 0, part, other, 0, MPI_COMM_WORLD,
                                   MPI_STATUS_IGNORE, &error));
  g_assert_no_error (error);
  assert_unused (read_only);
  assert_unused (repeated);
  assert_unused (overlapping);
}

/* Memory of a device without a backend, for all functions. */
static void
test_unreachable_memory (void)
{
  const ElementType floats = { { kDLFloat, 32, 1 }, FALSE, MPI_FLOAT };
  const gint64 shape[] = { 2, 3 }, strides[] = { 3, 1 };
  g_autoptr (MtlStridedView) far = new_view ((gpointer) 4096, &floats, shape, strides, 2, 10,
                                             FALSE);
  g_autoptr (MtlStridedView) near = new_numbers (MTL_DTYPE_FLOAT32, DIMS (2, 3), 0);
  MPI_Datatype datatype = MPI_INT;
  GError *error = NULL;

  g_assert_false (mtl_mpi_create_datatype (far, &datatype, &error));
  assert_failed (error, MTL_ERROR_NOT_HOST_ACCESSIBLE, "(2, 3)");
  g_assert_true (datatype == MPI_DATATYPE_NULL);
  g_assert_false (mtl_mpi_send (far, rank, 0, MPI_COMM_WORLD, &error));
  assert_failed (error, MTL_ERROR_NOT_HOST_ACCESSIBLE, "(2, 3)");
  g_assert_false (mtl_mpi_recv (far, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, &error));
  assert_failed (error, MTL_ERROR_NOT_HOST_ACCESSIBLE, "(2, 3)");
  g_assert_false (mtl_mpi_sendrecv (far, rank, 0, near, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE,
                                    &error));
  assert_failed (error, MTL_ERROR_NOT_HOST_ACCESSIBLE, "(2, 3)");
  assert_no_messages ();
  assert_unused (far);
  assert_unused (near);
}

/* Memory that is pinned for a device without a backend is the host's, too. */
static void
test_pinned_memory (void)
{
  const ElementType floats = { { kDLFloat, 32, 1 }, FALSE, MPI_FLOAT };
  float memory[12] = { 0, 1, 2, 3, 4, 5 };
  const gint64 shape[] = { 3, 2 };
  g_autoptr (MtlStridedView) sent = new_view (memory, &floats, shape, (gint64[]) { 1, 3 }, 2, 11,
                                              FALSE);
  g_autoptr (MtlStridedView) received = new_view (memory + 6, &floats, shape, (gint64[]) { 2, 1 },
                                                  2, 11, FALSE);
  g_autoptr (GError) error = NULL;

  g_assert_true (mtl_mpi_sendrecv (sent, rank, 0, received, rank, 0, MPI_COMM_WORLD,
                                   MPI_STATUS_IGNORE, &error));
  g_assert_no_error (error);
  g_assert_cmpmem (memory + 6, 24, ((float[]) { 0, 3, 1, 4, 2, 5 }), 24);
}

/* CUDA's memory of each mode, over the double of its driver: what its kernels wrote is sent, and
 * what was received is seen by them. */
static void
test_device_memory (void)
{
  static const MtlStorageMode modes[] = { MTL_STORAGE_MODE_SHARED, MTL_STORAGE_MODE_MANAGED };
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlDevice) gpu = NULL;
  g_autoptr (MtlStridedView) far = NULL;
  GError *error = NULL;

  if (g_getenv ("MTL_CUDA_LIBRARY") == NULL)
    {
      g_test_skip ("There is no double of CUDA's driver");
      return;
    }

  gpu = mtl_device_get_by_name ("cuda:0", &local_error);
  g_assert_no_error (local_error);
  far = mtl_strided_view_new_filled (gpu, MTL_DTYPE_FLOAT32, DIMS (4, 6), 7,
                                     MTL_STORAGE_MODE_PRIVATE, &local_error);
  g_assert_no_error (local_error);
  g_assert_false (mtl_mpi_send (far, rank, 0, MPI_COMM_WORLD, &error));
  assert_failed (error, MTL_ERROR_NOT_HOST_ACCESSIBLE, "(4, 6)");

  for (gsize i = 0; i < G_N_ELEMENTS (modes); i++)
    {
      g_autoptr (MtlStridedView) near = mtl_strided_view_new_zeros (
        gpu, MTL_DTYPE_FLOAT32, DIMS (4, 6), modes[i], &local_error);
      g_autoptr (MtlStridedView) columns = slice (near, ":, ::2");
      g_autoptr (MtlStridedView) others = slice (near, ":, 1::2");

      g_assert_true (mtl_strided_view_copy_from (near, far, NULL, &local_error));
      g_assert_true (mtl_strided_view_fill_double (others, 9, NULL, &local_error));
      g_assert_true (mtl_mpi_sendrecv (columns, rank, 0, others, rank, 0, MPI_COMM_WORLD,
                                       MPI_STATUS_IGNORE, &local_error));
      g_assert_true (mtl_strided_view_array_equal (near, far, MTL_COMPARE_FLAGS_NONE, NULL,
                                                   &local_error));
      g_assert_true (mtl_strided_view_fill_double (near, 3, NULL, &local_error));
      g_assert_true (mtl_mpi_sendrecv (near, rank, 0, near, rank, 0, MPI_COMM_WORLD,
                                       MPI_STATUS_IGNORE, &local_error));
      g_assert_no_error (local_error);
      g_assert_cmpfloat (get_number_at (near, 3, 5, 0), ==, 3);
      assert_unused (near);
    }
}

int
main (int    argc,
      char **argv)
{
  begin_tests (argc, argv);
  g_assert_cmpint (n_ranks, ==, 4);
  MPI_Comm_dup (MPI_COMM_WORLD, &tolerant);
  MPI_Comm_set_errhandler (tolerant, MPI_ERRORS_RETURN);

  g_test_add_func ("/mpi/random-layouts", test_random_layouts);
  g_test_add_func ("/mpi/choice", test_choice);
  g_test_add_func ("/mpi/circle", test_circle);
  g_test_add_func ("/mpi/same-elements", test_same_elements);
  g_test_add_func ("/mpi/broadcast", test_broadcast);
  g_test_add_func ("/mpi/nobody", test_nobody);
  g_test_add_func ("/mpi/packed-elements", test_packed_elements);
  g_test_add_func ("/mpi/bits", test_bits);
  g_test_add_func ("/mpi/other-sizes", test_other_sizes);
  g_test_add_func ("/mpi/errors-of-mpi", test_errors_of_mpi);
  g_test_add_func ("/mpi/refused-views", test_refused_views);
  g_test_add_func ("/mpi/unreachable-memory", test_unreachable_memory);
  g_test_add_func ("/mpi/pinned-memory", test_pinned_memory);
  g_test_add_func ("/mpi/device-memory", test_device_memory);

  return end_tests ();
}
