/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Helpers of tests of files of tensors. */

#pragma once

#include "test-files.h"
#include "zip-writer.h"

/* Writes a file of a header and data, which have a size of their own. */
static inline GFile *
write_safetensors (TestFolder    *folder,
                   const char    *name,
                   const char    *header,
                   gconstpointer  data,
                   gsize          size)
{
  guint64 header_size = strlen (header), prefix = GUINT64_TO_LE (header_size);
  g_autoptr (GByteArray) bytes = g_byte_array_new ();

  g_byte_array_append (bytes, (const guint8 *) &prefix, sizeof prefix);
  g_byte_array_append (bytes, (const guint8 *) header, header_size);
  g_byte_array_append (bytes, data, size);
  return write_file (folder, name, bytes->data, bytes->len);
}

/* TRUE if the numbers of safetensors files, which are little-endian, are used in place. */
#define MAPS_NUMBERS (G_BYTE_ORDER == G_LITTLE_ENDIAN)

/* “b” begins at an odd byte. */
static const char three_header[] =
  "{\"__metadata__\":{\"format\":\"pt\",\"who\":\"me\"},"
  "\"b\":{\"dtype\":\"I16\",\"shape\":[2,2],\"data_offsets\":[3,11]},"
  "\"a\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]},"
  "\"none\":{\"dtype\":\"F32\",\"shape\":[0,5],\"data_offsets\":[11,11]}}";
static const guint8 three_data[] = { 1, 2, 3, 4, 0, 5, 0, 6, 0, 0xff, 0xff };

static inline GFile *
write_three (TestFolder *folder,
             const char *name)
{
  return write_safetensors (folder, name, three_header, three_data, sizeof three_data);
}

static inline MtlTensorFile *
open_on_device (GFile             *file,
                MtlTensorFileMode  mode,
                MtlDevice         *device)
{
  g_autoptr (GError) error = NULL;
  MtlTensorFile *tensors = mtl_tensor_file_open (file, device, mode, NULL, &error);

  g_assert_no_error (error);
  g_assert_true (mtl_tensor_file_get_device (tensors)
                 == (device != NULL ? device : mtl_device_get_host ()));
  return tensors;
}

static inline MtlTensorFile *
open_file (GFile             *file,
           MtlTensorFileMode  mode)
{
  return open_on_device (file, mode, NULL);
}

static inline MtlStridedView *
get_view (MtlTensorFile *tensors,
          const char    *name)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *view = mtl_tensor_file_load_view (tensors, name, NULL, &error);

  g_assert_no_error (error);
  g_assert_true (mtl_strided_view_get_device (view) == mtl_tensor_file_get_device (tensors));
  return view;
}

/* It is in the list with its reason, and cannot be loaded. */
static inline void
assert_refused (MtlTensorFile *tensors,
                const char    *name,
                GQuark         domain,
                int            code,
                const char    *values)
{
  g_autoptr (GError) view_error = NULL, own_error = NULL;
  g_autoptr (MtlTensorFileEntry) entry = mtl_tensor_file_lookup_entry (tensors, name);
  g_autofree char *escaped = g_strescape (name, NULL);
  g_autofree char *quoted = g_strdup_printf ("“%s”", escaped);
  const GError *why;

  g_assert_nonnull (entry);
  why = mtl_tensor_file_entry_get_error (entry);
  g_assert_error (why, domain, code);
  assert_says (why->message, values);
  g_assert_cmpint (mtl_tensor_file_entry_get_dtype (entry), ==, MTL_DTYPE_OTHER);

  g_assert_null (mtl_tensor_file_load_view (tensors, name, NULL, &view_error));
  g_assert_error (view_error, domain, code);
  g_assert_nonnull (strstr (view_error->message, why->message));
  assert_says (view_error->message, quoted);
  g_assert_null (mtl_tensor_file_entry_load_view (entry, NULL, &own_error));
  g_assert_error (own_error, domain, code);
  g_assert_cmpstr (own_error->message, ==, view_error->message);
}

