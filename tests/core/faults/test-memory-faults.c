/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Each allocation of each public function fails, one after another: that is an error and no
 * result, and the arguments are as before. */

/* memfd_create() */
#define _GNU_SOURCE

#include "faults.h"

#include <errno.h>

#include "../../processes/dbus-peers.h"
#include "dlpack-producer.h"
#include "mtl-strided-view-private.h"
#include "test-device.h"
#include "test-tensor-files.h"

/* Enough to make tables grow. */
#define N_MANY 20

typedef struct
{
  TestFolder *folder;
  const char *kind;

  MtlDevice *device;
  MtlStorageMode mode;
  MtlDevice *other_device;
  MtlStorageMode other_mode;
  MtlBuffer *buffer;
  MtlBuffer *source;
  GBytes *bytes;
  GBytes *pattern;
  MtlEvent *event;
  MtlDevice *stream_device;
  MtlStream *stream;
  guint8 data[64];

  MtlStridedLayout *layout; /* (4, 6) bytes */
  MtlSlice slice;
  MtlDType dtype;
  MtlDType same_size;
  GBytes *element;
  GVariant *variant;
  MtlStridedView *view;     /* (4, 6) */
  MtlStridedView *other;    /* like it, in memory of its own */
  MtlStridedView *flipped;  /* the memory of view */
  MtlStridedView *doubles;
  MtlStridedView *complex;
  MtlStridedView *large;    /* several pieces */
  MtlStatistics *statistics;
  MtlStridedView *dense;
  Producer producer;

  GFile *file;
  MtlTensorFileMode file_mode;
  const char *name; /* a tensor's */
  MtlTensorFile *tensors;
  MtlTensorFile *unlisted; /* the same, opened for each run */
  MtlTensorFileEntry *entry;
  MtlStridedView *loaded;
  MtlTensorFileBuilder *builder;
  GFile *target;
  GFile *index;

  MtlStridedView *shared;  /* in memory for other processes */
  int fd;                  /* the descriptor of that memory */
  GUnixFDList *fds;        /* those of the description */
  GVariant *description;   /* describes shared */
  GVariant *extras;
  Peers peers;             /* on D-Bus */
  MtlExportedTensor *exported;
  MtlTensorProxy *proxy;

  GAsyncResult *result;
  gsize n;
  double re, im;
} Fixture;

/* --- What the table of cases calls */

static void
take_result (GObject      *source,
             GAsyncResult *result,
             gpointer      data)
{
  Fixture *f = data;

  g_set_object (&f->result, result);
}

static GAsyncResult *
wait_for_result (Fixture *f)
{
  while (f->result == NULL)
    g_main_context_iteration (NULL, TRUE);
  return f->result;
}

static gboolean
free_list (GList *list)
{
  g_list_free (list);
  return TRUE;
}

/* A value that is no object is refused, here as a pointer that cannot be one. */
static gboolean
refuses_tensor (Fixture  *f,
                GError  **error)
{
  g_autoptr (MtlStridedView) view = mtl_strided_view_new_from_metal_tensor (f->data + 1, error);

  g_assert_null (view);
  g_assert_true (g_error_matches (*error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED)
                 || g_error_matches (*error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT));
  g_clear_error (error);
  return TRUE;
}

/* The event is of another device. */
static gboolean
refuses_event (Fixture   *f,
               gboolean   (* queue) (MtlStream  *stream,
                                     MtlEvent   *event,
                                     guint64     value,
                                     GError    **error),
               GError   **error)
{
  g_assert_false (queue (f->stream, f->event, 1, error));
  g_assert_error (*error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED);
  g_clear_error (error);
  return TRUE;
}

static gboolean
free_managed (DLManagedTensor *managed)
{
  if (managed != NULL)
    managed->deleter (managed);
  return managed != NULL;
}

static gboolean
free_managed_versioned (DLManagedTensorVersioned *managed)
{
  if (managed != NULL)
    managed->deleter (managed);
  return managed != NULL;
}

static MtlStridedView *
import (Fixture  *f,
        GError  **error)
{
  g_autoptr (MtlDlpackTensor) tensor =
    mtl_strided_view_export_dlpack (f->view, MTL_DLPACK_FLAGS_NONE, NULL, error);

  return tensor != NULL ? mtl_strided_view_new_from_dlpack (tensor, error) : NULL;
}

