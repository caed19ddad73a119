/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-cuda-memory-private.h"

#include <string.h>

#include "mtl-error.h"
#include "mtl-owners-private.h"

/* The driver waits for all work of the context before it frees pinned or managed memory, and
 * takes a millisecond to allocate it. So blocks are kept, up to this many bytes of each kind. */
#define KEPT_BYTES ((gsize) 256 << 20)
#define PAGE_SIZE 4096

/* Kernels may read and write whole words at the end. */
#define WORD_SIZE 16

typedef enum
{
  BLOCK_PINNED,
  BLOCK_MANAGED,
  BLOCK_REGISTERED,
  N_KINDS
} BlockKind;

typedef struct _Block Block;

struct _Block
{
  MtlCudaContext *context;
  BlockKind kind;
  gpointer address;
  gsize size;
  gpointer owner; /* if it is registered */
  GDestroyNotify destroy;
  Block *next;
};

static struct
{
  MtlForkLock lock;    /* protects the fields below */
  GHashTable *used;    /* address → Block */
  Block *kept[N_KINDS];
  gsize n_kept_bytes[N_KINDS];
} blocks;

static void
add_used (Block *block)
{
  mtl_fork_lock (&blocks.lock);
  if (blocks.used == NULL)
    blocks.used = g_hash_table_new (NULL, NULL);
  g_hash_table_insert (blocks.used, block->address, block);
  mtl_fork_unlock (&blocks.lock);
}

static Block *
remove_used (gpointer address)
{
  Block *block;

  mtl_fork_lock (&blocks.lock);
  block = g_hash_table_lookup (blocks.used, address);
  g_hash_table_remove (blocks.used, address);
  mtl_fork_unlock (&blocks.lock);
  return block;
}

/* Takes a block of this size that is kept. */
static Block *
take_kept (MtlCudaContext *context,
           BlockKind       kind,
           gsize           size)
{
  Block **link = &blocks.kept[kind];
  Block *block;

  mtl_fork_lock (&blocks.lock);
  while (*link != NULL && ((*link)->size != size || (*link)->context != context))
    link = &(*link)->next;
  block = *link;
  if (block != NULL)
    {
      *link = block->next;
      blocks.n_kept_bytes[kind] -= size;
    }
  mtl_fork_unlock (&blocks.lock);
  return block;
}

static gboolean
keep (Block *block)
{
  gsize *n_bytes = &blocks.n_kept_bytes[block->kind];
  gboolean is_kept;

  mtl_fork_lock (&blocks.lock);
  is_kept = block->size <= KEPT_BYTES - MIN (*n_bytes, KEPT_BYTES);
  if (is_kept)
    {
      block->next = blocks.kept[block->kind];
      blocks.kept[block->kind] = block;
      *n_bytes += block->size;
    }
  mtl_fork_unlock (&blocks.lock);
  return is_kept;
}

/* Rounds up to one of eight sizes for each power of two, so that blocks of similar sizes replace
 * each other. Returns 0 if there is none. */
static gsize
round_size (gsize size)
{
  gsize unit = PAGE_SIZE;

  if (size > G_MAXSSIZE / 2)
    return 0;

  while (size / unit >= 16)
    unit *= 2;
  return (size + unit - 1) / unit * unit;
}

static CuResult
allocate_block (MtlCudaContext *context,
                BlockKind       kind,
                gsize           size,
                gpointer       *address)
{
  CuAddress managed = 0;
  CuResult result;

  if (kind == BLOCK_PINNED)
    return context->cu->cuMemHostAlloc (address, size,
                                        CU_HOST_ALLOC_PORTABLE | CU_HOST_ALLOC_DEVICE_MAP);

  result = context->cu->cuMemAllocManaged (&managed, size, CU_ATTACH_GLOBAL);
  *address = (gpointer) (guintptr) managed;
  return result;
}

