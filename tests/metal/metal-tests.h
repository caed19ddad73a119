/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Helpers of the tests of the Metal device. They run over the double of Metal and, if METAL_IS_REAL
 * is defined, over Metal as it is, where those that need the double are skipped. */

#pragma once

#include "test-utils.h"

#ifdef METAL_IS_REAL
#include "metal-fixture-real.h"
#include "metal-without-double.h"
#else
#include "metal-double.h"
#include "metal-fixture.h"
#endif

/* The devices of the machine that the double plays, by ordinal. Over real Metal they are roles: one
 * device may play several of them. */
enum
{
  UNIFIED,
  DISCRETE,
  TWIN,       /* a second discrete one, of the same name */
  INTEGRATED, /* in the host's memory, but not of Apple's GPU family */
  N_METAL_DEVICES,
};

/* They differ above bit 31 only. */
#define REGISTRY_ID(ordinal) (G_GUINT64_CONSTANT (0x1000004d0) + ((guint64) (ordinal) << 32))
#define MAX_BUFFER_SIZE ((gsize) 64 << 20)
#define DEVICE_MEMORY ((gsize) 256 << 20)

/* MTLResourceOptions. */
enum
{
  OPTIONS_SHARED = 0,
  OPTIONS_MANAGED = 16,
  OPTIONS_PRIVATE = 32,
};

/* MTLPurgeableState. */
enum
{
  PURGEABLE_NON_VOLATILE = 2,
  PURGEABLE_VOLATILE = 3,
};

static const MtlStorageMode metal_modes[] = {
  MTL_STORAGE_MODE_SHARED,
  MTL_STORAGE_MODE_MANAGED,
  MTL_STORAGE_MODE_PRIVATE,
};

#ifdef METAL_IS_REAL

static const gboolean over_double = FALSE;

static inline guint
count_metal (void)
{
  return metal_fixture_n_devices ();
}

/* Metal says when it has executed what it was given, and not when it has let go of it. */
static inline void
await_gpu (void)
{
  g_usleep (20000);
}

static inline void
set_up_metal (void)
{
  if (metal_fixture_n_devices () == 0)
    {
      g_print ("1..0 # SKIP Metal has no device here\n");
      exit (0);
    }
}

static inline int
ordinal_of (int role)
{
  return metal_fixture_ordinal (role);
}

static inline gboolean
has_kernels (void)
{
  return metal_fixture_has_kernels ();
}

/* The validation layer and Metal hold objects as they like. */
static inline unsigned long
count_references (gpointer object)
{
  return 0;
}

#define assert_references(object, n) ((void) (object))

#else

static const gboolean over_double = TRUE;

static inline guint
count_metal (void)
{
  return N_METAL_DEVICES;
}

/* Returns when nothing of what the GPUs were given is held any more. */
static inline void
await_gpu (void)
{
  metal_double_quiesce ();
}

static inline void
set_up_metal (void)
{
  const MetalDoubleDevice devices[N_METAL_DEVICES] = {
    [UNIFIED] = { "Test Unified", REGISTRY_ID (UNIFIED), true, MAX_BUFFER_SIZE, DEVICE_MEMORY },
    [DISCRETE] = { "Test Discrete", REGISTRY_ID (DISCRETE), false, MAX_BUFFER_SIZE,
                   DEVICE_MEMORY },
    [TWIN] = { "Test Discrete", REGISTRY_ID (TWIN), false, MAX_BUFFER_SIZE, DEVICE_MEMORY },
    [INTEGRATED] = { "Test Integrated", REGISTRY_ID (INTEGRATED), true, MAX_BUFFER_SIZE,
                     DEVICE_MEMORY, .without_apple_family = true },
  };

  metal_double_setup (devices, N_METAL_DEVICES, 0);
}

static inline int
ordinal_of (int role)
{
  return role;
}

/* The fixture's own. */
static inline gboolean
has_kernels (void)
{
  return TRUE;
}

static inline unsigned long
count_references (gpointer object)
{
  return metal_fixture_retain_count (object);
}

#define assert_references(object, n) g_assert_cmpuint (count_references (object), ==, (n))

#endif

/* Borrowed: devices live as long as the process. */
static inline MtlDevice *
get_metal (int role)
{
  g_autoptr (GError) error = NULL;
  MtlDevice *device = mtl_device_get (MTL_DEVICE_TYPE_METAL, ordinal_of (role), &error);

  g_assert_no_error (error);
  return device;
}

/* A buffer over an MTLBuffer that another library made. */
static inline MtlBuffer *
wrap_buffer (int      ordinal,
             gpointer handle,
             gsize    size)
{
  g_autoptr (GError) error = NULL;
  MtlBuffer *buffer = mtl_buffer_new_for_handle (handle, size, get_metal (ordinal), NULL, NULL,
                                                 &error);

  g_assert_no_error (error);
  return buffer;
}

/* A buffer of a device whose length is not rounded up. */
static inline MtlBuffer *
new_wrapped_buffer (int      ordinal,
                    gsize    size,
                    unsigned options)
{
  gpointer handle = metal_fixture_buffer_new (ordinal, size, options);
  MtlBuffer *buffer = wrap_buffer (ordinal, handle, size);

  metal_fixture_release (handle);
  return buffer;
}

/* Metal lets go of owners on threads of its own. */
static inline void
await_count (const int *count,
             int        expected)
{
  for (int i = 0; i < 5000 && g_atomic_int_get (count) != expected; i++)
    g_usleep (1000);

  g_assert_cmpint (g_atomic_int_get (count), ==, expected);
}