static gboolean
free_loaded (Fixture         *f,
             MtlStridedView **views)
{
  g_assert_true (views != NULL || f->n == 0);
  for (gsize i = 0; i < f->n; i++)
    g_object_unref (views[i]);
  g_free (views);
  return views != NULL;
}

static GFile *
dup_mapped_file (Fixture  *f,
                 GError  **error)
{
  g_autoptr (MtlBuffer) buffer = mtl_buffer_new_mapped (f->file, NULL, 0, 8, NULL, error);
  g_autoptr (GFileInfo) info = NULL;

  return buffer != NULL ? mtl_buffer_dup_mapped_file (buffer, NULL, &info) : NULL;
}

/* Opens a file of which no view was loaded yet. */
static MtlStridedView *
load_new_view (Fixture  *f,
               GError  **error)
{
  g_autoptr (MtlTensorFile) tensors = mtl_tensor_file_open (f->file, NULL, f->file_mode, NULL,
                                                            error);

  return tensors != NULL ? mtl_tensor_file_load_view (tensors, f->name, NULL, error) : NULL;
}

static MtlTensorFileEntry *
look_up_new_entry (Fixture *f)
{
  g_autoptr (GError) error = NULL;
  MtlTensorFileEntry *entry = mtl_tensor_file_lookup_entry (f->unlisted, f->name);

  g_assert_no_error (error);
  g_assert_cmpstr (mtl_tensor_file_entry_get_name (entry), ==, f->name);
  return entry;
}

/* The memory stays with the view that it was made of. */
static gboolean
close_another (Fixture  *f,
               GError  **error)
{
  g_autoptr (MtlStridedView) view = mtl_strided_view_as_read_only (f->view);
  g_autoptr (MtlStridedView) same = g_object_ref (view);

  g_assert_false (mtl_strided_view_close (view, error));
  g_assert_error (*error, MTL_ERROR, MTL_ERROR_BUSY);
  g_clear_error (error);
  g_clear_object (&same);
  g_assert_false (mtl_strided_view_close (view, error));
  return *error == NULL && mtl_strided_view_get_volume (view) == 0;
}

/* A call that failed can be repeated: nothing of it was added. */
static gboolean
add_many (Fixture   *f,
          MtlDType   dtype,
          GError   **error)
{
  g_autoptr (MtlTensorFileBuilder) builder = mtl_tensor_file_builder_new ();
  gboolean all_added = TRUE;

  for (int i = 0; i < N_MANY; i++)
    {
      g_autofree char *name = g_strdup_printf ("tensor %d", i);
      GError **where = all_added ? error : NULL;
      gboolean is_added = dtype == MTL_DTYPE_OTHER
                          ? mtl_tensor_file_builder_add (builder, name, f->view, where)
                          : mtl_tensor_file_builder_add_converted (builder, name, f->view, dtype,
                                                                   where);

      g_assert_true (is_added || all_added);
      if (!is_added)
        {
          all_added = FALSE;
          i--;
        }
    }

  return all_added;
}

static gboolean
set_metadata (Fixture  *f,
              GError  **error)
{
  g_autoptr (MtlTensorFileBuilder) builder = mtl_tensor_file_builder_new ();

  return mtl_tensor_file_builder_set_metadata (builder, "key", "value", error)
         && mtl_tensor_file_builder_set_metadata (builder, "key", "another", error)
         && mtl_tensor_file_builder_set_metadata (builder, "key", NULL, error);
}

static gboolean
close_fd (int fd)
{
  return fd >= 0 && close (fd) == 0;
}

static MtlTensorConnection *
connect_fd (int fd)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GSocket) socket = g_socket_new_from_fd (fd, &error);

  g_assert_no_error (error);
  return mtl_tensor_connection_new (socket, MTL_TENSOR_PEER_FLAGS_NONE);
}

/* Returns one end, and the other one if it is wanted. */
static MtlTensorConnection *
connect_peers (MtlTensorConnection **other)
{
  int fds[2];

  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM, 0, fds), ==, 0);
  if (other != NULL)
    *other = connect_fd (fds[1]);
  else
    close (fds[1]);
  return connect_fd (fds[0]);
}

static MtlStridedView *
allocate_view (Fixture  *f,
               GError  **error)
{
  g_autoptr (MtlTensorConnection) connection = connect_peers (NULL);

  return mtl_tensor_connection_allocate_view (connection, f->dtype, DIMS (4, 6), error);
}