/* Waits for all work of the context. */
static CuResult
free_block (MtlCudaContext *context,
            BlockKind       kind,
            gpointer        address)
{
  if (kind == BLOCK_PINNED)
    return context->cu->cuMemFreeHost (address);
  if (kind == BLOCK_MANAGED)
    return context->cu->cuMemFree_v2 ((guintptr) address);

  return context->cu->cuMemHostUnregister (address);
}

static gboolean
check_allocated (MtlCudaContext  *context,
                 CuResult         result,
                 gsize            size,
                 GError         **error)
{
  g_autofree char *what = g_strdup_printf ("allocate %" G_GSIZE_FORMAT " bytes", size);

  return mtl_cuda_context_check (context, result, what, error);
}

static gpointer
allocate_kept (MtlCudaContext  *context,
               BlockKind        kind,
               gsize            size,
               gboolean         zeroed,
               GError         **error)
{
  gsize rounded = round_size (size);
  Block *block = take_kept (context, kind, rounded);
  gpointer address = NULL;
  CuResult result = CU_OUT_OF_MEMORY;

  if (block == NULL)
    {
      if (rounded > 0)
        result = allocate_block (context, kind, rounded, &address);
      if (!check_allocated (context, result, size, error))
        return NULL;

      block = g_new0 (Block, 1);
      *block = (Block) { context, kind, address, rounded, NULL, NULL, NULL };
    }

  if (zeroed)
    memset (block->address, 0, size);
  add_used (block);
  return block->address;
}

/* If memory is short, memory that was freed goes back to the system first. */
static gpointer
allocate_from_pool (MtlCudaContext  *context,
                    CuStream         stream,
                    gsize            size,
                    gboolean         zeroed,
                    GError         **error)
{
  const MtlCudaDriver *cu = context->cu;
  CuAddress address = 0;
  gsize padded = (size + WORD_SIZE - 1) / WORD_SIZE * WORD_SIZE;
  CuResult result = cu->cuMemAllocFromPoolAsync (&address, padded, context->pool, stream);

  if (result == CU_OUT_OF_MEMORY
      && cu->cuStreamSynchronize (context->releases) == CU_SUCCESS
      && cu->cuStreamSynchronize (context->stream) == CU_SUCCESS
      && cu->cuMemPoolTrimTo (context->pool, 0) == CU_SUCCESS)
    result = cu->cuMemAllocFromPoolAsync (&address, padded, context->pool, stream);

  if (!check_allocated (context, result, size, error))
    return NULL;

  if (zeroed
      && !mtl_cuda_context_check (context, cu->cuMemsetD8Async (address, 0, padded, stream),
                                  "clear memory", error))
    {
      cu->cuMemFreeAsync (address, stream);
      return NULL;
    }

  return (gpointer) (guintptr) address;
}

/* Kernels of the program in the stream that it has pushed find the memory as it is said to be. */
static gpointer
allocate_private (MtlCudaContext  *context,
                  gsize            size,
                  gboolean         zeroed,
                  GError         **error)
{
  gpointer address = allocate_from_pool (context, context->stream, size, zeroed, error);
  CuStream pushed;

  if (address == NULL || !mtl_cuda_context_find_pushed (context, &pushed)
      || mtl_cuda_context_order (context, context->stream, pushed, error))
    return address;

  context->cu->cuMemFreeAsync ((guintptr) address, context->stream);
  return NULL;
}

gpointer
mtl_cuda_memory_allocate (MtlCudaContext  *context,
                          gsize            size,
                          MtlStorageMode   mode,
                          gboolean         zeroed,
                          GError         **error)
{
  g_auto (MtlCudaScope) scope = { NULL };

  if (!mtl_cuda_scope_enter (&scope, context, error))
    return NULL;

  if (mode == MTL_STORAGE_MODE_PRIVATE)
    return allocate_private (context, size, zeroed, error);

  return allocate_kept (context, mode == MTL_STORAGE_MODE_SHARED ? BLOCK_PINNED : BLOCK_MANAGED,
                        size, zeroed, error);
}