/* Work of another library on a queue of its own, done when this returns. */
static inline void
run_on_gpu (MetalFixtureKernel kernel,
            MtlBuffer         *buffer,
            gsize              offset,
            gsize              size,
            guint8             value)
{
  g_assert_true (metal_fixture_finish (
    metal_fixture_submit (kernel, mtl_buffer_get_handle (buffer),
                          mtl_buffer_get_byte_offset (buffer) + offset, size, value,
                          NULL, 0, NULL, 0)));
}

/* Reads the GPU's memory as work that begins now would. */
static inline void
read_as_gpu (MtlBuffer *buffer,
             gsize      offset,
             gpointer   bytes,
             gsize      size)
{
  run_on_gpu (METAL_FIXTURE_ADD, buffer, offset, size, 0);
  metal_fixture_peek (mtl_buffer_get_handle (buffer), mtl_buffer_get_byte_offset (buffer) + offset,
                      bytes, size);
}

/* The GPU's own copy, after what the host has reported before. */
static inline void
write_as_gpu (MtlBuffer     *buffer,
              gsize          offset,
              gconstpointer  bytes,
              gsize          size)
{
  run_on_gpu (METAL_FIXTURE_ADD, buffer, offset, size, 0);
  metal_fixture_poke (mtl_buffer_get_handle (buffer), mtl_buffer_get_byte_offset (buffer) + offset,
                      bytes, size);
}

#define assert_gpu_reads(buffer, offset, expected, size) \
  G_STMT_START \
    { \
      g_autofree guint8 *read_ = g_malloc (size); \
      read_as_gpu ((buffer), (offset), read_, (size)); \
      g_assert_cmpmem (read_, (size), (expected), (size)); \
    } \
  G_STMT_END

#define assert_buffer_bytes(buffer, offset, expected, size) \
  G_STMT_START \
    { \
      GError *error_ = NULL; \
      GBytes *bytes_ = mtl_buffer_dup_bytes ((buffer), (offset), (size), NULL, &error_); \
      g_assert_no_error (error_); \
      g_assert_cmpmem (g_bytes_get_data (bytes_, NULL), g_bytes_get_size (bytes_), \
                       (expected), (size)); \
      g_bytes_unref (bytes_); \
    } \
  G_STMT_END

/* Ends a test that cannot run on this device, or in this Metal, with the reason. */
#define skip_unless(condition, reason) \
  G_STMT_START \
    { \
      if (!(condition)) \
        { \
          g_test_skip (reason); \
          return; \
        } \
    } \
  G_STMT_END

/* Each test leaves nothing behind: no object of Metal but the queues that the devices keep, no
 * block, no violation. Over real Metal these are not counted. */
static const char *const counted_classes[] = {
  "buffer", "event", "command-buffer", "encoder", "heap", "tensor", "block",
};

typedef struct
{
  size_t n_alive[G_N_ELEMENTS (counted_classes)];
} Living;

#ifdef METAL_IS_REAL

static inline void
living_count (Living        *self,
              gconstpointer  data)
{
}

static inline void
living_check (Living        *self,
              gconstpointer  data)
{
}

#else

static inline void
living_count (Living        *self,
              gconstpointer  data)
{
  for (gsize i = 0; i < G_N_ELEMENTS (counted_classes); i++)
    self->n_alive[i] = metal_double_live (counted_classes[i]);
}

/* Threads that are not waited for may be on their way out. */
static inline gboolean
living_is_as_before (const Living *self,
                     gsize         i)
{
  for (int j = 0; j < 1000 && metal_double_live (counted_classes[i]) != self->n_alive[i]; j++)
    g_usleep (2000);

  return metal_double_live (counted_classes[i]) == self->n_alive[i];
}

static inline void
living_check (Living        *self,
              gconstpointer  data)
{
  metal_double_quiesce ();
  for (gsize i = 0; i < G_N_ELEMENTS (counted_classes); i++)
    if (!living_is_as_before (self, i))
      g_error ("%zu objects “%s” are alive, %zu were", metal_double_live (counted_classes[i]),
               counted_classes[i], self->n_alive[i]);
  g_assert_cmpuint (metal_double_violations (), ==, 0);
}

#endif

static inline void
call_test (Living        *living,
           gconstpointer  data)
{
  ((GTestFunc) data) ();
}

/* These do the same as g_test_add_data_func() and g_test_add_func(), with the check above. */
static inline void
add_metal_data_test (const char     *path,
                     gconstpointer   data,
                     void          (* func) (Living *, gconstpointer))
{
  g_test_add_vtable (path, sizeof (Living), data, (GTestFixtureFunc) living_count,
                     (GTestFixtureFunc) func, (GTestFixtureFunc) living_check);
}

static inline void
add_metal_test (const char *path,
                GTestFunc   func)
{
  add_metal_data_test (path, (gconstpointer) func, call_test);
}

/* Skips tests that need the switches of the double, what it counts, or its devices. */
static inline void
skip_without_double (void)
{
  g_test_skip ("this needs the double of Metal");
}

static inline void
skip_data_without_double (Living        *living,
                          gconstpointer  data)
{
  skip_without_double ();
}

static inline void
add_double_data_test (const char     *path,
                      gconstpointer   data,
                      void          (* func) (Living *, gconstpointer))
{
  add_metal_data_test (path, data, over_double ? func : skip_data_without_double);
}

static inline void
add_double_test (const char *path,
                 GTestFunc   func)
{
  add_metal_test (path, over_double ? func : skip_without_double);
}

static inline void
add_double_func (const char *path,
                 GTestFunc   func)
{
  g_test_add_func (path, over_double ? func : skip_without_double);
}

static inline void
add_double_data_func (const char    *path,
                      gconstpointer  data,
                      GTestDataFunc  func)
{
  if (over_double)
    g_test_add_data_func (path, data, func);
  else
    g_test_add_func (path, skip_without_double);
}
