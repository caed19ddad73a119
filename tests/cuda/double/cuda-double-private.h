/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The parts of the double of CUDA's driver. All but the functions of the driver and the controls
 * are called with the lock held. */

#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cuda-double-more.h"
#include "cuda-double.h"
#include "mtl-cuda-abi-private.h"

#define CD_DECLARE(name, parameters) CUDA_DOUBLE_API CuResult name parameters;
CU_FUNCTIONS (CD_DECLARE)
CU_STRUCT_FUNCTIONS (CD_DECLARE)
CU_OPTIONAL_FUNCTIONS (CD_DECLARE)
CU_MORE_FUNCTIONS (CD_DECLARE)

#define CD_ENUMERATOR(name, parameters) CD_##name,
typedef enum
{
  CU_FUNCTIONS (CD_ENUMERATOR)
  CU_STRUCT_FUNCTIONS (CD_ENUMERATOR)
  CU_OPTIONAL_FUNCTIONS (CD_ENUMERATOR)
  CU_MORE_FUNCTIONS (CD_ENUMERATOR)
  CD_N_FUNCTIONS
} CdFunction;

#define CD_MAX_DEVICES 16
#define CD_N_ELEMENTS(array) (sizeof (array) / sizeof *(array))

extern pthread_mutex_t cd_lock;
extern pthread_cond_t cd_changed;

/* Violations; these also work without the lock. */
__attribute__ ((format (printf, 2, 3))) CuResult cd_violation (CuResult    code,
                                                               const char *format,
                                                               ...);
/* The function that this thread is in, or that queued the work. */
extern __thread const char *cd_function;
void cd_violation_atfork (void);
void *cd_allocate (size_t size);

/* Entering and leaving the driver's functions */

#define CD_CONTEXT 1      /* needs a current context */
#define CD_RELEASES 2     /* does its work, even if it is to fail */
#define CD_BEFORE_INIT 4  /* works without cuInit() */
#define CD_AFTER_ERROR 8  /* works after an error that stays */
#define CD_IN_CHILD 16    /* returns 0 in a forked child, and does nothing */
#define CD_FREES 32       /* a violation in a forked child */
#define CD_UNSAFE 64      /* a capture forbids this, "potentially unsafe API call" */
#define CD_INFALLIBLE 128 /* is no point */

/* Takes the lock, if the call may go on. */
bool cd_enter (CdFunction function,
               unsigned   flags,
               CuResult  *result);
CuResult cd_leave (CuResult result);
CdFunction cd_function_named (const char *name);
void cd_count_wait (void);

/* The error that stays */
extern CuResult cd_error;
void cd_set_error (CuResult code);
/* The error of an injected failure of the work that now runs, or 0 */
CuResult cd_work_failure (void);

extern bool cd_ended;
extern bool cd_list_leaks;
bool cd_first_init (void);
void cd_become_owner (void);
void cd_read_environment (void);

/* Handles: numbers that cannot be dereferenced. Objects stay when they end. */

typedef enum
{
  CD_HANDLE_CONTEXT = 1,
  CD_HANDLE_STREAM,
  CD_HANDLE_EVENT,
  CD_HANDLE_MODULE,
  CD_HANDLE_FUNCTION,
  CD_HANDLE_POOL,
  CD_HANDLE_GRAPH,
  CD_HANDLE_GRAPH_EXEC,
  CD_N_HANDLES
} CdHandleKind;

void *cd_new_handle (CdHandleKind kind,
                     void        *object);
void *cd_find_handle (CdHandleKind kind,
                      const void  *handle);
size_t cd_n_handles (CdHandleKind kind);
void *cd_handle_at (CdHandleKind kind,
                    size_t       i);

/* Clocks: what is known to have been done before, as the last position in each stream. */

typedef struct
{
  unsigned stream;
  uint64_t position;
} CdPoint;

typedef struct
{
  unsigned references;
  size_t n;
  CdPoint points[];
} CdClock;

CdClock *cd_clock_ref (CdClock *clock);
void cd_clock_unref (CdClock *clock);
void cd_clock_merge (CdClock      **clock,
                     const CdClock *other);
void cd_clock_add (CdClock **clock,
                   CdPoint   point);
bool cd_clock_knows (const CdClock *clock,
                     CdPoint        point);

/* Devices and contexts */

typedef struct CdStream CdStream;
typedef struct CdMemory CdMemory;
typedef struct CdPool CdPool;
typedef struct CdWork CdWork;
typedef struct CdCapture CdCapture;