#define assert_tensor(tensors, name, ...) \
  G_STMT_START \
    { \
      MtlStridedView *tensor_ = get_view ((tensors), (name)); \
      assert_elements (tensor_, __VA_ARGS__); \
      g_assert_finalize_object (tensor_); \
    } \
  G_STMT_END

#define assert_closed(call) \
  G_STMT_START \
    { \
      g_autoptr (GError) error = NULL; \
      g_assert_false ((gboolean) !!(call)); \
      assert_system_failed (error, G_IO_ERROR_CLOSED, "file”"); \
    } \
  G_STMT_END

/* A member of an archive: a .npy of the dict, which has any length, and of the elements. */
typedef struct
{
  const char *name;
  const char *dict;
  gconstpointer data;
  gsize size;
  gboolean deflated;
  gsize n_missing; /* bytes less than its size says */
} TestMember;

static inline GByteArray *
make_npy (const TestMember *member)
{
  GByteArray *npy = g_byte_array_new ();

  g_byte_array_append (npy, (const guint8 *) "\x93NUMPY\1\0", 8);
  append_le (npy, strlen (member->dict), 2);
  g_byte_array_append (npy, (const guint8 *) member->dict, strlen (member->dict));
  if (member->size > 0)
    g_byte_array_append (npy, member->data, member->size);
  return npy;
}

static inline GFile *
write_npz (TestFolder       *folder,
           const char       *name,
           const TestMember *members,
           gsize             n_members)
{
  g_autofree ZipMember *npys = g_new (ZipMember, n_members);
  g_autoptr (GByteArray) bytes = NULL;

  for (gsize i = 0; i < n_members; i++)
    npys[i] = (ZipMember) {
      members[i].name, strlen (members[i].name), make_npy (&members[i]), members[i].deflated,
      members[i].n_missing,
    };
  bytes = zip_new (npys, n_members);
  for (gsize i = 0; i < n_members; i++)
    g_byte_array_unref (npys[i].content);

  return write_file (folder, name, bytes->data, bytes->len);
}

static inline void
free_views (MtlStridedView **views,
            gsize            n_views)
{
  for (gsize i = 0; i < n_views; i++)
    g_assert_finalize_object (views[i]);
  g_free (views);
}

#define MODES(mode) \
  MtlTensorFileMode mode = MTL_TENSOR_FILE_MODE_MAP; mode <= MTL_TENSOR_FILE_MODE_READ; mode++

static inline MtlStridedView **
get_views (MtlTensorFile *tensors,
           const char    *pattern,
           gsize          n_expected)
{
  g_autoptr (GError) error = NULL;
  gsize n_views = 77;
  MtlStridedView **views = mtl_tensor_file_load_views (tensors, pattern, NULL, NULL, NULL, &n_views,
                                                       &error);

  g_assert_no_error (error);
  g_assert_nonnull (views);
  g_assert_cmpuint (n_views, ==, n_expected);
  return views;
}

/* The result of a call, and its reports. */
typedef struct
{
  GThread *thread;         /* the caller's, of all callbacks */
  GCancellable *cancelled; /* nullable */
  double cancelled_at;     /* when that part of all is done, or more */
  goffset done;
  goffset total;
  guint n_calls; /* calls of the progress function */
  guint n_freed; /* calls of the function that frees its data */
  GAsyncResult *result;
} Outcome;

/* If any is to be cancelled, then when progress is told first. */
static inline Outcome
outcome_new (GCancellable *cancelled)
{
  return (Outcome) { .thread = g_thread_self (), .cancelled = cancelled };
}

/* There are no data to free then. */
static inline Outcome
outcome_new_without_progress (void)
{
  return (Outcome) { .thread = g_thread_self (), .n_freed = 1 };
}

