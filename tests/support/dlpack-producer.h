/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "dlpack-structs.h"
#include "test-utils.h"

/* A peer that gives tensors away, and counts how often each comes back. */
typedef struct
{
  DLManagedTensorVersioned versioned;
  DLManagedTensor legacy;
  int64_t shape[4];
  int64_t strides[4];
  float data[24];
  int n_deleted;
  GThread *deleted_by;
} Producer;

static inline void
producer_delete_versioned (DLManagedTensorVersioned *managed)
{
  Producer *self = managed->manager_ctx;

  self->n_deleted++;
  self->deleted_by = g_thread_self ();
}

static inline void
producer_delete_legacy (DLManagedTensor *managed)
{
  Producer *self = managed->manager_ctx;

  self->n_deleted++;
  self->deleted_by = g_thread_self ();
}

/* A (2, 3) float32 tensor of 0, 1, 2, … in C order, of both forms. */
static inline void
producer_init (Producer *self)
{
  memset (self, 0, sizeof *self);
  for (int i = 0; i < 24; i++)
    self->data[i] = i;
  self->shape[0] = 2;
  self->shape[1] = 3;
  self->strides[0] = 3;
  self->strides[1] = 1;

  self->versioned.version = (DLPackVersion) { 1, 0 };
  self->versioned.manager_ctx = self;
  self->versioned.deleter = producer_delete_versioned;
  self->versioned.dl_tensor = (DLTensor) {
    .data = self->data,
    .device = { 1, 0 },
    .ndim = 2,
    .dtype = { 2, 32, 1 },
    .shape = self->shape,
    .strides = self->strides,
  };

  self->legacy.dl_tensor = self->versioned.dl_tensor;
  self->legacy.manager_ctx = self;
  self->legacy.deleter = producer_delete_legacy;
}