typedef struct
{
  int device;
  unsigned retained;
  void *handle;
  CdStream *legacy;
  CdClock *finished; /* blocking streams that are gone */
} CdContext;

typedef struct
{
  uint64_t unified_addressing, integrated, capability, managed, concurrent_managed,
    registered_same_address, register_read_only, memory_pools, stream_values_64, memory;
  uint64_t used;
  CdContext context;
  CdPool *default_pool;
} CdDevice;

extern CdDevice cd_devices[CD_MAX_DEVICES];
extern int cd_n_devices;
extern int cd_version;
extern CuResult cd_init_result;
extern CuResult cd_jit_result;

CdContext *cd_current_context (void);
bool cd_is_device (int ordinal);

/* Memory */

typedef enum
{
  CD_DEVICE_MEMORY,
  CD_POOL_MEMORY,
  CD_PINNED,
  CD_MANAGED,
  CD_REGISTERED,
  CD_N_MEMORY_KINDS
} CdMemoryKind;

struct CdMemory
{
  CdMemoryKind kind;
  int device;
  uint64_t id;
  uintptr_t address, host_address; /* the second is 0 if the host has none */
  size_t size;
  char *shadow; /* where the devices access it */
  char *map, *shadow_map;
  size_t mapped;
  bool freed, read_only;

  /* Pool memory */
  CdPool *pool;
  bool reused;
  CdPoint allocated, released;
  CdClock *released_clock;
  CdPoint *accesses;
  size_t n_accesses;
  CdMemory *previous; /* at the same address, or registered */
  CdCapture *capture; /* the graph that allocates it, until it runs */
};

struct CdPool
{
  void *handle;
  int device;
  uint64_t threshold;
  uint64_t live; /* bytes */
  bool dead;
  struct CdCached *cached;
};

extern size_t cd_live_memory[CD_N_MEMORY_KINDS];
extern uint64_t cd_live_memory_bytes[CD_N_MEMORY_KINDS];
extern const char *const cd_memory_kind_names[CD_N_MEMORY_KINDS];

CuResult cd_memory_new (CdMemoryKind kind,
                        size_t       size,
                        int          device,
                        CdMemory   **memory);
void cd_memory_add (CdMemory *memory);
uintptr_t cd_reserve_addresses (size_t size);
/* Marks it as freed; its pages go now, or when a stream comes to it. */
void cd_memory_end (CdMemory *memory);
void cd_memory_drop_pages (CdMemory *memory);
void cd_poison (char  *bytes,
                size_t size,
                int    value);
/* The memory at an address, be it alive or freed; NULL: none, or the host's own. */
CdMemory *cd_find_memory (uintptr_t address);
CdMemory *cd_find_live_memory (uintptr_t address);
/* Memory of the host that is registered, and overlaps a range of its. */
CdMemory *cd_find_registered (uintptr_t host_address,
                              size_t    size);
void cd_memory_unregister (CdMemory *memory);
bool cd_device_has_memory (int device);
/* An address that only the double hands out. */
bool cd_is_reserved (uintptr_t address);
void cd_memory_list (void);
void cd_guard_managed (bool busy);

void cd_pool_release_unused (void);
CdPool *cd_new_pool (int device);
void cd_pool_freed (CdWork *work);
void cd_pool_lost (CdMemory *memory);

/* Streams and their work */

typedef enum
{
  CD_MARKER,
  CD_COPY,
  CD_FILL,
  CD_WAIT,
  CD_WAIT_VALUE,
  CD_WRITE_VALUE,
  CD_KERNEL,
  CD_ALLOC,
  CD_FREE
} CdWorkKind;

#define CD_WRITES 1
#define CD_ANY_DEVICE 2
#define CD_PAGEABLE 4

typedef struct
{
  uintptr_t address;
  size_t pitch, slice;
  unsigned access;
  int device; /* the one that its memory must be of, or -1 */
} CdSide;

struct CdWork
{
  CdWorkKind kind;
  const char *function;
  CdStream *stream;
  CdPoint point;
  CdClock *clock;
  uint64_t due; /* milliseconds */
  CdMemory *reached; /* the last memory that was found to be accessible, and how */
  unsigned reached_access;
  CdWork *next;

