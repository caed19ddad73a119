/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <mtldl/mtl-mpi.h>

#include <stdio.h>
#include <stdlib.h>

#include "dlpack-structs.h"
#include "test-utils.h"

/* Tests that mpirun starts as several processes, which all run the same ones, with the same random
 * numbers. Only the first process prints. */

static int rank, n_ranks;

/* A seed for all, unless one is given. */
static inline char *
agree_on_seed (void)
{
  guint32 seed[4];

  for (gsize i = 0; i < G_N_ELEMENTS (seed); i++)
    seed[i] = g_random_int ();
  MPI_Bcast (seed, sizeof seed, MPI_BYTE, 0, MPI_COMM_WORLD);
  return g_strdup_printf ("--seed=R02S%08x%08x%08x%08x", seed[0], seed[1], seed[2], seed[3]);
}

static inline void
begin_tests (int    argc,
             char **argv)
{
  static char *seed; /* GLib keeps its address */
  g_autoptr (GPtrArray) arguments = g_ptr_array_new ();
  char **given;

  MPI_Init (&argc, &argv);
  MPI_Comm_rank (MPI_COMM_WORLD, &rank);
  MPI_Comm_size (MPI_COMM_WORLD, &n_ranks);
  seed = agree_on_seed ();
  g_ptr_array_add (arguments, argv[0]);
  g_ptr_array_add (arguments, seed);
  for (int i = 1; i <= argc; i++)
    g_ptr_array_add (arguments, argv[i]);

  argc++;
  given = (char **) arguments->pdata;
  if (rank > 0 && freopen ("/dev/null", "w", stdout) == NULL)
    g_error ("There is no /dev/null");
  g_test_init (&argc, &given, NULL);
}

static inline int
end_tests (void)
{
  int status = g_test_run ();

  MPI_Finalize ();
  return status;
}

/* --- MPI's functions, watched. MPI's own are called PMPI. */

static int n_datatypes;           /* that are there, other than MPI's own */
static int n_calls_until_failure; /* counted for datatypes alone, or 0 */
static gconstpointer passed_memory; /* in the last message */
static int passed_count;

static inline gboolean
is_to_fail (void)
{
  return n_calls_until_failure > 0 && --n_calls_until_failure == 0;
}

#define MAKE_DATATYPE(call) \
  G_STMT_START \
    { \
      int code_ = is_to_fail () ? MPI_ERR_NO_MEM : (call); \
      n_datatypes += code_ == MPI_SUCCESS; \
      return code_; \
    } \
  G_STMT_END

int
MPI_Type_contiguous (int           count,
                     MPI_Datatype  old,
                     MPI_Datatype *made)
{
  MAKE_DATATYPE (PMPI_Type_contiguous (count, old, made));
}

int
MPI_Type_create_resized (MPI_Datatype  old,
                         MPI_Aint      lower_bound,
                         MPI_Aint      extent,
                         MPI_Datatype *made)
{
  MAKE_DATATYPE (PMPI_Type_create_resized (old, lower_bound, extent, made));
}

int
MPI_Type_create_struct (int                 count,
                        const int          *lengths,
                        const MPI_Aint     *displacements,
                        const MPI_Datatype *old,
                        MPI_Datatype       *made)
{
  MAKE_DATATYPE (PMPI_Type_create_struct (count, lengths, displacements, old, made));
}

int
MPI_Type_commit (MPI_Datatype *datatype)
{
  return is_to_fail () ? MPI_ERR_NO_MEM : PMPI_Type_commit (datatype);
}

int
MPI_Type_free (MPI_Datatype *datatype)
{
  n_datatypes--;
  return PMPI_Type_free (datatype);
}

int
MPI_Send (const void   *memory,
          int           count,
          MPI_Datatype  datatype,
          int           dest,
          int           tag,
          MPI_Comm      comm)
{
  passed_memory = memory;
  passed_count = count;
  return PMPI_Send (memory, count, datatype, dest, tag, comm);
}

int
MPI_Recv (void         *memory,
          int           count,
          MPI_Datatype  datatype,
          int           source,
          int           tag,
          MPI_Comm      comm,
          MPI_Status   *status)
{
  passed_memory = memory;
  passed_count = count;
  return PMPI_Recv (memory, count, datatype, source, tag, comm, status);
}

/* --- Elements of all kinds */

typedef struct
{
  DLDataType dtype;
  gboolean is_padded;
  MPI_Datatype number; /* that MPI has for each lane, or else bytes */
} ElementType;

static inline gsize
get_item_size (const ElementType *type)
{
  return type->is_padded ? 1 : type->dtype.bits * type->dtype.lanes / 8;
}