/* The task of another thread may hold it a little longer. */
static void
wait_until_unused (Fixture             *f,
                   MtlTensorConnection *connection)
{
  g_clear_object (&f->result);
  while (g_atomic_int_get ((int *) &G_OBJECT (connection)->ref_count) > 1)
    g_usleep (1000);
}

static gboolean
send_view (Fixture         *f,
           MtlStridedView  *view,
           gboolean         is_async,
           GError         **error)
{
  g_autoptr (MtlTensorConnection) peer = NULL;
  g_autoptr (MtlTensorConnection) connection = connect_peers (&peer);
  gboolean is_sent;

  if (!is_async)
    return mtl_tensor_connection_send (connection, view, f->extras, NULL, error);

  mtl_tensor_connection_send_async (connection, view, f->extras, NULL, take_result, f);
  is_sent = mtl_tensor_connection_send_finish (connection, wait_for_result (f), error);
  wait_until_unused (f, connection);
  return is_sent;
}

static MtlStridedView *
receive_view (Fixture   *f,
              gboolean   is_async,
              GError   **error)
{
  g_autoptr (MtlTensorConnection) peer = NULL;
  g_autoptr (MtlTensorConnection) connection = connect_peers (&peer);
  g_autoptr (GVariant) extras = NULL;
  MtlStridedView *view;

  if (!mtl_tensor_connection_send (peer, f->view, f->extras, NULL, error))
    return NULL;

  if (!is_async)
    return mtl_tensor_connection_receive (connection, &extras, NULL, error);

  mtl_tensor_connection_receive_async (connection, NULL, take_result, f);
  view = mtl_tensor_connection_receive_finish (connection, wait_for_result (f), &extras, error);
  wait_until_unused (f, connection);
  return view;
}

static gboolean
set_flag (gpointer flag)
{
  g_atomic_int_set ((int *) flag, TRUE);
  return G_SOURCE_REMOVE;
}

/* The thread of the exporter may still go on after its reply. */
static gboolean
settle (Fixture  *f,
        gboolean  is_done)
{
  int is_settled = FALSE;

  g_clear_object (&f->result);
  invoke (&f->peers, set_flag, &is_settled);
  while (!g_atomic_int_get (&is_settled))
    g_usleep (100);
  return is_done;
}

static gpointer
settle_object (Fixture  *f,
               gpointer  object)
{
  settle (f, TRUE);
  return object;
}

static gboolean
export_another (Fixture  *f,
                GError  **error)
{
  g_autoptr (MtlExportedTensor) tensor =
    mtl_exported_tensor_new (f->view, MTL_TENSOR_PEER_FLAGS_NONE);
  gboolean is_exported =
    mtl_exported_tensor_export (tensor, f->peers.caller, OBJECT_PATH, error);

  end_export (g_steal_pointer (&tensor));
  return is_exported;
}

/* --- The table of cases */

typedef struct
{
  const char *name;
  gboolean (* run) (gpointer   data,
                    GError   **error);
  gboolean is_lasting;
} Case;

#define FUNCTION(name, body) \
  static gboolean \
  run_##name (gpointer   data, \
              GError   **error) \
  { \
    G_GNUC_UNUSED Fixture *f = data; \
    body \
  }

#define OBJECT(name, call) FUNCTION (name, \
  { \
    gpointer result = (gpointer) (call); \
    if (result == NULL) \
      return FALSE; \
    g_object_unref (result); \
    return TRUE; \
  })
#define MEMORY(name, call) FUNCTION (name, \
  { \
    gpointer result = (gpointer) (call); \
    g_free (result); \
    return result != NULL; \
  })
#define BYTES(name, call) FUNCTION (name, \
  { \
    GBytes *result = (call); \
    if (result == NULL) \
      return FALSE; \
    g_bytes_unref (result); \
    return TRUE; \
  })
#define VARIANT(name, call) FUNCTION (name, \
  { \
    GVariant *result = (call); \
    if (result == NULL) \
      return FALSE; \
    g_variant_unref (result); \
    return TRUE; \
  })
#define MANAGED(name, call) FUNCTION (name, return FREE_MANAGED (call);)
#define FREE_MANAGED(call) \
  _Generic ((call), DLManagedTensor *: free_managed, \
            DLManagedTensorVersioned *: free_managed_versioned) (call)
