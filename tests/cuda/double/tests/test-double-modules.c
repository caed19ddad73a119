/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Modules of PTX, and kernels, which run on the host. */

#include "test-double.h"

#define HEAD ".version 6.0\n.target sm_50\n.address_size 64\n"
#define BODY "{\n.reg .b32 %r<2>;\nret;\n}\n"
/* Adds a number to each of n words: one block is as good as many. */
#define ADD \
  HEAD "// A comment with { and .visible .entry none()\n" \
  "/* and another } */\n" \
  ".visible .entry test_add(\n" \
  ".param .u64 .ptr .global .align 4 test_add_param_0,\n" \
  ".param .align 8 .b8 test_add_param_1[16],\n" \
  ".param .u32 test_add_param_2\n)\n.maxntid 256, 1, 1\n" BODY \
  ".visible .entry test_nothing()\n" BODY ".entry hidden()\n" BODY

typedef struct
{
  uint64_t source, n;
} Plan;

static struct
{
  unsigned grid[3], block, shared;
} seen;

static void
run_add (unsigned grid_x,
         unsigned grid_y,
         unsigned grid_z,
         unsigned block_x,
         unsigned shared_bytes,
         void   **params,
         void *(*reach) (void              *context,
                         unsigned long long address,
                         size_t             size,
                         int                is_write),
         void *reach_context)
{
  unsigned long long to = *(unsigned long long *) params[0];
  const Plan *plan = params[1];
  uint32_t number = *(uint32_t *) params[2];

  seen.grid[0] = grid_x;
  seen.grid[1] = grid_y;
  seen.grid[2] = grid_z;
  seen.block = block_x;
  seen.shared = shared_bytes;
  for (uint64_t i = 0; i < plan->n; i++)
    {
      const uint32_t *word = reach (reach_context, plan->source + 4 * i, 4, 0);
      uint32_t *sum = word != NULL ? reach (reach_context, to + 4 * i, 4, 1) : NULL;

      if (sum == NULL)
        return;
      *sum = *word + number;
    }
}

static const unsigned add_sizes[] = { 8, 16, 4 };
static const CudaDoubleKernel add = { "test_add", 3, add_sizes, run_add };

static CuModule module;
static CuFunction function;
static CuStream stream;

static void
begin_kernels (void)
{
  dbl.add_kernel (&add);
  begin ();
  stream = new_stream ();
  MUST (cu.cuModuleLoadData (&module, ADD));
  MUST (cu.cuModuleGetFunction (&function, module, "test_add"));
}

static CuResult
launch (CuAddress to,
        CuAddress from,
        uint64_t  n,
        uint32_t  number,
        CuStream  in)
{
  Plan plan = { from, n };
  void *params[] = { &to, &plan, &number };

  return cu.cuLaunchKernel (function, 3, 2, 1, 128, 1, 1, 64, in, params, NULL);
}

static void
test_kernel (void)
{
  CuAddress from, to;
  uint32_t *pinned;

  begin_kernels ();
  from = new_memory (40);
  to = new_memory (40);
  pinned = new_pinned (40);
  MUST (cu.cuMemsetD32Async (from, 40, 10, stream));
  MUST (launch (to, from, 10, 2, stream)); /* the parameters were read now */
  EXPECT (2, dbl.pending (stream));
  EXPECT (42, read_word (to + 36, stream));
  CHECK (seen.grid[0] == 3 && seen.grid[1] == 2 && seen.grid[2] == 1);
  CHECK (seen.block == 128 && seen.shared == 64);
  MUST (launch (ADDRESS (pinned), to, 10, 1, stream));
  MUST (cu.cuStreamSynchronize (stream));
  EXPECT (43, pinned[9]);
  MUST (cu.cuMemFree_v2 (from));
  MUST (cu.cuMemFree_v2 (to));
  MUST (cu.cuMemFreeHost (pinned));
  MUST (cu.cuStreamDestroy_v2 (stream));
  MUST (cu.cuModuleUnload (module));
  end ();
}

