/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Devices, their primary contexts, and the environment that tells of them. */

#include "cuda-double-private.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 64
#define INIT_DEVICE { 1, 0, 90, 1, 1, 1, 1, 1, 1, (uint64_t) 8 << 30 }

CdDevice cd_devices[CD_MAX_DEVICES] = {
  [0 ... CD_MAX_DEVICES - 1] = INIT_DEVICE,
};
int cd_n_devices = -1; /* not set */
int cd_version = 13000;
CuResult cd_init_result;
CuResult cd_jit_result;

static __thread CdContext *stack[MAX_DEPTH];
static __thread unsigned depth;

static const struct
{
  const char *name;
  size_t offset;
} attributes[] = {
  { "unified-addressing", offsetof (CdDevice, unified_addressing) },
  { "integrated", offsetof (CdDevice, integrated) },
  { "capability", offsetof (CdDevice, capability) },
  { "managed", offsetof (CdDevice, managed) },
  { "concurrent-managed", offsetof (CdDevice, concurrent_managed) },
  { "registered-same-address", offsetof (CdDevice, registered_same_address) },
  { "register-read-only", offsetof (CdDevice, register_read_only) },
  { "memory-pools", offsetof (CdDevice, memory_pools) },
  { "stream-values-64", offsetof (CdDevice, stream_values_64) },
  { "memory", offsetof (CdDevice, memory) },
};

static bool
set_attribute (int         ordinal,
               const char *name,
               size_t      length,
               uint64_t    value)
{
  for (size_t i = 0; i < CD_N_ELEMENTS (attributes); i++)
    {
      if (strlen (attributes[i].name) != length || memcmp (attributes[i].name, name, length) != 0)
        continue;
      for (int k = 0; k < CD_MAX_DEVICES; k++)
        if (ordinal == -1 || ordinal == k)
          memcpy ((char *) &cd_devices[k] + attributes[i].offset, &value, sizeof value);
      return true;
    }

  return false;
}

bool
cuda_double_set_attribute (int         ordinal,
                           const char *name,
                           uint64_t    value)
{
  bool known;

  pthread_mutex_lock (&cd_lock);
  known = set_attribute (ordinal, name, strlen (name), value);
  pthread_mutex_unlock (&cd_lock);

  return known;
}

void
cuda_double_set_devices (unsigned n)
{
  pthread_mutex_lock (&cd_lock);
  cd_n_devices = n < CD_MAX_DEVICES ? (int) n : CD_MAX_DEVICES;
  pthread_mutex_unlock (&cd_lock);
}

void
cuda_double_set_version (int version)
{
  pthread_mutex_lock (&cd_lock);
  cd_version = version;
  pthread_mutex_unlock (&cd_lock);
}

void
cuda_double_set_init_result (unsigned code)
{
  pthread_mutex_lock (&cd_lock);
  cd_init_result = code;
  pthread_mutex_unlock (&cd_lock);
}

void
cuda_double_set_jit_result (unsigned code)
{
  pthread_mutex_lock (&cd_lock);
  cd_jit_result = code;
  pthread_mutex_unlock (&cd_lock);
}

/* The environment */

static void __attribute__ ((noreturn))
refuse_variable (const char *name,
                 const char *text)
{
  fprintf (stderr, "cuda-double: %s=%s has no meaning\n", name, text);
  abort ();
}

static bool
read_number (const char *name,
             uint64_t   *value)
{
  const char *text = getenv (name);
  char *end;

  if (text == NULL)
    return false;

  *value = strtoull (text, &end, 10);
  if (*text == 0 || *end != 0)
    refuse_variable (name, text);

  return true;
}

static void
read_attributes (void)
{
  const char *text = getenv ("CUDA_DOUBLE_DEVICE");

  for (const char *at = text; at != NULL && *at != 0; at += *at == ',')
    {
      int ordinal = -1, n = 0;
      size_t length;
      char *end;

      if (sscanf (at, "%d:%n", &ordinal, &n) == 1 && n > 0)
        at += n;
      else
        ordinal = -1;
      length = strcspn (at, "=,");
      if (at[length] != '='
          || !set_attribute (ordinal, at, length, strtoull (at + length + 1, &end, 10))
          || (*end != 0 && *end != ','))
        refuse_variable ("CUDA_DOUBLE_DEVICE", text);
      at = end;
    }
}