#define DONE(name, call) FUNCTION (name, return (call);)
#define NUMBER(name, call) FUNCTION (name, (void) (call); return *error == NULL;)
#define LASTING MEMORY
#define LASTING_OBJECT OBJECT
#define REFUSED(name, call) FUNCTION (name, \
  { \
    g_assert_null (call); \
    g_assert_error (*error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED); \
    g_clear_error (error); \
    return TRUE; \
  })

#include "memory-cases.h"

#undef OBJECT
#undef MEMORY
#undef BYTES
#undef VARIANT
#undef MANAGED
#undef DONE
#undef NUMBER
#undef LASTING
#undef LASTING_OBJECT
#undef REFUSED

#define OBJECT(name, call) { #name, run_##name },
#define MEMORY OBJECT
#define BYTES OBJECT
#define VARIANT OBJECT
#define MANAGED OBJECT
#define DONE OBJECT
#define NUMBER OBJECT
#define LASTING(name, call) { #name, run_##name, TRUE },
#define LASTING_OBJECT LASTING
#define REFUSED OBJECT

static const Case cases[] = {
#include "memory-cases.h"
};

static gboolean was_done[G_N_ELEMENTS (cases)];

/* --- What calls leave behind */

/* The arguments that calls might change. */
typedef struct
{
  guint n_refs[11];
  guint8 view_bytes[512];
} State;

static void
look (Fixture *f,
      State   *state)
{
  const gpointer objects[] = {
    f->device, f->buffer, f->source, f->layout, f->view, f->other, f->dense, f->tensors, f->entry,
    f->builder,
  };
  const MtlMemory *memory = f->view->memory;
  gsize n = 0;

  *state = (State) { { 0 } };
  for (gsize i = 0; i < G_N_ELEMENTS (objects); i++)
    state->n_refs[n++] = G_OBJECT (objects[i])->ref_count;
  state->n_refs[n++] = memory->ref_count;
  g_assert_cmpuint (memory->size, <=, sizeof state->view_bytes);
  memcpy (state->view_bytes, memory->handle, memory->size);
}

/* A task of another thread may still be about to go. */
static gboolean
has_references (Fixture     *f,
                const State *expected,
                State       *state)
{
  for (int i = 0; i < 5000; i++)
    {
      look (f, state);
      if (memcmp (state->n_refs, expected->n_refs, sizeof state->n_refs) == 0)
        return TRUE;
      g_usleep (1000);
    }

  return FALSE;
}

typedef struct
{
  Fixture *f;
  const Case *tested;
  State before;
} Trial;

static gboolean
run_trial (gpointer   data,
           GError   **error)
{
  Trial *self = data;

  return self->tested->run (self->f, error);
}

static void
open_unlisted (Fixture *f)
{
  g_clear_object (&f->unlisted);
  f->unlisted = open_file (f->file, f->file_mode);
}

static void
check_trial (gpointer     data,
             const Fault *fault,
             gboolean     is_done)
{
  Trial *self = data;
  MtlMemory *memory = self->f->view->memory;
  State after;

  g_clear_object (&self->f->result);
  open_unlisted (self->f);
  if (!has_references (self->f, &self->before, &after))
    {
      for (gsize i = 0; i < G_N_ELEMENTS (after.n_refs); i++)
        g_test_message ("argument %" G_GSIZE_FORMAT ": %u references, %u before", i,
                        after.n_refs[i], self->before.n_refs[i]);
      g_error ("%s (%s): references are left or missing", self->tested->name, self->f->kind);
    }
  if (!is_done)
    g_assert_cmpmem (after.view_bytes, memory->size, self->before.view_bytes, memory->size);
  memcpy (memory->handle, self->before.view_bytes, memory->size);
}

/* The first run finds out whether the call is supported, and registers types. */
static void
try_case (Fixture    *f,
          const Case *tested,
          gboolean   *is_supported,
          guint      *n_failed)
{
  const Fault fault = { FAULT_ALLOCATE | FAULT_MAP, ENOMEM, tested->is_lasting };
  Trial trial = { f, tested };
  const FaultCase fault_case = { f->folder, run_trial, check_trial, &trial };
  g_autoptr (GError) error = NULL;
  guint n;

  g_test_message ("%s, %s", tested->name, f->kind);
  open_unlisted (f);
  look (f, &trial.before);
  *is_supported = tested->run (f, &error);
  g_clear_object (&f->result);
  open_unlisted (f);
  memcpy (f->view->memory->handle, trial.before.view_bytes, f->view->memory->size);
  g_assert_true (*is_supported == (error == NULL));
  if (!*is_supported)
    {
      g_assert_false (g_error_matches (error, MTL_ERROR, MTL_ERROR_NO_MEMORY));
      g_test_message ("not here: %s", error->message);
      return;
    }

  n = faults_try_each (&fault_case, &fault, 1);
  g_test_message ("%u allocations", n);
  *n_failed += n;
}