  CdSide dst, src;
  size_t width, height, depth;
  char *staged;
  uint64_t value;
  unsigned unit; /* bytes of a fill's element */
  CdStream *other;
  uint64_t position;
  CdMemory *memory;
  struct CdKernel *kernel;
  unsigned grid[3], block, shared;
  char *params;
};

struct CdStream
{
  unsigned id;
  void *handle;
  CdContext *context;
  bool non_blocking, dead;
  CdWork *head, *tail;
  uint64_t submitted, wanted, done;
  CdClock *clock;
  uint64_t host_seen; /* the state of the host's clock that is merged in */
  CdCapture *capture;
  uint64_t captured; /* nodes of this stream in the capture */
  CdClock *capture_clock;
  CdStream *next;
};

CdStream *cd_stream_new (CdContext *context,
                         bool       non_blocking);
/* Streams that are not dead, or have work; first one. */
extern CdStream *cd_streams;
extern uint64_t cd_n_pending;
/* The stream of a handle; NULL sets the result. */
CdStream *cd_stream_find (CuStream  handle,
                          CuResult *result);
/* The same, for queuing work: orders it after what it implicitly waits for. */
CdStream *cd_stream_to_submit (CuStream  handle,
                               CuResult *result);
CdWork *cd_work_new (CdWorkKind kind);
void cd_work_free (CdWork *work);
CuResult cd_submit (CdStream *stream,
                    CdWork   *work);
void cd_queue (CdStream *stream,
               CdWork   *work);
void cd_queue_wait (CdStream *stream,
                    CdStream *other,
                    uint64_t  position);
void cd_want (CdStream *stream,
              uint64_t  position);
CuResult cd_await (CdStream *stream,
                   uint64_t  position);
CuResult cd_await_context (const CdContext *context);
/* The host now knows that this is done. */
void cd_host_learns (CdStream      *stream,
                     uint64_t       position,
                     const CdClock *clock);
bool cd_host_knows (CdPoint point);
void cd_start_worker (void);
uint64_t cd_now (void);
extern bool cd_eager, cd_paused;
extern unsigned cd_delay;

void cd_run (CdWork *work);
bool cd_work_is_ready (CdWork *work,
                       bool   *waits_for_value);
char *cd_reach (CdWork   *work,
                uintptr_t address,
                size_t    size,
                unsigned  access,
                int       device);

/* Events */

typedef struct
{
  void *handle;
  CdContext *context;
  bool dead;
  CdStream *stream; /* NULL: never recorded */
  uint64_t position;
  CdClock *clock;
  CdCapture *capture; /* where it was last recorded, or NULL */
} CdEvent;

/* Capture */

CuResult cd_capture_forbids (void);
/* The error of a call on a stream that captures, 0 if it does not. */
CuResult cd_capture_refuses (CdStream *stream);
CuResult cd_capture_refuses_legacy (const CdContext *context,
                                    bool             harmless);
CuResult cd_capture_add (CdStream *stream,
                         CdWork   *work);
void cd_capture_invalidate (CdCapture *capture);
/* Frees pool memory; also for graphs that run. */
void cd_pool_release (CdStream *stream,
                      CdWork   *work);
bool cd_capture_is_invalid (const CdCapture *capture);
CuResult cd_capture_record (CdStream *stream,
                            CdEvent  *event);
CuResult cd_capture_wait (CdStream *stream,
                          CdEvent  *event);
/* The capture that an event was recorded in and that still goes on. */
CdCapture *cd_event_capture (const CdEvent *event);
void cd_capture_forget_stream (CdStream *stream);

/* Kernels */

struct CdKernel
{
  void *handle;
  CdContext *context;
  struct CdModule *module;
  char *name;
  unsigned n_params;
  unsigned *param_sizes;
};

typedef struct CdModule
{
  void *handle;
  CdContext *context;
  bool dead;
  struct CdKernel *kernels;
  size_t n_kernels;
} CdModule;

/* Reads the entries of PTX into a module. */
CuResult cd_read_ptx (CdModule   *module,
                      const char *text,
                      unsigned    capability);
const CudaDoubleKernel *cd_find_kernel (const char *name);
void cd_run_kernel (CdWork *work);
char *cd_copy_params (const CdWork *work);

/* Counting */
typedef enum
{
  CD_LIVE_STREAM,
  CD_LIVE_EVENT,
  CD_LIVE_MODULE,
  CD_LIVE_POOL,
  CD_LIVE_GRAPH,
  CD_N_LIVE
} CdLive;
extern size_t cd_live[CD_N_LIVE];