static void
read_failure (void)
{
  const char *text = getenv ("CUDA_DOUBLE_FAIL");
  char name[64];
  unsigned kth, code;

  if (text == NULL)
    return;
  if (sscanf (text, "%63[^:]:%u=%u", name, &kth, &code) != 3
      || cd_function_named (name) == CD_N_FUNCTIONS)
    refuse_variable ("CUDA_DOUBLE_FAIL", text);

  cuda_double_fail_function (name, kth, code);
}

/* Without the lock, but before there is anything */
void
cd_read_environment (void)
{
  uint64_t n;

  if (cd_n_devices < 0)
    cd_n_devices = read_number ("CUDA_DOUBLE", &n) ? (int) (n < CD_MAX_DEVICES ? n : CD_MAX_DEVICES)
                                                   : 1;
  if (read_number ("CUDA_DOUBLE_INIT", &n))
    cd_init_result = (CuResult) n;
  if (read_number ("CUDA_DOUBLE_VERSION", &n))
    cd_version = (int) n;
  if (read_number ("CUDA_DOUBLE_MEMORY", &n))
    cuda_double_set_attribute (-1, "memory", n);
  if (read_number ("CUDA_DOUBLE_EAGER", &n))
    cuda_double_set_eager (n != 0);
  if (read_number ("CUDA_DOUBLE_DELAY", &n))
    cuda_double_set_delay ((unsigned) n);
  if (read_number ("CUDA_DOUBLE_REUSE", &n))
    cuda_double_set_reuse (n != 0);
  if (read_number ("CUDA_DOUBLE_JIT", &n))
    cd_jit_result = (CuResult) n;
  if (read_number ("CUDA_DOUBLE_ABORT", &n))
    cuda_double_set_abort (n != 0);
  if (read_number ("CUDA_DOUBLE_LEAKS", &n))
    cd_list_leaks = n != 0;
  read_attributes ();
  read_failure ();
}

/* Initialization */

static CuResult
initialize (unsigned flags)
{
  if (flags != 0)
    return CU_INVALID_VALUE;
  if (cd_init_result != CU_SUCCESS)
    return cd_init_result;
  if (cd_n_devices == 0)
    return CU_NO_DEVICE;
  if (cd_first_init ())
    cd_become_owner ();

  return CU_SUCCESS;
}

CuResult
cuInit (unsigned int flags)
{
  static pthread_once_t environment = PTHREAD_ONCE_INIT;
  CuResult result;

  pthread_once (&environment, cd_read_environment);
  if (!cd_enter (CD_cuInit, CD_BEFORE_INIT | CD_AFTER_ERROR, &result))
    return result;

  return cd_leave (initialize (flags));
}

CuResult
cuDriverGetVersion (int *version)
{
  CuResult result;

  if (!cd_enter (CD_cuDriverGetVersion, CD_BEFORE_INIT | CD_AFTER_ERROR, &result))
    return result;

  *version = cd_version;

  return cd_leave (CU_SUCCESS);
}

#define ERROR_NAME(own, theirs, value) { value, #theirs },
static const struct
{
  CuResult code;
  const char *name;
} error_names[] = { CU_CONSTANTS (ERROR_NAME) };

/* Also for a driver that has ended, as the table stays. */
CuResult
cuGetErrorName (CuResult     code,
                const char **name)
{
  for (size_t i = 0; i < CD_N_ELEMENTS (error_names); i++)
    if (error_names[i].code == code
        && (code == CU_SUCCESS || strncmp (error_names[i].name, "CUDA_ERROR_", 11) == 0))
      {
        *name = error_names[i].name;
        return CU_SUCCESS;
      }
  *name = NULL;

  return CU_INVALID_VALUE;
}

/* Devices */

bool
cd_is_device (int ordinal)
{
  return ordinal >= 0 && ordinal < cd_n_devices;
}