/* The types whose elements are whole bytes. */
static inline const ElementType *
get_element_types (gsize *n_types)
{
  static ElementType types[32];
  const ElementType known[] = {
    { { kDLBool, 8, 1 }, FALSE, MPI_C_BOOL },
    { { kDLInt, 8, 1 }, FALSE, MPI_INT8_T },
    { { kDLInt, 16, 1 }, FALSE, MPI_INT16_T },
    { { kDLInt, 32, 1 }, FALSE, MPI_INT32_T },
    { { kDLInt, 64, 1 }, FALSE, MPI_INT64_T },
    { { kDLUInt, 8, 1 }, FALSE, MPI_UINT8_T },
    { { kDLUInt, 16, 1 }, FALSE, MPI_UINT16_T },
    { { kDLUInt, 32, 1 }, FALSE, MPI_UINT32_T },
    { { kDLUInt, 64, 1 }, FALSE, MPI_UINT64_T },
    { { kDLFloat, 32, 1 }, FALSE, MPI_FLOAT },
    { { kDLFloat, 64, 1 }, FALSE, MPI_DOUBLE },
    { { kDLComplex, 64, 1 }, FALSE, MPI_C_FLOAT_COMPLEX },
    { { kDLComplex, 128, 1 }, FALSE, MPI_C_DOUBLE_COMPLEX },
    { { kDLFloat, 32, 4 }, FALSE, MPI_FLOAT },
    { { kDLUInt, 8, 3 }, FALSE, MPI_UINT8_T },
    { { kDLFloat, 16, 1 }, FALSE, MPI_BYTE },
    { { kDLBfloat, 16, 1 }, FALSE, MPI_BYTE },
    { { kDLBfloat, 16, 3 }, FALSE, MPI_BYTE },
    { { kDLComplex, 32, 1 }, FALSE, MPI_BYTE },
    { { kDLOpaqueHandle, 64, 1 }, FALSE, MPI_BYTE },
    { { 8, 8, 1 }, FALSE, MPI_BYTE },   /* an 8-bit float */
    { { 17, 4, 1 }, TRUE, MPI_BYTE },   /* a 4-bit float in a byte of its own */
    { { kDLInt, 4, 2 }, FALSE, MPI_BYTE },
    { { 77, 24, 1 }, FALSE, MPI_BYTE }, /* a type of another library */
  };

  G_STATIC_ASSERT (sizeof known <= sizeof types);
  memcpy (types, known, sizeof known);
  *n_types = G_N_ELEMENTS (known);
  return types;
}

typedef struct
{
  DLManagedTensorVersioned managed;
  int64_t shape[8];
  int64_t strides[8];
} Exported;

static inline void
delete_exported (DLManagedTensorVersioned *managed)
{
  g_free (managed->manager_ctx);
}

/* Any elements, vectors too, come in as a tensor of a peer. The memory has to last. */
static inline MtlStridedView *
new_view (gpointer           first,
          const ElementType *type,
          const gint64      *shape,
          const gint64      *strides,
          gsize              n_dims,
          int                device_type,
          gboolean           is_read_only)
{
  g_autoptr (GError) error = NULL;
  Exported *exported = g_new0 (Exported, 1);
  MtlStridedView *view;

  g_assert_cmpuint (n_dims, <=, G_N_ELEMENTS (exported->shape));
  for (gsize i = 0; i < n_dims; i++)
    {
      exported->shape[i] = shape[i];
      exported->strides[i] = strides[i];
    }
  exported->managed = (DLManagedTensorVersioned) {
    .version = { 1, 0 },
    .manager_ctx = exported,
    .deleter = delete_exported,
    .flags = (type->is_padded ? DL_PADDED : 0) | (is_read_only ? DL_READ_ONLY : 0),
    .dl_tensor = {
      .data = first,
      .device = { device_type, 0 },
      .ndim = n_dims,
      .dtype = type->dtype,
      .shape = exported->shape,
      .strides = exported->strides,
    },
  };
  view = mtl_strided_view_new_take_dlpack (&exported->managed, &error);
  g_assert_no_error (error);
  return view;
}

/* Copies elements one by one, to or from memory where they lie side by side in C order. */
static inline guint8 *
copy_one_by_one (guint8       *packed,
                 guint8       *first,
                 const gint64 *shape,
                 const gint64 *strides,
                 gsize         n_dims,
                 gsize         item_size,
                 gboolean      packs)
{
  if (n_dims == 0)
    {
      memcpy (packs ? packed : first, packs ? first : packed, item_size);
      return packed + item_size;
    }

  for (gint64 i = 0; i < shape[0]; i++)
    packed = copy_one_by_one (packed, first + i * strides[0] * (gint64) item_size, shape + 1,
                              strides + 1, n_dims - 1, item_size, packs);
  return packed;
}

/* All of the memory that an operation had is given back. */
static inline void
assert_unused (MtlStridedView *view)
{
  g_assert_cmpuint (G_OBJECT (view)->ref_count, ==, 1);
  g_assert_cmpint (n_datatypes, ==, 0);
}
