/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Metal fails at each point at which it can, one after the other: each time
 * there is an error, and nothing else is different. */

#pragma once

#include "metal-tests.h"
#include "dlpack-structs.h"

#define SIZE 24
#define MOST_POINTS 100

typedef enum
{
  DEST,    /* Private */
  PRIVATE, /* the others are only read, unless a scenario says so */
  MANAGED,
  SHARED,
  HOST,
  ELSEWHERE, /* Private, of another device */
  N_BUFFERS,
} BufferName;

/* The objects of a scenario, made anew for each failure. */
typedef struct
{
  MtlDevice *device;
  MtlBuffer *buffers[N_BUFFERS];
  guint8 before[N_BUFFERS][SIZE];

  /* The bytes that the scenario writes, from begin to end of one of them. */
  BufferName written;
  gsize begin;
  gsize end;
  guint8 after[SIZE];

  /* The object that it makes, with these elements or bytes. */
  gpointer object;
  DLManagedTensorVersioned *tensor;
  GBytes *bytes;
  guint8 content[SIZE];
  gsize content_size;

  guint8 *memory;
  int n_ended;
  int n_owners;
} Stage;

static inline void
stage_init (Stage *self,
            int    ordinal)
{
  static const MtlStorageMode modes[N_BUFFERS] = {
    [DEST] = MTL_STORAGE_MODE_PRIVATE,
    [PRIVATE] = MTL_STORAGE_MODE_PRIVATE,
    [MANAGED] = MTL_STORAGE_MODE_MANAGED,
    [SHARED] = MTL_STORAGE_MODE_SHARED,
    [HOST] = MTL_STORAGE_MODE_HOST,
    [ELSEWHERE] = MTL_STORAGE_MODE_PRIVATE,
  };

  *self = (Stage) { .device = get_metal (ordinal) };
  for (int i = 0; i < N_BUFFERS; i++)
    {
      MtlDevice *device = i == ELSEWHERE ? get_metal (1 - ordinal) : self->device;
      g_autoptr (GBytes) bytes = NULL;
      g_autoptr (GError) error = NULL;

      for (int j = 0; j < SIZE; j++)
        self->before[i][j] = 40 * i + j;
      bytes = g_bytes_new_static (self->before[i], SIZE);
      self->buffers[i] = new_buffer (i == HOST ? NULL : device, SIZE, modes[i]);
      g_assert_true (mtl_buffer_set_bytes (self->buffers[i], 0, bytes, NULL, &error));
      g_assert_no_error (error);
    }
}

static inline void
stage_clear (Stage *self)
{
  g_clear_object (&self->object);
  g_clear_pointer (&self->bytes, g_bytes_unref);
  if (self->tensor != NULL)
    self->tensor->deleter (self->tensor);
  for (int i = 0; i < N_BUFFERS; i++)
    g_assert_finalize_object (self->buffers[i]);
  g_assert_cmpint (self->n_ended, ==, self->n_owners);
  g_free (self->memory);
}

/* The bytes at an offset of a buffer become these. */
static inline void
stage_expect (Stage         *self,
              BufferName     written,
              gsize          offset,
              gconstpointer  bytes,
              gsize          size)
{
  self->written = written;
  self->begin = offset;
  self->end = offset + size;
  memcpy (self->after, self->before[written], SIZE);
  memmove (self->after + offset, bytes, size);
}

static inline gboolean
stage_made (Stage         *self,
            gpointer       object,
            gconstpointer  content,
            gsize          size)
{
  self->object = object;
  if (size > 0)
    memcpy (self->content, content, size);
  self->content_size = size;
  return object != NULL;
}

typedef struct
{
  const char *path;
  gboolean (* run) (Stage   *stage,
                    GError **error);
  gboolean falls_back; /* on another way, which does the same */
} Scenario;

/* Buffers that were only read are as they were, and so are the bytes around those that were
 * written, which have their new values if it worked. */