CuResult
cuDeviceGetCount (int *n)
{
  CuResult result;

  if (!cd_enter (CD_cuDeviceGetCount, CD_AFTER_ERROR, &result))
    return result;

  *n = cd_n_devices;

  return cd_leave (CU_SUCCESS);
}

CuResult
cuDeviceGet (CuDevice *device,
             int       ordinal)
{
  CuResult result;

  if (!cd_enter (CD_cuDeviceGet, CD_AFTER_ERROR, &result))
    return result;
  if (!cd_is_device (ordinal))
    return cd_leave (CU_INVALID_DEVICE);

  *device = ordinal;

  return cd_leave (CU_SUCCESS);
}

CuResult
cuDeviceGetName (char    *name,
                 int      size,
                 CuDevice device)
{
  CuResult result;

  if (!cd_enter (CD_cuDeviceGetName, CD_AFTER_ERROR, &result))
    return result;
  if (!cd_is_device (device))
    return cd_leave (CU_INVALID_DEVICE);
  if (size <= 0)
    return cd_leave (CU_INVALID_VALUE);

  snprintf (name, (size_t) size, "CUDA double %d", device);

  return cd_leave (CU_SUCCESS);
}

CuResult
cuDeviceGetUuid_v2 (CuUuid  *uuid,
                    CuDevice device)
{
  CuResult result;

  if (!cd_enter (CD_cuDeviceGetUuid_v2, CD_AFTER_ERROR, &result))
    return result;
  if (!cd_is_device (device))
    return cd_leave (CU_INVALID_DEVICE);

  for (unsigned i = 0; i < sizeof uuid->bytes; i++)
    uuid->bytes[i] = (unsigned char) (0xc0 + i);
  uuid->bytes[15] = (unsigned char) device;

  return cd_leave (CU_SUCCESS);
}

CuResult
cuDeviceTotalMem_v2 (size_t  *bytes,
                     CuDevice device)
{
  CuResult result;

  if (!cd_enter (CD_cuDeviceTotalMem_v2, CD_AFTER_ERROR, &result))
    return result;
  if (!cd_is_device (device))
    return cd_leave (CU_INVALID_DEVICE);

  *bytes = cd_devices[device].memory;

  return cd_leave (CU_SUCCESS);
}

/* Attributes of the real ones that the library does not use are those of an H200. */
#define CAPABILITY_MINOR 76
#define MAX_PITCH 11
#define MULTIPROCESSORS 16

static CuResult
get_attribute (const CdDevice *device,
               CuEnum          attribute,
               int            *value)
{
  switch (attribute)
    {
    case MAX_PITCH:
      *value = 0x7fffffff;
      return CU_SUCCESS;
    case MULTIPROCESSORS:
      *value = 132;
      return CU_SUCCESS;
    case CU_DEVICE_INTEGRATED:
      *value = (int) device->integrated;
      return CU_SUCCESS;
    case CU_DEVICE_UNIFIED_ADDRESSING:
      *value = (int) device->unified_addressing;
      return CU_SUCCESS;
    case CU_DEVICE_CAPABILITY_MAJOR:
      *value = (int) device->capability / 10;
      return CU_SUCCESS;
    case CAPABILITY_MINOR:
      *value = (int) device->capability % 10;
      return CU_SUCCESS;
    case CU_DEVICE_MANAGED_MEMORY:
      *value = (int) device->managed;
      return CU_SUCCESS;
    case CU_DEVICE_CONCURRENT_MANAGED_ACCESS:
      *value = device->managed && device->concurrent_managed;
      return CU_SUCCESS;
    case CU_DEVICE_REGISTERED_SAME_ADDRESS:
      *value = (int) device->registered_same_address;
      return CU_SUCCESS;
    case CU_DEVICE_REGISTER_READ_ONLY:
      *value = (int) device->register_read_only;
      return CU_SUCCESS;
    case CU_DEVICE_MEMORY_POOLS:
      *value = (int) device->memory_pools;
      return CU_SUCCESS;
    case CU_DEVICE_STREAM_VALUES_64:
      *value = (int) device->stream_values_64;
      return CU_SUCCESS;
    default:
      return cd_violation (CU_INVALID_VALUE, "attribute %u is unknown to the double", attribute);
    }
}