static void
test_kernel_in_graph (void)
{
  CuAddress memory;
  CuGraph graph;
  CuGraphExec exec;

  begin_kernels ();
  memory = new_memory (4);
  MUST (cu.cuMemsetD32Async (memory, 40, 1, stream));
  MUST (cu.cuStreamSynchronize (stream));
  MUST (cu.cuStreamBeginCapture_v2 (stream, CU_CAPTURE_MODE_GLOBAL));
  MUST (launch (memory, memory, 1, 1, stream));
  MUST (cu.cuStreamEndCapture (stream, &graph));
  MUST (cu.cuGraphInstantiateWithFlags (&exec, graph, 0));
  MUST (cu.cuGraphDestroy (graph));
  MUST (cu.cuGraphLaunch (exec, stream));
  MUST (cu.cuGraphLaunch (exec, stream));
  EXPECT (42, read_word (memory, stream));
  MUST (cu.cuGraphExecDestroy (exec));
  MUST (cu.cuMemFree_v2 (memory));
  MUST (cu.cuStreamDestroy_v2 (stream));
  MUST (cu.cuModuleUnload (module));
  end ();
}

/* A kernel reaches memory of its device that is alive, ordered, and within bounds. */
static void
test_reach (void)
{
  CuAddress memory, from_pool, other;
  CuContext second;
  CuStream side;
  uint32_t own[4];

  dbl.set_devices (2);
  begin_kernels ();
  memory = new_memory (40);
  side = new_stream ();
#define FAILS(code, call) \
  do \
    { \
      MUST (call); \
      VIOLATES (code, cu.cuStreamSynchronize (stream)); \
      dbl.set_error (CU_SUCCESS); \
    } \
  while (0)
  FAILS (CU_ILLEGAL_ADDRESS, launch (memory, memory, 11, 1, stream));
  FAILS (CU_ILLEGAL_ADDRESS, launch (memory + 38, memory, 1, 1, stream));
  FAILS (CU_ILLEGAL_ADDRESS, launch (memory, ADDRESS (own), 1, 1, stream));
  FAILS (CU_ILLEGAL_ADDRESS, launch (0, memory, 1, 1, stream));
  MUST (cu.cuMemAllocFromPoolAsync (&from_pool, 40, new_pool (0), side));
  FAILS (CU_LAUNCH_FAILED, launch (memory, from_pool, 1, 1, stream));
  MUST (cu.cuDevicePrimaryCtxRetain (&second, 1));
  MUST (cu.cuCtxPushCurrent_v2 (second));
  other = new_memory (40);
  MUST (cu.cuCtxPopCurrent_v2 (NULL));
  FAILS (CU_ILLEGAL_ADDRESS, launch (memory, other, 1, 1, stream));
  MUST (cu.cuMemFree_v2 (memory));
  FAILS (CU_ILLEGAL_ADDRESS, launch (memory, memory, 1, 1, stream));
}

