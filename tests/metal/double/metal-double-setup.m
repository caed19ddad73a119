/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The devices of the machine that the double plays, and what fails on it. */

#import "metal-double-private.h"

#include <objc/runtime.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEVICES_OF_ENVIRONMENT 8

static pthread_mutex_t setup_lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_set_up;
static MDDevice **devices;
static size_t n_devices;
static unsigned enumeration_flags, n_defaults_given;

static unsigned n_points, failing_point;
static int next_failure;
static bool deallocates_on_failure, forgets_deallocators;
static size_t blit_limit;
static uint64_t blit_bytes, largest_blit;
static const char *error_domain;
static unsigned macos_major = 27, macos_minor;
static __thread bool is_fixture;

bool
md_fails (void)
{
  if (is_fixture)
    return false;

  return __atomic_add_fetch (&n_points, 1, __ATOMIC_SEQ_CST)
         == __atomic_load_n (&failing_point, __ATOMIC_SEQ_CST);
}

int
md_take_execution_failure (void)
{
  int given = __atomic_exchange_n (&next_failure, 0, __ATOMIC_SEQ_CST);

  if (md_fails () && given == 0)
    return MTLCommandBufferErrorInternal;
  return given;
}

void
metal_double_set_error_domain (const char *domain)
{
  __atomic_store_n (&error_domain, domain, __ATOMIC_SEQ_CST);
}

NSString *
md_copy_error_domain (void)
{
  const char *domain = __atomic_load_n (&error_domain, __ATOMIC_SEQ_CST);

  return domain != NULL ? [[NSString alloc] initWithUTF8String: domain]
                        : [MTLCommandBufferErrorDomain retain];
}

void
metal_double_set_macos (unsigned major,
                        unsigned minor)
{
  __atomic_store_n (&macos_major, major, __ATOMIC_SEQ_CST);
  __atomic_store_n (&macos_minor, minor, __ATOMIC_SEQ_CST);
}

bool
md_has_macos (unsigned major,
              unsigned minor)
{
  unsigned has_major = __atomic_load_n (&macos_major, __ATOMIC_SEQ_CST);

  return has_major == 16 || has_major > major
         || (has_major == major && __atomic_load_n (&macos_minor, __ATOMIC_SEQ_CST) >= minor);
}

/* GNUstep has no such method, and Apple's struct is like this. */
typedef struct
{
  NSInteger majorVersion, minorVersion, patchVersion;
} MDSystemVersion;

@implementation NSProcessInfo (MetalDouble)
- (MDSystemVersion) operatingSystemVersion
{
  return (MDSystemVersion) {
    .majorVersion = __atomic_load_n (&macos_major, __ATOMIC_SEQ_CST),
    .minorVersion = __atomic_load_n (&macos_minor, __ATOMIC_SEQ_CST),
  };
}
@end

/* Takes the place of the runtime's, and knows no class that the system lacks. */
id
objc_getClass (const char *name)
{
  if (strncmp (name, "MTLTensor", strlen ("MTLTensor")) == 0 && !md_has_macos (26, 0))
    return nil;

  return (id) objc_lookUpClass (name);
}

void
md_set_fixture (bool yes)
{
  is_fixture = yes;
}

void
metal_double_fail_at (unsigned nth)
{
  __atomic_store_n (&n_points, 0, __ATOMIC_SEQ_CST);
  __atomic_store_n (&failing_point, nth, __ATOMIC_SEQ_CST);
}

unsigned
metal_double_points (void)
{
  return __atomic_load_n (&n_points, __ATOMIC_SEQ_CST);
}

void
metal_double_fail_next_command_buffer (int code)
{
  __atomic_store_n (&next_failure, code, __ATOMIC_SEQ_CST);
}

void
metal_double_dealloc_on_failure (bool yes)
{
  __atomic_store_n (&deallocates_on_failure, yes, __ATOMIC_SEQ_CST);
}

