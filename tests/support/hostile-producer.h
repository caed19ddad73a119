/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <mtldl/mtldl-dlpack.h>

/* A peer that says what a test tells it to. What it gives away lies in blocks of no more than its
 * size, so that the sanitizer sees any other access. Deleters touch C only. */
typedef struct
{
  gboolean is_legacy;
  gboolean has_deleter;
  DLPackVersion version;
  guint64 flags;
  DLTensor tensor; /* but for the shape and the strides */

  int n_deleted; /* atomic */
} HostileProducer;

typedef struct
{
  gconstpointer numbers; /* 64 bits each, or NULL */
  gsize n;
  gsize shift; /* bytes from where they are aligned */
} HostileDims;

/* The blocks of a tensor. */
typedef struct
{
  HostileProducer *producer;
  gpointer managed;
  gpointer shape;
  gpointer strides;
} HostileExport;

static inline void
hostile_export_free (HostileExport *self)
{
  free (self->managed);
  free (self->shape);
  free (self->strides);
  free (self);
}

static inline void
hostile_export_delete (HostileExport *self)
{
  g_atomic_int_inc (&self->producer->n_deleted);
  hostile_export_free (self);
}

static inline void
hostile_delete_versioned (DLManagedTensorVersioned *managed)
{
  hostile_export_delete (managed->manager_ctx);
}

static inline void
hostile_delete_legacy (DLManagedTensor *managed)
{
  hostile_export_delete (managed->manager_ctx);
}

/* Returns the numbers in a new block. */
static inline gpointer
hostile_dims_new (HostileDims  self,
                  gpointer    *block)
{
  gsize size = self.n * sizeof (gint64);

  *block = NULL;
  if (self.numbers == NULL)
    return NULL;

  *block = malloc (size + self.shift);
  return memcpy ((guint8 *) *block + self.shift, self.numbers, size);
}

/* Makes a tensor. With another version, only the deleter is where it was. */
static inline HostileExport *
hostile_export_new (HostileProducer *producer,
                    HostileDims      shape,
                    HostileDims      strides)
{
  HostileExport *self = malloc (sizeof *self);
  DLTensor tensor = producer->tensor;

  self->producer = producer;
  tensor.shape = hostile_dims_new (shape, &self->shape);
  tensor.strides = hostile_dims_new (strides, &self->strides);
  if (producer->is_legacy)
    {
      DLManagedTensor *managed = self->managed = malloc (sizeof *managed);

      *managed = (DLManagedTensor) {
        tensor, self, producer->has_deleter ? hostile_delete_legacy : NULL,
      };
    }
  else
    {
      gsize size = producer->version.major == 1
                     ? sizeof (DLManagedTensorVersioned)
                     : G_STRUCT_OFFSET (DLManagedTensorVersioned, flags);
      DLManagedTensorVersioned managed = {
        producer->version, self, producer->has_deleter ? hostile_delete_versioned : NULL,
        producer->flags, tensor,
      };

      self->managed = malloc (size);
      memcpy (self->managed, &managed, size);
    }

  return self;
}

/* Memory that ends at a page that traps, and begins behind one if it has whole pages. */
static inline guint8 *
hostile_guarded_new (gsize size)
{
  gsize page = sysconf (_SC_PAGESIZE), whole = (size + page - 1) / page * page;
  guint8 *start = mmap (NULL, 2 * page + whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  if (start == MAP_FAILED || mprotect (start + page, whole, PROT_READ | PROT_WRITE) != 0)
    g_error ("No memory between two pages that trap");

  return start + page + whole - size;
}