/* A graph would allocate the memory when it runs. */
gpointer
mtl_cuda_work_allocate (const MtlCudaWork  *work,
                        gsize               size,
                        GError            **error)
{
  return mtl_cuda_work_check_runs (work, "allocate memory", error)
           ? allocate_from_pool (work->context, work->stream, size, FALSE, error) : NULL;
}

void
mtl_cuda_work_free (const MtlCudaWork *work,
                    gpointer           address)
{
  work->context->cu->cuMemFreeAsync ((guintptr) address, work->stream);
}

gboolean
mtl_cuda_memory_register (MtlCudaContext  *context,
                          gpointer         data,
                          gsize            size,
                          gpointer         owner,
                          GDestroyNotify   destroy,
                          GError         **error)
{
  const guint flags = CU_REGISTER_PORTABLE | CU_REGISTER_DEVICE_MAP | CU_REGISTER_READ_ONLY;
  g_autoptr (GError) local_error = NULL;
  g_auto (MtlCudaScope) scope = { NULL };
  CuResult result;
  Block *block;

  if (!context->registers_read_only)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                   "“%s” cannot use memory that is read-only in place", context->name);
      return FALSE;
    }

  if (!mtl_cuda_scope_enter (&scope, context, error))
    return FALSE;

  result = context->cu->cuMemHostRegister_v2 (data, size, flags);
  if (!mtl_cuda_context_check (context, result, "use the pages of a file in place", &local_error))
    {
      g_set_error_literal (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED, local_error->message);
      return FALSE;
    }

  block = g_new0 (Block, 1);
  *block = (Block) { context, BLOCK_REGISTERED, data, size, owner, destroy, NULL };
  add_used (block);
  return TRUE;
}

/* Memory that is no longer used, except by work that was queued before an event */
typedef struct
{
  MtlCudaContext *context;
  CuEvent event; /* or NULL */
  Block *block;  /* or NULL, and then there is an owner */
  gpointer owner;
  GDestroyNotify destroy;
} Release;

static void
forget_block (Block *block)
{
  if (block->destroy != NULL)
    block->destroy (block->owner);
  g_free (block);
}

static void
end_block (Block *block)
{
  if (block->kind != BLOCK_REGISTERED && keep (block))
    return;

  free_block (block->context, block->kind, block->address);
  forget_block (block);
}

/* Work that failed is over as well, but the wait itself may fail. */
static void
await_event (MtlCudaContext *context,
             CuEvent         event)
{
  if (context->cu->cuEventSynchronize (event) != CU_SUCCESS)
    context->cu->cuStreamSynchronize (context->releases);
  mtl_cuda_context_give_back_event (context, event);
}

static void
end_release (gpointer data)
{
  Release *self = data;
  g_auto (MtlCudaScope) scope = { NULL };

  if (mtl_cuda_scope_enter (&scope, self->context, NULL))
    {
      if (self->event != NULL)
        await_event (self->context, self->event);
      if (self->block != NULL)
        end_block (self->block);
    }
  else if (self->block != NULL)
    forget_block (self->block);
  mtl_cuda_scope_leave (&scope);

  if (self->destroy != NULL)
    self->destroy (self->owner);
  g_free (self);
}

/* Waits in a thread that nobody waits for. */
static void
release_later (const Release *what)
{
  Release *self = g_new (Release, 1);
  MtlOwner *later;

  *self = *what;
  later = mtl_owner_new (self, end_release, NULL);
  if (later != NULL)
    mtl_owner_end_later (later);
  else
    end_release (self);
}

/* Lets the stream for releases wait for all streams that may use the memory. */
static void
await_uses (MtlCudaContext      *context,
            const MtlDeviceUses *uses)
{
  mtl_cuda_context_order_always (context, context->stream, context, context->releases);
  for (const MtlStreamUse *use = uses->streams; use != NULL; use = use->next)
    mtl_cuda_context_order_always (use->context, mtl_cuda_to_stream (use->stream), context,
                                   context->releases);
}