bool
md_deallocates_on_failure (void)
{
  return __atomic_load_n (&deallocates_on_failure, __ATOMIC_SEQ_CST);
}

void
metal_double_forget_deallocators (bool yes)
{
  __atomic_store_n (&forgets_deallocators, yes, __ATOMIC_SEQ_CST);
}

bool
md_forgets_deallocators (void)
{
  return __atomic_load_n (&forgets_deallocators, __ATOMIC_SEQ_CST);
}

void
metal_double_set_blit_limit (size_t bytes)
{
  __atomic_store_n (&blit_limit, bytes, __ATOMIC_SEQ_CST);
}

uint64_t
metal_double_blit_bytes (void)
{
  uint64_t bytes;

  pthread_mutex_lock (&md_lock);
  bytes = blit_bytes;
  pthread_mutex_unlock (&md_lock);
  return bytes;
}

uint64_t
metal_double_largest_blit (void)
{
  uint64_t largest;

  pthread_mutex_lock (&md_lock);
  largest = largest_blit;
  largest_blit = 0;
  pthread_mutex_unlock (&md_lock);
  return largest;
}

size_t
md_limit_blit (size_t size)
{
  size_t limit = __atomic_load_n (&blit_limit, __ATOMIC_SEQ_CST);

  pthread_mutex_lock (&md_lock);
  blit_bytes += size;
  if (size > largest_blit)
    largest_blit = size;
  pthread_mutex_unlock (&md_lock);

  return limit != 0 && size > limit ? limit : size;
}

static bool
wants_real_frees (void)
{
  const char *value = getenv ("METAL_DOUBLE_FREE");

  return value != NULL && strcmp (value, "1") == 0;
}

/* Under setup_lock. */
static size_t
shut_down (bool tell)
{
  size_t n_leaked;

  metal_double_resume ();
  metal_double_quiesce ();
  md_settle_queues ();
  @autoreleasepool
    {
      for (size_t i = 0; i < n_devices; i++)
        [devices[i] release];
    }
  free (devices);
  devices = NULL;
  n_devices = 0;
  is_set_up = true;

  n_leaked = md_forget_objects (tell) + md_count_blocks ();
  md_forget_blocks ();
  return n_leaked;
}

/* Under setup_lock. */
static void
set_up (const MetalDoubleDevice *configs,
        size_t                   n,
        unsigned                 flags)
{
  metal_double_set_zombies (!wants_real_frees ());
  metal_double_set_gpu_timeout (60000);
  md_forget_violations ();
  metal_double_fail_at (0);
  metal_double_fail_next_command_buffer (0);
  metal_double_dealloc_on_failure (false);
  metal_double_forget_deallocators (false);
  metal_double_set_blit_limit (0);
  blit_bytes = largest_blit = 0;
  metal_double_set_error_domain (NULL);
  metal_double_set_macos (27, 0);
  metal_double_meet ("", 0, 0);

  enumeration_flags = flags;
  n_defaults_given = 0;
  if ((flags & METAL_DOUBLE_MACOS_12) != 0)
    metal_double_set_macos (12, 0);
  devices = calloc (n > 0 ? n : 1, sizeof *devices);
  n_devices = n;
  @autoreleasepool
    {
      for (size_t i = 0; i < n; i++)
        devices[i] = [MDDevice newWithConfig: &configs[i]];
    }
  is_set_up = true;
}

