/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Controls of the double of CUDA's driver, for tests in C and through an FFI.
 *
 * A program uses the double if MTL_CUDA_LIBRARY is its path. For programs in other languages, these
 * variables of the environment are read at cuInit():
 *   CUDA_DOUBLE=N           the number of devices, 1 unless set; 0: cuInit() returns 100
 *   CUDA_DOUBLE_INIT=CODE   cuInit() returns this
 *   CUDA_DOUBLE_VERSION=N   the driver's version, 13000 unless set
 *   CUDA_DOUBLE_DEVICE=LIST names of cuda_double_set_attribute() and values, with commas, such as
 *       memory-pools=0,capability=75; 1:memory-pools=0 is for the second device only
 *   CUDA_DOUBLE_MEMORY=N    the bytes of each device
 *   CUDA_DOUBLE_EAGER=1     work runs at once
 *   CUDA_DOUBLE_DELAY=MS    work runs after so long
 *   CUDA_DOUBLE_REUSE=1     as cuda_double_set_reuse()
 *   CUDA_DOUBLE_JIT=CODE    cuModuleLoadData() returns this for PTX: 221 or 223
 *   CUDA_DOUBLE_FAIL=FUNCTION:K=CODE   the Kth call of a function fails, once
 *   CUDA_DOUBLE_ABORT=0     violations do not end the program
 *   CUDA_DOUBLE_LEAKS=1     lists on stderr what is alive at exit */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda-double-kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CUDA_DOUBLE_API __attribute__ ((visibility ("default")))

/* Fresh memory has the first value in each byte, freed memory the second. In memory of more than
 * 64 MiB only the first and the last 32 MiB have them. */
#define CUDA_DOUBLE_FRESH 0xa5
#define CUDA_DOUBLE_FREED 0xdf

/* The machine. Devices are counted when cuInit() first succeeds. */
CUDA_DOUBLE_API void cuda_double_set_devices (unsigned n);
/* The attributes are "unified-addressing", "integrated", "capability" (such as 90), "managed",
 * "concurrent-managed", "registered-same-address", "register-read-only", "memory-pools",
 * "stream-values-64" and "memory", in bytes. The ordinal -1 stands for all devices. False: there is
 * no such attribute. */
CUDA_DOUBLE_API bool cuda_double_set_attribute (int         ordinal,
                                                const char *name,
                                                uint64_t    value);
CUDA_DOUBLE_API void cuda_double_set_version (int version);
/* cuInit() returns this code, until it is 0 again. */
CUDA_DOUBLE_API void cuda_double_set_init_result (unsigned code);
/* cuModuleLoadData() returns this code for PTX: 221 without a compiler, 223 if that is disabled. */
CUDA_DOUBLE_API void cuda_double_set_jit_result (unsigned code);
/* Kernels for tests; the description has to stay. */
CUDA_DOUBLE_API void cuda_double_add_kernel (const CudaDoubleKernel *kernel);

/* A violation is a use of CUDA that is wrong, or right by luck. It is told on stderr and ends the
 * program, unless that is switched off here; the call then returns an error, and queued work ends
 * in one. */
CUDA_DOUBLE_API void cuda_double_set_abort (bool abort_on_violation);
CUDA_DOUBLE_API unsigned cuda_double_violations (void);
/* The last one in this thread's view; valid until its next call. */
CUDA_DOUBLE_API const char *cuda_double_last_violation (void);
/* The use of a destroyed stream is error 400, and a violation only if that is asked for here, as a
 * consumer's stream may be gone. */
CUDA_DOUBLE_API void cuda_double_set_strict_streams (bool strict);
CUDA_DOUBLE_API unsigned cuda_double_dead_streams_used (void);

/* Work runs when somebody waits for it or asks after it, or if other work that runs waits for it.
 * Eager: at once. A delay: by itself after so many milliseconds; UINT_MAX: never. */
CUDA_DOUBLE_API void cuda_double_set_eager (bool eager);
CUDA_DOUBLE_API void cuda_double_set_delay (unsigned milliseconds);
/* The devices execute nothing between these. */
CUDA_DOUBLE_API void cuda_double_pause (void);
CUDA_DOUBLE_API void cuda_double_resume (void);
/* Runs all that is queued, and returns when only such work is left as waits for a value. */
CUDA_DOUBLE_API void cuda_double_quiesce (void);
/* The number of queued works that are not done: of a stream's handle, or of all for NULL. */
CUDA_DOUBLE_API uint64_t cuda_double_pending (void *stream);

/* Calls that wait for the device: by this thread, or by all. They count even if there is nothing to
 * wait for. NULL: those of all functions. */
CUDA_DOUBLE_API unsigned cuda_double_waits (const char *function);
CUDA_DOUBLE_API unsigned cuda_double_waits_of_all_threads (const char *function);
/* The number of calls of a function, by the name that is exported; NULL: of all. */
CUDA_DOUBLE_API unsigned cuda_double_calls (const char *function);
/* The number of contexts that this thread has pushed and not popped. */
CUDA_DOUBLE_API unsigned cuda_double_context_depth (void);

/* The mode that this thread has exchanged last: 0 global, 1 thread-local, 2 relaxed. */
CUDA_DOUBLE_API unsigned cuda_double_capture_mode (void);

/* Each call that can fail is a point. This lets the nth one from here fail, once; 1: the next,
 * 0: none. A call that frees or destroys does so, and then returns the code. */
CUDA_DOUBLE_API void cuda_double_fail_at (unsigned nth,
                                          unsigned code);
/* The number of points that were passed since. */
CUDA_DOUBLE_API unsigned cuda_double_points (void);
/* Lets the kth call of a function from here fail, once. */
CUDA_DOUBLE_API void cuda_double_fail_function (const char *function,
                                                unsigned    kth,
                                                unsigned    code);
/* The nth work from here that runs ends in this error, which stays. */
CUDA_DOUBLE_API void cuda_double_fail_work (unsigned nth,
                                            unsigned code);
/* An error that stays: all calls return it from now on, but for those that ask after devices. */
CUDA_DOUBLE_API void cuda_double_set_error (unsigned code);

/* Pools hand out freed memory again, as a driver does, if the new owner's stream is ordered after
 * the free. Else no address is ever used twice. */
CUDA_DOUBLE_API void cuda_double_set_reuse (bool reuse);
/* The bytes that pools hold without anybody using them. */
CUDA_DOUBLE_API uint64_t cuda_double_pool_cached (void);
CUDA_DOUBLE_API uint64_t cuda_double_pool_threshold (void *pool);

/* Objects alive: "device-memory", "pool-memory", "pinned", "managed", "registered", "stream",
 * "event", "module", "pool", "graph"; NULL: all of them. */
CUDA_DOUBLE_API size_t cuda_double_live (const char *kind);
CUDA_DOUBLE_API uint64_t cuda_double_live_bytes (const char *kind);
/* Writes a line for each on stderr. */
CUDA_DOUBLE_API void cuda_double_list_live (void);
/* Reads or writes device memory behind the driver's back, without any work; false: this range is
 * not within memory that is alive. */
CUDA_DOUBLE_API bool cuda_double_peek (unsigned long long address,
                                       void              *bytes,
                                       size_t             size);
CUDA_DOUBLE_API bool cuda_double_poke (unsigned long long address,
                                       const void        *bytes,
                                       size_t             size);

#ifdef __cplusplus
}
#endif