/* The event after which the memory is not in use, or NULL if it is not now */
static CuEvent
record_end_of_use (MtlCudaContext      *context,
                   const MtlDeviceUses *uses)
{
  CuEvent event;

  if (uses->streams == NULL && context->cu->cuStreamQuery (context->stream) == CU_SUCCESS)
    return NULL;

  await_uses (context, uses);
  event = mtl_cuda_context_record (context, context->releases, NULL);
  if (event == NULL)
    mtl_cuda_context_wait (context, context->releases, NULL, NULL);
  return event;
}

static void
free_to_pool (MtlCudaContext      *context,
              gpointer             address,
              const MtlDeviceUses *uses)
{
  CuStream stream = context->stream;

  if (uses->streams != NULL)
    {
      await_uses (context, uses);
      stream = context->releases;
    }

  context->cu->cuMemFreeAsync ((guintptr) address, stream);
}

/* In a child of the process that allocated it, the memory is left alone. */
void
mtl_cuda_memory_free (MtlCudaContext      *context,
                      gpointer             address,
                      MtlStorageMode       mode,
                      const MtlDeviceUses *uses)
{
  g_auto (MtlCudaScope) scope = { NULL };
  Release release = { .context = context };

  if (!mtl_cuda_scope_enter (&scope, context, NULL))
    return;

  if (mode == MTL_STORAGE_MODE_PRIVATE)
    {
      free_to_pool (context, address, uses);
      return;
    }

  release.block = remove_used (address);
  release.event = record_end_of_use (context, uses);
  if (release.event != NULL || release.block->kind == BLOCK_REGISTERED || !keep (release.block))
    release_later (&release);
}

void
mtl_cuda_memory_end_owner (MtlCudaContext      *context,
                           const MtlDeviceUses *uses,
                           gpointer             owner,
                           GDestroyNotify       destroy)
{
  g_auto (MtlCudaScope) scope = { NULL };
  Release release = { .context = context, .owner = owner, .destroy = destroy };

  if ((uses->is_queued || uses->streams != NULL)
      && mtl_cuda_scope_enter (&scope, context, NULL))
    release.event = record_end_of_use (context, uses);
  mtl_cuda_scope_leave (&scope);

  if (release.event != NULL)
    release_later (&release);
  else
    destroy (owner);
}

CuResult
mtl_cuda_memory_find (const MtlCudaDriver *cu,
                      gpointer             address,
                      MtlCudaPlace        *place)
{
  CuEnum attributes[] = { CU_POINTER_MEMORY_TYPE, CU_POINTER_HOST_POINTER, CU_POINTER_IS_MANAGED,
                          CU_POINTER_DEVICE_ORDINAL, CU_POINTER_RANGE_START,
                          CU_POINTER_RANGE_SIZE };
  CuEnum type = 0;
  gpointer host = NULL;
  guint managed = 0;
  int ordinal = -1;
  CuAddress start = 0;
  gsize size = 0;
  gpointer values[] = { &type, &host, &managed, &ordinal, &start, &size };
  CuResult result = cu->cuPointerGetAttributes (G_N_ELEMENTS (attributes), attributes, values,
                                                (guintptr) address);

  *place = (MtlCudaPlace) { .is_known = FALSE };
  if (result != CU_SUCCESS || (type != CU_MEMORY_HOST && type != CU_MEMORY_DEVICE) || ordinal < 0)
    return result;

  *place = (MtlCudaPlace) {
    .is_known = TRUE,
    .ordinal = ordinal,
    .mode = managed != 0           ? MTL_STORAGE_MODE_MANAGED
            : type == CU_MEMORY_HOST ? MTL_STORAGE_MODE_SHARED
                                     : MTL_STORAGE_MODE_PRIVATE,
    .contents = host,
    .start = start,
    .size = start != 0 ? size : 0,
  };
  return CU_SUCCESS;
}