static bool
add_word_of_environment (const char        *word,
                         MetalDoubleDevice *configs,
                         size_t            *n,
                         unsigned          *flags)
{
  bool discrete = strcmp (word, "discrete") == 0, integrated = strcmp (word, "integrated") == 0;

  if (strcmp (word, "none") == 0)
    return true;
  if (strcmp (word, "no-list") == 0)
    *flags |= METAL_DOUBLE_NO_LIST;
  else if (strcmp (word, "no-default") == 0)
    *flags |= METAL_DOUBLE_NO_DEFAULT;
  else if (strcmp (word, "default-once") == 0)
    *flags |= METAL_DOUBLE_DEFAULT_ONCE;
  else if (strcmp (word, "default-last") == 0)
    *flags |= METAL_DOUBLE_DEFAULT_LAST;
  else if (strcmp (word, "macos-12") == 0)
    *flags |= METAL_DOUBLE_MACOS_12;
  else if ((discrete || integrated || strcmp (word, "unified") == 0)
           && *n < MAX_DEVICES_OF_ENVIRONMENT)
    {
      configs[*n] = (MetalDoubleDevice) {
        .name = discrete ? "Double discrete" : integrated ? "Double integrated" : "Double unified",
        .registry_id = 0x100000001 + *n,
        .unified = !discrete,
        .without_apple_family = integrated,
        .max_buffer_length = (size_t) 2 << 30,
      };
      (*n)++;
    }
  else
    return false;

  return true;
}

/* Under setup_lock. */
static void
set_up_from_environment (void)
{
  const char *value = getenv ("METAL_DOUBLE");
  MetalDoubleDevice configs[MAX_DEVICES_OF_ENVIRONMENT];
  size_t n = 0;
  unsigned flags = 0;
  char *words, *rest;

  if (is_set_up)
    return;

  rest = words = strdup (value != NULL ? value : "");
  for (char *word = strsep (&rest, ","); word != NULL; word = strsep (&rest, ","))
    if (word[0] != '\0' && !add_word_of_environment (word, configs, &n, &flags))
      md_violation ("METAL_DOUBLE does not know “%s”", word);
  free (words);
  set_up (configs, n, flags);
}

void
metal_double_setup (const MetalDoubleDevice *configs,
                    size_t                   n,
                    unsigned                 flags)
{
  pthread_mutex_lock (&setup_lock);
  if (is_set_up)
    shut_down (false);
  md_forget_blocks ();
  set_up (configs, n, flags);
  pthread_mutex_unlock (&setup_lock);
}

size_t
metal_double_shutdown (void)
{
  size_t n_leaked;

  pthread_mutex_lock (&setup_lock);
  n_leaked = shut_down (true);
  pthread_mutex_unlock (&setup_lock);
  return n_leaked;
}

MDDevice *
md_device_at (unsigned ordinal)
{
  MDDevice *device;

  pthread_mutex_lock (&setup_lock);
  set_up_from_environment ();
  device = ordinal < n_devices ? devices[ordinal] : nil;
  pthread_mutex_unlock (&setup_lock);
  return device;
}

NSArray *
MTLCopyAllDevices (void)
{
  NSArray *list;

  md_count (MD_CALL_COPY_ALL_DEVICES);
  md_need_pool ("MTLCopyAllDevices()");

  pthread_mutex_lock (&setup_lock);
  set_up_from_environment ();
  list = [NSArray alloc];
  if ((enumeration_flags & METAL_DOUBLE_NO_LIST) != 0 || n_devices == 0)
    list = [list init];
  else
    list = [list initWithObjects: (id *) devices count: n_devices];
  pthread_mutex_unlock (&setup_lock);
  return list;
}

id<MTLDevice>
MTLCreateSystemDefaultDevice (void)
{
  MDDevice *device = nil;

  md_count (MD_CALL_DEFAULT_DEVICE);
  md_need_pool ("MTLCreateSystemDefaultDevice()");

  pthread_mutex_lock (&setup_lock);
  set_up_from_environment ();
  if (n_devices > 0 && (enumeration_flags & METAL_DOUBLE_NO_DEFAULT) == 0
      && (n_defaults_given == 0 || (enumeration_flags & METAL_DOUBLE_DEFAULT_ONCE) == 0))
    {
      n_defaults_given++;
      device = (enumeration_flags & METAL_DOUBLE_DEFAULT_LAST) != 0 ? devices[n_devices - 1]
                                                                    : devices[0];
      [device retain];
    }
  pthread_mutex_unlock (&setup_lock);
  return device;
}