static void
test_wrong_launches (void)
{
  CuAddress memory;
  CuFunction nothing, unknown;
  CuContext second;
  CuModule wrong;
  Plan plan = { 0, 0 };
  uint32_t number = 0;
  void *params[] = { &memory, &plan, &number }, *short_of_one[] = { &memory, NULL, &number };

  dbl.set_devices (2);
  begin_kernels ();
  memory = new_memory (4);
#define LAUNCH(gx, gy, gz, bx, by, bz, shared) \
  cu.cuLaunchKernel (function, gx, gy, gz, bx, by, bz, shared, stream, params, NULL)
  EXPECT (CU_INVALID_VALUE, LAUNCH (0, 1, 1, 1, 1, 1, 0));
  EXPECT (CU_INVALID_VALUE, LAUNCH (1, 0, 1, 1, 1, 1, 0));
  EXPECT (CU_INVALID_VALUE, LAUNCH (1, 1, 0, 1, 1, 1, 0));
  EXPECT (CU_INVALID_VALUE, LAUNCH (0x80000000, 1, 1, 1, 1, 1, 0));
  EXPECT (CU_INVALID_VALUE, LAUNCH (1, 65536, 1, 1, 1, 1, 0));
  EXPECT (CU_INVALID_VALUE, LAUNCH (1, 1, 65536, 1, 1, 1, 0));
  EXPECT (CU_INVALID_VALUE, LAUNCH (1, 1, 1, 0, 1, 1, 0));
  EXPECT (CU_INVALID_VALUE, LAUNCH (1, 1, 1, 1025, 1, 1, 0));
  EXPECT (CU_INVALID_VALUE, LAUNCH (1, 1, 1, 512, 4, 1, 0));
  EXPECT (CU_INVALID_VALUE, LAUNCH (1, 1, 1, 1, 1, 65, 0));
  EXPECT (CU_INVALID_VALUE, LAUNCH (1, 1, 1, 1, 1, 1, 49153));
  VIOLATES (CU_NOT_SUPPORTED, LAUNCH (1, 1, 1, 2, 2, 1, 0));
  MUST (LAUNCH (0x7fffffff, 65535, 65535, 1024, 1, 1, 49152));
  MUST (cu.cuStreamSynchronize (stream));
  VIOLATES (CU_INVALID_VALUE,
            cu.cuLaunchKernel (function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
  VIOLATES (CU_INVALID_VALUE,
            cu.cuLaunchKernel (function, 1, 1, 1, 1, 1, 1, 0, stream, short_of_one, NULL));

  MUST (cu.cuModuleGetFunction (&nothing, module, "test_nothing"));
  VIOLATES (CU_NOT_SUPPORTED,
            cu.cuLaunchKernel (nothing, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
  MUST (cu.cuDevicePrimaryCtxRetain (&second, 1));
  MUST (cu.cuCtxPushCurrent_v2 (second));
  VIOLATES (CU_INVALID_HANDLE, launch (memory, memory, 1, 1, NULL));
  MUST (cu.cuCtxPopCurrent_v2 (NULL));
  MUST (cu.cuModuleUnload (module));
  VIOLATES (CU_INVALID_HANDLE, launch (memory, memory, 1, 1, stream));
  VIOLATES (CU_INVALID_HANDLE, cu.cuModuleUnload (module));
  VIOLATES (CU_INVALID_HANDLE, cu.cuModuleGetFunction (&unknown, module, "test_add"));
  MUST (cu.cuModuleLoadData (&wrong, HEAD ".visible .entry test_add(.param .u64 a)" BODY));
  VIOLATES (CU_INVALID_PTX, cu.cuModuleGetFunction (&unknown, wrong, "test_add"));
}

static void
test_functions (void)
{
  CuModule loaded;
  CuFunction a, b;

  begin ();
  MUST (cu.cuModuleLoadData (&loaded, ADD));
  MUST (cu.cuModuleGetFunction (&a, loaded, "test_nothing"));
  MUST (cu.cuModuleGetFunction (&b, loaded, "test_nothing"));
  CHECK (a == b);
  EXPECT (CU_NOT_FOUND, cu.cuModuleGetFunction (&a, loaded, "none"));
  EXPECT (CU_NOT_FOUND, cu.cuModuleGetFunction (&a, loaded, "test_add_param_0"));
  EXPECT (CU_NOT_FOUND, cu.cuModuleGetFunction (&a, loaded, ""));
  MUST (cu.cuModuleUnload (loaded));
  end ();
}

/* Only the double finds no entries that are not visible. */
static void
test_hidden (void)
{
  CuModule loaded;
  CuFunction found;

  begin ();
  MUST (cu.cuModuleLoadData (&loaded, ADD));
  EXPECT (CU_NOT_FOUND, cu.cuModuleGetFunction (&found, loaded, "hidden"));
  MUST (cu.cuModuleUnload (loaded));
  end ();
}

static CuResult
load (const char *text)
{
  CuModule loaded;
  CuResult result = cu.cuModuleLoadData (&loaded, text);

  if (result == CU_SUCCESS)
    MUST (cu.cuModuleUnload (loaded));
  return result;
}

static void
test_text (void)
{
  begin ();
  MUST (load (HEAD));
  EXPECT (CU_INVALID_IMAGE, load (""));
  EXPECT (CU_INVALID_IMAGE, load ("no PTX"));
  EXPECT (CU_INVALID_PTX, load (".version 6.0\n.target sm_50\n.address_size 64\nnonsense {"));
  EXPECT (CU_UNSUPPORTED_PTX_VERSION, load (".version 99.0\n.target sm_50\n.address_size 64\n"));
  end ();
}

static void
test_strict_text (void)
{
  begin ();
  EXPECT (CU_INVALID_PTX, load (".version\n"));
  EXPECT (CU_INVALID_PTX, load (".version six\n"));
  EXPECT (CU_INVALID_PTX, load (".version 6.0\n"));
  EXPECT (CU_INVALID_PTX, load (".version 6.0\n.target gfx90\n.address_size 64\n"));
  EXPECT (CU_INVALID_PTX, load (".version 6.0\n.target sm_50\n"));
  EXPECT (CU_INVALID_PTX, load (".version 6.0\n.target sm_50\n.address_size 32\n"));
  EXPECT (CU_INVALID_PTX, load (HEAD ".visible .entry a(.param .u64 x" BODY));
  EXPECT (CU_INVALID_PTX, load (HEAD ".visible .entry a(.u64 x)" BODY));
  EXPECT (CU_INVALID_PTX, load (HEAD ".visible .entry a() { ret; } }"));
  EXPECT (CU_INVALID_PTX, load (HEAD ".visible .entry a() { ret; "));
  MUST (load ("// before\n" HEAD ".file 1 \"a } name\"\n"));

  EXPECT (CU_NO_BINARY_FOR_GPU, load (".version 6.0\n.target sm_91\n.address_size 64\n"));
  MUST (load (".version 6.0\n.target sm_90\n.address_size 64\n"));
  MUST (load (".version 8.0\n.target sm_90a\n.address_size 64\n"));
  EXPECT (CU_NO_BINARY_FOR_GPU, load (".version 8.0\n.target sm_80a\n.address_size 64\n"));
  dbl.set_attribute (0, "capability", 75);
  EXPECT (CU_NO_BINARY_FOR_GPU, load (".version 6.0\n.target sm_80\n.address_size 64\n"));
  end ();
}

static void
test_versions (void)
{
  static const struct
  {
    int cuda;
    const char *newest, *newer;
  } list[] = {
    { 11020, "7.2", "7.3" }, { 11080, "7.8", "8.0" }, { 12000, "8.0", "8.1" },
    { 12040, "8.4", "8.5" }, { 12060, "8.5", "8.6" }, { 12080, "8.7", "8.8" },
    { 12090, "8.8", "9.0" }, { 13000, "9.0", "9.1" }, { 13020, "9.2", "9.3" },
  };
  char text[100];
  int version;

  begin ();
  for (size_t i = 0; i < sizeof list / sizeof *list; i++)
    {
      dbl.set_version (list[i].cuda);
      MUST (cu.cuDriverGetVersion (&version));
      EXPECT (list[i].cuda, version);
      snprintf (text, sizeof text, ".version %s .target sm_50 .address_size 64", list[i].newest);
      MUST (load (text));
      snprintf (text, sizeof text, ".version %s .target sm_50 .address_size 64", list[i].newer);
      EXPECT (CU_UNSUPPORTED_PTX_VERSION, load (text));
    }
  end ();
}

static void
test_no_jit (void)
{
  begin ();
  dbl.set_jit_result (CU_JIT_COMPILER_NOT_FOUND);
  EXPECT (CU_JIT_COMPILER_NOT_FOUND, load (HEAD));
  EXPECT (CU_INVALID_IMAGE, load ("no PTX"));
  dbl.set_jit_result (CU_JIT_COMPILATION_DISABLED);
  EXPECT (CU_JIT_COMPILATION_DISABLED, load (HEAD));
  dbl.set_jit_result (CU_SUCCESS);
  MUST (load (HEAD));
  end ();
}

/* Loading and unloading wait for all work of the context. */
static void
test_loads_wait (void)
{
  CuAddress memory;
  CuModule loaded;

  begin ();
  stream = new_stream ();
  memory = new_memory (4);
  MUST (cu.cuMemsetD8Async (memory, 0, 4, stream));
  MUST (cu.cuModuleLoadData (&loaded, HEAD));
  EXPECT (0, dbl.pending (stream));
  EXPECT (1, dbl.live ("module"));
  MUST (cu.cuMemsetD8Async (memory, 0, 4, stream));
  MUST (cu.cuModuleUnload (loaded));
  EXPECT (0, dbl.pending (stream));
  EXPECT (1, dbl.waits ("cuModuleLoadData"));
  EXPECT (1, dbl.waits ("cuModuleUnload"));
  MUST (cu.cuMemFree_v2 (memory));
  MUST (cu.cuStreamDestroy_v2 (stream));
  end ();
}

static const Case cases[] = {
  { "kernel", test_kernel },
  { "kernel-in-graph", test_kernel_in_graph },
  { "reach", test_reach },
  { "wrong-launches", test_wrong_launches },
  { "functions", test_functions, true },
  { "hidden", test_hidden },
  { "text", test_text, true },
  { "strict-text", test_strict_text },
  { "versions", test_versions },
  { "no-jit", test_no_jit },
  { "loads-wait", test_loads_wait },
};

RUN_CASES (cases)