static void
try_all (Fixture *f,
         guint    least)
{
  guint n_failed = 0;

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      gboolean is_supported;

      try_case (f, &cases[i], &is_supported, &n_failed);
      was_done[i] |= is_supported;
    }

  g_test_message ("%s: %u failed allocations", f->kind, n_failed);
  g_assert_cmpuint (n_failed, >=, least);
}

/* --- The arguments */

static void
set_up_files (Fixture *f)
{
  g_autoptr (GError) error = NULL;
  char name[300];

  f->tensors = open_file (f->file, f->file_mode);
  f->entry = mtl_tensor_file_lookup_entry (f->tensors, f->name);
  g_assert_no_error (error);
  f->loaded = get_view (f->tensors, f->name);

  f->builder = mtl_tensor_file_builder_new ();
  f->target = get_file (f->folder, "target.safetensors");
  f->index = get_file (f->folder, "model.safetensors.index.json");
  for (int i = 0; i < 20; i++)
    {
      g_snprintf (name, sizeof name, "name %0200d", i);
      mtl_tensor_file_builder_add (f->builder, name, f->dense, &error);
      g_assert_no_error (error);
      mtl_tensor_file_builder_set_metadata (f->builder, name, name, &error);
      g_assert_no_error (error);
    }
}

static void
set_up_shared (Fixture *f)
{
  g_autoptr (GError) error = NULL;

  f->shared = mtl_strided_view_new_zeros (NULL, MTL_DTYPE_INT16, DIMS (4, 6),
                                          MTL_STORAGE_MODE_INTERPROCESS, &error);
  g_assert_no_error (error);
  f->fd = mtl_buffer_dup_fd (mtl_strided_view_get_buffer (f->shared), NULL, &error);
  g_assert_no_error (error);
  f->fds = g_unix_fd_list_new ();
  f->description = mtl_strided_view_to_variant (f->shared, f->fds, NULL, &error);
  g_assert_no_error (error);
  f->extras = g_variant_ref_sink (g_variant_new_parsed ("{'name': <'x'>}"));
}

static gboolean
take_put (MtlExportedTensor *exported,
          MtlStridedView    *view,
          GVariant          *extras,
          gpointer           data)
{
  return TRUE;
}

static void
set_up_dbus (Fixture *f)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view =
    mtl_strided_view_new_zeros (mtl_device_get_host (), MTL_DTYPE_FLOAT32, DIMS (4, 6),
                                MTL_STORAGE_MODE_HOST, &error);

  g_assert_no_error (error);
  set_up_peers (&f->peers, GINT_TO_POINTER (BY_SOCKET));
  f->exported = export_view (&f->peers, view, MTL_TENSOR_PEER_FLAGS_NONE);
  mtl_exported_tensor_set_writable (f->exported, TRUE);
  g_signal_connect (f->exported, "put", G_CALLBACK (take_put), NULL);
  f->proxy = make_proxy (&f->peers);
}

