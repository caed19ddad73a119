/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <string.h>

#include "mtl-error.h"

G_BEGIN_DECLS

/* Reads JSON strictly by RFC 8259, without extensions that only some readers accept.
 * Limits the nesting, and rejects NUL in strings, since names become C strings. */
#define MTL_JSON_MAX_DEPTH 127

/* UTF-8, not terminated by NUL; valid until the next string is read. */
typedef struct
{
  const char *text;
  gsize size;
} MtlJsonString;

/* Reads the value that its caller expects next. The first error is kept: after it,
 * each call returns FALSE, and the caller gets the error at the end. */
typedef struct
{
  const char *what; /* the kind of text, for messages: “header” */
  const char *start;
  const char *at;
  const char *end;
  guint depth;
  gboolean is_entered; /* nothing of the object or array was read yet */
  char *decoded; /* the last string with escapes */
  gsize decoded_size;
  GError *error;
} MtlJsonReader;

void     mtl_json_reader_init         (MtlJsonReader  *self,
                                       const char     *what,
                                       const char     *text,
                                       gsize           size);
void     mtl_json_reader_clear        (MtlJsonReader  *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (MtlJsonReader, mtl_json_reader_clear)

/* Moves to the next member or item. Returns FALSE after the last one, or on error. */
gboolean mtl_json_reader_enter_object (MtlJsonReader  *self);
gboolean mtl_json_reader_next_member  (MtlJsonReader  *self,
                                       MtlJsonString  *key);
gboolean mtl_json_reader_enter_array  (MtlJsonReader  *self);
gboolean mtl_json_reader_next_item    (MtlJsonReader  *self);

gboolean mtl_json_reader_read_string  (MtlJsonReader  *self,
                                       MtlJsonString  *string);
gboolean mtl_json_reader_read_integer (MtlJsonReader  *self,
                                       gint64         *value);
gboolean mtl_json_reader_read_unsigned (MtlJsonReader *self,
                                        guint64       *value);
gboolean mtl_json_reader_read_null    (MtlJsonReader  *self);
gboolean mtl_json_reader_skip_value   (MtlJsonReader  *self);
gboolean mtl_json_reader_check_end    (MtlJsonReader  *self);

gboolean mtl_json_reader_fail         (MtlJsonReader  *self,
                                       MtlError        code,
                                       const char     *format,
                                       ...) G_GNUC_PRINTF (3, 4);
gboolean mtl_json_reader_finish       (MtlJsonReader  *self,
                                       GError        **error);

/* Inline, because the compiler knows the text. */
static inline gboolean
mtl_json_string_equal (MtlJsonString  self,
                       const char    *text)
{
  return self.size == strlen (text) && memcmp (self.text, text, self.size) == 0;
}

G_END_DECLS