static inline void
check_buffers (Stage    *stage,
               gboolean  worked)
{
  for (int i = 0; i < N_BUFFERS; i++)
    {
      gboolean is_written = stage->end > 0 && stage->written == (BufferName) i;
      const guint8 *expected = is_written ? stage->after : stage->before[i];
      gsize begin = is_written ? stage->begin : SIZE;
      gsize end = is_written ? stage->end : SIZE;

      if (worked)
        begin = end = SIZE;
      assert_buffer_bytes (stage->buffers[i], 0, expected, begin);
      assert_buffer_bytes (stage->buffers[i], end, expected + end, SIZE - end);
    }
}

static inline void
check_made (Stage *stage)
{
  g_autoptr (GError) error = NULL;

  if (stage->content_size == 0)
    return;

  if (stage->bytes == NULL && MTL_IS_STRIDED_VIEW (stage->object))
    stage->bytes = mtl_strided_view_dup_bytes (stage->object, NULL, &error);
  else if (stage->bytes == NULL)
    stage->bytes = mtl_buffer_dup_bytes (stage->object, 0, stage->content_size, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpmem (g_bytes_get_data (stage->bytes, NULL), g_bytes_get_size (stage->bytes),
                   stage->content, stage->content_size);
}

static inline void
check_error (const Scenario *scenario,
             const GError   *error)
{
  if (error->domain != MTL_ERROR
      || (error->code != MTL_ERROR_NO_MEMORY && error->code != MTL_ERROR_DEVICE
          && error->code != MTL_ERROR_NEEDS_COPY))
    g_error ("%s: “%s”", scenario->path, error->message);
}

/* Returns TRUE if there was a point to fail at. */
static inline gboolean
fail_at (const Scenario *scenario,
         int             ordinal,
         unsigned        nth)
{
  g_autoptr (GError) error = NULL;
  gboolean worked, failed;
  Living living;
  Stage stage;

  living_count (&living, NULL);
  stage_init (&stage, ordinal);
  metal_double_fail_at (nth);
  worked = scenario->run (&stage, &error);
  failed = metal_double_points () >= nth;
  metal_double_fail_at (0);

  g_assert_true (worked == (error == NULL));
  g_assert_true (worked == (!failed || scenario->falls_back));
  if (worked)
    check_made (&stage);
  else
    check_error (scenario, error);

  check_buffers (&stage, worked);
  stage_clear (&stage);
  living_check (&living, NULL);
  return failed;
}

static inline void
run_scenario (const Scenario *scenario,
              int             ordinal)
{
  g_autoptr (GError) error = NULL;
  unsigned nth = 1;

  /* The queue is there for good after its first use. */
  g_assert_true (mtl_device_synchronize (get_metal (UNIFIED), NULL, &error));
  g_assert_true (mtl_device_synchronize (get_metal (DISCRETE), NULL, &error));
  g_assert_no_error (error);

  while (fail_at (scenario, ordinal, nth))
    {
      nth++;
      g_assert_cmpuint (nth, <, MOST_POINTS);
    }
  g_assert_cmpuint (nth, >, 1);

  g_test_message ("%s: failed at %u points", scenario->path, nth - 1);
}

static inline void
test_unified (Living        *living,
              gconstpointer  data)
{
  run_scenario (data, UNIFIED);
}

static inline void
test_discrete (Living        *living,
               gconstpointer  data)
{
  run_scenario (data, DISCRETE);
}

static inline void
add_scenarios (const char     *path,
               const Scenario *scenarios,
               gsize           n_scenarios)
{
  for (gsize i = 0; i < n_scenarios; i++)
    {
      g_autofree char *unified = g_strdup_printf ("%s/unified/%s", path, scenarios[i].path);
      g_autofree char *discrete = g_strdup_printf ("%s/discrete/%s", path, scenarios[i].path);

      add_metal_data_test (unified, &scenarios[i], test_unified);
      add_metal_data_test (discrete, &scenarios[i], test_discrete);
    }
}