/* Takes the view, of shape (4, 6). */
static void
set_up (Fixture        *f,
        MtlStridedView *view,
        MtlDevice      *device,
        MtlStorageMode  mode)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlDevice) private_device = MTL_DEVICE (test_device_new (MTL_STORAGE_MODE_PRIVATE));
  gboolean is_private = mode == MTL_STORAGE_MODE_PRIVATE;
  guint8 element[16] = { 1 };

  f->device = g_object_ref (device);
  f->mode = mode;
  f->other_device = is_private ? g_object_ref (mtl_device_get_host ())
                               : g_object_ref (private_device);
  f->other_mode = is_private ? MTL_STORAGE_MODE_HOST : MTL_STORAGE_MODE_PRIVATE;
  f->buffer = mtl_buffer_new (device, 128, mode, &error);
  g_assert_no_error (error);
  f->source = mtl_buffer_new (is_private ? mtl_device_get_host () : device, 128,
                              MTL_STORAGE_MODE_HOST, &error);
  g_assert_no_error (error);
  f->bytes = g_bytes_new ("abcdef", 6);
  f->pattern = g_bytes_new ("abcd", 4);
  f->event = mtl_event_new (mtl_device_get_host (), &error);
  g_assert_no_error (error);
  mtl_event_signal (f->event, 1);
  f->stream_device = g_object_ref (private_device);
  f->stream = mtl_stream_new (private_device, &error);
  g_assert_no_error (error);

  f->layout = mtl_strided_layout_new_dense (DIMS (4, 6), MTL_ORDER_C, 8, &error);
  g_assert_no_error (error);
  f->slice = MTL_SLICE_RANGE (1, 3);
  f->view = view;
  f->dtype = mtl_strided_view_get_dtype (view);
  f->same_size = f->dtype == MTL_DTYPE_FLOAT32 ? MTL_DTYPE_INT32
                                                : MTL_DTYPE_FLOAT6_E3M2FN;
  f->element =
    g_bytes_new (element,
                 (mtl_strided_layout_get_item_bits (mtl_strided_view_get_layout (view)) + 7) / 8);
  f->variant = g_variant_ref_sink (g_variant_new_parsed ("[1, 2, 3]"));
  f->other = mtl_strided_view_copy (view, MTL_ORDER_C, NULL, &error);
  g_assert_no_error (error);
  f->flipped = mtl_strided_view_flip (view, 1, &error);
  g_assert_no_error (error);
  f->dense = mtl_strided_view_new_zeros (NULL, MTL_DTYPE_INT16, DIMS (2, 3),
                                         MTL_STORAGE_MODE_DEFAULT, &error);
  g_assert_no_error (error);
  f->doubles = mtl_strided_view_new_filled (NULL, MTL_DTYPE_FLOAT64, DIMS (4, 6), 3,
                                            MTL_STORAGE_MODE_DEFAULT, &error);
  g_assert_no_error (error);
  f->complex = mtl_strided_view_new_zeros (NULL, MTL_DTYPE_COMPLEX64, DIMS (4, 6),
                                           MTL_STORAGE_MODE_DEFAULT, &error);
  g_assert_no_error (error);
  f->large = mtl_strided_view_new_filled (NULL, MTL_DTYPE_UINT8, DIMS (1800000), 3,
                                          MTL_STORAGE_MODE_DEFAULT, &error);
  g_assert_no_error (error);
  f->statistics = mtl_strided_view_compute_statistics (f->doubles, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  producer_init (&f->producer);
  set_up_shared (f);
  set_up_dbus (f);
}

static void
tear_down (Fixture *f)
{
  g_object_unref (f->device);
  g_object_unref (f->other_device);
  g_object_unref (f->buffer);
  g_object_unref (f->source);
  g_bytes_unref (f->bytes);
  g_bytes_unref (f->pattern);
  g_object_unref (f->event);
  g_object_unref (f->stream);
  g_object_unref (f->stream_device);
  g_object_unref (f->layout);
  g_bytes_unref (f->element);
  g_variant_unref (f->variant);
  g_object_unref (f->view);
  g_object_unref (f->other);
  g_object_unref (f->flipped);
  g_object_unref (f->doubles);
  g_object_unref (f->complex);
  g_object_unref (f->large);
  g_object_unref (f->statistics);
  g_object_unref (f->dense);
  g_object_unref (f->proxy);
  end_export (f->exported);
  g_object_unref (f->shared);
  close (f->fd);
  g_object_unref (f->fds);
  g_variant_unref (f->description);
  g_variant_unref (f->extras);
  g_object_unref (f->file);
  g_object_unref (f->tensors);
  g_object_unref (f->unlisted);
  g_object_unref (f->entry);
  g_object_unref (f->loaded);
  g_object_unref (f->builder);
  g_object_unref (f->target);
  g_object_unref (f->index);
  tear_down_peers (&f->peers, NULL);
}

/* Names with escapes, and metadata, that need memory of their own. */
static GFile *
write_many (TestFolder *folder,
            const char *name)
{
  g_autoptr (GString) header = g_string_new ("{\"__metadata__\":{");
  guint8 data[N_MANY] = { 0 };

  for (int i = 0; i < N_MANY; i++)
    g_string_append_printf (header, "%s\"key \\n %d\":\"%0300d\"", i > 0 ? "," : "", i, i);
  g_string_append (header, "},\"first\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}");
  for (int i = 1; i < N_MANY; i++)
    g_string_append_printf (header, ",\"name \\n %0900d\":{\"dtype\":\"U8\",\"shape\":[1,1,1,1],"
                                    "\"data_offsets\":[%d,%d]}", i, i, i + 1);
  g_string_append (header, "}");

  return write_safetensors (folder, name, header->str, data, N_MANY);
}