static inline void
outcome_on_progress (goffset  done,
                     goffset  total,
                     gpointer data)
{
  Outcome *self = data;

  g_assert_true (g_thread_self () == self->thread);
  g_assert_null (self->result);
  g_assert_cmpuint (self->n_freed, ==, 0);
  g_assert_cmpint (done, >, self->n_calls > 0 ? self->done : -1);
  g_assert_cmpint (done, <=, total);
  self->done = done;
  self->total = total;
  self->n_calls++;
  if (self->cancelled != NULL && done >= self->cancelled_at * total)
    g_cancellable_cancel (self->cancelled);
}

static inline void
outcome_on_freed (gpointer data)
{
  Outcome *self = data;

  g_assert_true (g_thread_self () == self->thread);
  self->n_freed++;
}

static inline void
outcome_on_ready (GObject      *source,
                  GAsyncResult *result,
                  gpointer      data)
{
  Outcome *self = data;

  g_assert_true (g_thread_self () == self->thread);
  g_assert_null (self->result);
  self->result = g_object_ref (result);
}

/* Waits for the result. The progress's data are freed before it comes. */
static inline GAsyncResult *
outcome_wait (Outcome *self)
{
  while (self->result == NULL)
    g_main_context_iteration (NULL, TRUE);

  g_assert_cmpuint (self->n_freed, ==, 1);
  return g_steal_pointer (&self->result);
}

/* Two that are deflated, one of them in the other order of bytes; one that is stored. */
static inline GFile *
write_archive (TestFolder *folder,
               gsize       n_zeros)
{
  static const guint8 stored[] = { 1, 0, 2, 0 }, big_endian[] = { 0, 0, 1, 2, 0, 0, 0, 3 };
  g_autofree guint8 *zeros = g_malloc0 (n_zeros);
  g_autofree char *dict =
    g_strdup_printf ("{'descr': '|u1', 'fortran_order': False, 'shape': (%zu,), }\n", n_zeros);
  const TestMember members[] = {
    { "zeros.npy", dict, zeros, n_zeros, TRUE },
    { "stored.npy", "{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }", stored, 4, FALSE },
    { "big", "{'descr': '>i4', 'fortran_order': True, 'shape': (1,2,), }", big_endian, 8, TRUE },
    { "none.npy", "{'descr': '<f8', 'fortran_order': False, 'shape': (3,0), }", NULL, 0, TRUE },
  };

  zeros[n_zeros - 1] = 9;
  return write_npz (folder, "file", members, G_N_ELEMENTS (members));
}

/* Tensors of sizes that have nothing to do with those of pieces. */
#define N_LARGE 5
static const gsize large_sizes[N_LARGE] = { 3, 9999999, 20000001, 16, 1234567 };

static inline GFile *
write_large (TestFolder *folder,
             const char *name)
{
  g_autoptr (GString) header = g_string_new ("{");
  g_autofree guint8 *bytes = NULL;
  gsize size = 0;

  for (gsize i = 0; i < N_LARGE; size += large_sizes[i++])
    g_string_append_printf (header, "%s\"%zu\":{\"dtype\":\"U8\",\"shape\":[%zu],"
                            "\"data_offsets\":[%zu,%zu]}", i > 0 ? "," : "", i, large_sizes[i],
                            size, size + large_sizes[i]);
  g_string_append_c (header, '}');

  bytes = g_malloc (size);
  for (gsize i = 0; i < size; i++)
    bytes[i] = get_pattern_byte (i);
  return write_safetensors (folder, name, header->str, bytes, size);
}

static inline gsize
get_large_size (void)
{
  gsize size = 0;

  for (gsize i = 0; i < N_LARGE; i++)
    size += large_sizes[i];
  return size;
}

static inline void
assert_large (MtlStridedView **views)
{
  gsize begin = 0;

  for (gsize i = 0; i < N_LARGE; begin += large_sizes[i++])
    assert_pattern (mtl_strided_view_get_data (views[i]), begin, large_sizes[i]);
}