CuResult
cuDeviceGetAttribute (int     *value,
                      CuEnum   attribute,
                      CuDevice device)
{
  CuResult result;

  if (!cd_enter (CD_cuDeviceGetAttribute, CD_AFTER_ERROR, &result))
    return result;
  if (!cd_is_device (device))
    return cd_leave (CU_INVALID_DEVICE);

  return cd_leave (get_attribute (&cd_devices[device], attribute, value));
}

/* Contexts */

CdContext *
cd_current_context (void)
{
  return depth > 0 ? stack[depth - 1] : NULL;
}

CuResult
cuDevicePrimaryCtxRetain (CuContext *context,
                          CuDevice   device)
{
  CdContext *primary;
  CuResult result;

  if (!cd_enter (CD_cuDevicePrimaryCtxRetain, 0, &result))
    return result;
  if (!cd_is_device (device))
    return cd_leave (CU_INVALID_DEVICE);

  primary = &cd_devices[device].context;
  if (primary->handle == NULL)
    {
      primary->device = device;
      primary->handle = cd_new_handle (CD_HANDLE_CONTEXT, primary);
    }
  primary->retained++;
  *context = primary->handle;

  return cd_leave (CU_SUCCESS);
}

static bool
has_resources (const CdContext *context)
{
  if (cd_device_has_memory (context->device))
    return true;
  for (size_t i = 0; i < cd_n_handles (CD_HANDLE_EVENT); i++)
    {
      const CdEvent *event = cd_handle_at (CD_HANDLE_EVENT, i);

      if (event->context == context && !event->dead)
        return true;
    }
  for (size_t i = 0; i < cd_n_handles (CD_HANDLE_STREAM); i++)
    {
      const CdStream *stream = cd_handle_at (CD_HANDLE_STREAM, i);

      if (stream->context == context && !stream->dead)
        return true;
    }

  return false;
}

static CuResult
release_context (CdContext *context)
{
  if (context->retained == 0)
    return cd_violation (CU_INVALID_CONTEXT, "the context is not retained");
  if (context->retained == 1 && has_resources (context))
    cd_violation (CU_SUCCESS, "the context ends with what it has");
  context->retained--;

  return CU_SUCCESS;
}

CuResult
cuDevicePrimaryCtxRelease_v2 (CuDevice device)
{
  CuResult result;

  if (!cd_enter (CD_cuDevicePrimaryCtxRelease_v2, CD_RELEASES, &result))
    return result;
  if (!cd_is_device (device))
    return cd_leave (CU_INVALID_DEVICE);

  return cd_leave (release_context (&cd_devices[device].context));
}

static CuResult
push (CuContext handle)
{
  CdContext *context = cd_find_handle (CD_HANDLE_CONTEXT, handle);

  if (context == NULL || context->retained == 0)
    return cd_violation (CU_INVALID_CONTEXT, "the context is not retained");
  if (depth == MAX_DEPTH)
    return cd_violation (CU_INVALID_CONTEXT, "%u contexts were pushed and not popped", depth);
  stack[depth++] = context;

  return CU_SUCCESS;
}

CuResult
cuCtxPushCurrent_v2 (CuContext context)
{
  CuResult result;

  if (!cd_enter (CD_cuCtxPushCurrent_v2, 0, &result))
    return result;

  return cd_leave (push (context));
}

CuResult
cuCtxPopCurrent_v2 (CuContext *context)
{
  CuResult result;

  if (!cd_enter (CD_cuCtxPopCurrent_v2, CD_RELEASES | CD_CONTEXT, &result))
    return result;

  depth--;
  if (context != NULL)
    *context = stack[depth]->handle;

  return cd_leave (CU_SUCCESS);
}

CuResult
cuCtxGetCurrent (CuContext *context)
{
  CuResult result;

  if (!cd_enter (CD_cuCtxGetCurrent, CD_AFTER_ERROR, &result))
    return result;

  *context = depth > 0 ? stack[depth - 1]->handle : NULL;

  return cd_leave (CU_SUCCESS);
}

unsigned
cuda_double_context_depth (void)
{
  return depth;
}