/* Writes an index with as many files as tensors. */
static GFile *
write_index (TestFolder *folder)
{
  g_autoptr (GString) text = g_string_new ("{\"weight_map\":{");

  for (int i = 0; i < N_MANY; i++)
    {
      g_autofree char *name = g_strdup_printf ("name \\n %0200d", i);
      g_autofree char *file_name = g_strdup_printf ("file %0200d", i);
      g_autofree char *header =
        g_strdup_printf ("{\"%s\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}",
                         i == 0 ? "first" : name);
      GFile *file = write_safetensors (folder, file_name, header, "a", 1);

      g_string_append_printf (text, "%s\"%s\":\"%s\"", i > 0 ? "," : "", i == 0 ? "first" : name,
                              file_name);
      g_object_unref (file);
    }
  g_string_append (text, "}}");

  return write_file (folder, "index", text->str, text->len);
}

static MtlStridedView *
new_transposed (MtlDType dtype)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view =
    mtl_strided_view_new_filled (mtl_device_get_host (), dtype, DIMS (6, 4), 2,
                                 MTL_STORAGE_MODE_HOST, &error);

  g_assert_no_error (error);
  return mtl_strided_view_transpose (view);
}

static void
test_host (TestFolder    *folder,
           gconstpointer  data)
{
  Fixture f = { folder, "host, safetensors, mapped" };

  f.file = write_many (folder, "file");
  f.file_mode = MTL_TENSOR_FILE_MODE_MAP;
  f.name = "first";
  set_up (&f, new_transposed (MTL_DTYPE_FLOAT32), mtl_device_get_host (), MTL_STORAGE_MODE_HOST);
  set_up_files (&f);
  try_all (&f, 200);
  tear_down (&f);
}

static void
test_private (TestFolder    *folder,
              gconstpointer  data)
{
  const TestMember members[] = {
    { "first.npy", "{'descr': '>i2', 'fortran_order': False, 'shape': (2, 3), }\n", "abcdefghijkl",
      12, TRUE },
    { "b.npy", "{'descr': '<i4', 'fortran_order': False, 'shape': (1,), }\n", "abcd", 4, FALSE },
  };
  Fixture f = { folder, "a device, .npz, read" };
  g_autoptr (MtlDevice) device = MTL_DEVICE (test_device_new (MTL_STORAGE_MODE_PRIVATE));
  g_autoptr (MtlStridedView) host = new_transposed (MTL_DTYPE_FLOAT32);
  g_autoptr (GError) error = NULL;
  MtlStridedView *view = mtl_strided_view_to_device (host, device, MTL_STORAGE_MODE_PRIVATE, NULL,
                                                     &error);

  g_assert_no_error (error);
  f.file = write_npz (folder, "file", members, G_N_ELEMENTS (members));
  f.file_mode = MTL_TENSOR_FILE_MODE_READ;
  f.name = "first";
  set_up (&f, view, device, MTL_STORAGE_MODE_PRIVATE);
  set_up_files (&f);
  try_all (&f, 200);
  tear_down (&f);
}

static void
test_packed (TestFolder    *folder,
             gconstpointer  data)
{
  Fixture f = { folder, "6 bits, an index, read" };

  f.file = write_index (folder);
  f.file_mode = MTL_TENSOR_FILE_MODE_READ;
  f.name = "first";
  set_up (&f, new_transposed (MTL_DTYPE_FLOAT6_E2M3FN), mtl_device_get_host (),
          MTL_STORAGE_MODE_HOST);
  set_up_files (&f);
  try_all (&f, 200);
  tear_down (&f);
}

static void
test_all_done (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    if (!was_done[i])
      g_error ("%s never succeeded", cases[i].name);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  add_folder_test ("/MemoryFaults/host", test_host);
  add_folder_test ("/MemoryFaults/private", test_private);
  add_folder_test ("/MemoryFaults/packed", test_packed);
  g_test_add_func ("/MemoryFaults/all-done", test_all_done);

  return g_test_run ();
}
