/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-dlpack-abi.h"
#include "mtl-dtype.h"

G_BEGIN_DECLS

/* DLPack's description of an element, whether or not the type has a name. Only
 * elements of less than a byte can be padded. */
typedef struct
{
  guint8 code;
  guint8 bits;
  guint16 lanes;
  gboolean padded;
} MtlElementType;

const char *mtl_dtype_get_name              (MtlDType     self);
gboolean    mtl_dtype_check                 (MtlDType     self,
                                             GError     **error);

/* Names in files of safetensors. The text needs no NUL; NULL if there is no name. */
MtlDType    mtl_dtype_from_safetensors_name (const char  *name,
                                             gsize        size);
const char *mtl_dtype_get_safetensors_name  (MtlDType     self);

static inline MtlElementType
mtl_element_type_new (MtlDType dtype)
{
  return (MtlElementType) { .code = dtype >> 8, .bits = dtype & 0xff, .lanes = 1 };
}

static inline gboolean
mtl_element_type_equal (MtlElementType a,
                        MtlElementType b)
{
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes && a.padded == b.padded;
}

/* The bits of one lane in memory. A padded lane takes a whole byte. */
static inline guint32
mtl_element_type_get_lane_bits (MtlElementType self)
{
  return self.padded ? 8 : self.bits;
}

static inline guint32
mtl_element_type_get_item_bits (MtlElementType self)
{
  return mtl_element_type_get_lane_bits (self) * self.lanes;
}

/* The size of a number in bytes: of each part of a complex number, and 1 for packed
 * numbers of less than a byte. */
static inline guint
mtl_element_type_get_number_size (MtlElementType self)
{
  return MAX (self.bits / (self.code == kDLComplex ? 16 : 8), 1);
}

MtlDType mtl_element_type_get_dtype (MtlElementType self);
char    *mtl_element_type_to_string (MtlElementType self);

G_END_DECLS
