/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <string.h>

#include "mtl-error.h"

G_BEGIN_DECLS

/* As RFC 8259 writes it, and no more: what is open at once is limited, and nothing is
 * taken that only some readers take. A NUL in a string is refused, as names become C
 * strings. */
#define MTL_JSON_MAX_DEPTH 127

/* UTF-8 without a terminating NUL; until the next string is read. */
typedef struct
{
  const char *text;
  gsize size;
} MtlJsonString;

/* Reads what its caller expects next. The first failure stays: after it each call
 * returns FALSE, and the caller takes the error when it is done. */
typedef struct
{
  const char *what; /* that is read, for messages: “header” */
  const char *start;
  const char *at;
  const char *end;
  guint depth;
  gboolean is_entered; /* an object or an array of which nothing was read yet */
  char *decoded; /* the last string that had escapes */
  gsize decoded_size;
  GError *error;
} MtlJsonReader;

void     mtl_json_reader_init         (MtlJsonReader  *self,
                                       const char     *what,
                                       const char     *text,
                                       gsize           size);
void     mtl_json_reader_clear        (MtlJsonReader  *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (MtlJsonReader, mtl_json_reader_clear)

/* Moves to the next member or item, FALSE after the last one, or on failure. */
gboolean mtl_json_reader_enter_object (MtlJsonReader  *self);
gboolean mtl_json_reader_next_member  (MtlJsonReader  *self,
                                       MtlJsonString  *key);
gboolean mtl_json_reader_enter_array  (MtlJsonReader  *self);
gboolean mtl_json_reader_next_item    (MtlJsonReader  *self);

gboolean mtl_json_reader_read_string  (MtlJsonReader  *self,
                                       MtlJsonString  *string);
gboolean mtl_json_reader_read_integer (MtlJsonReader  *self,
                                       gint64         *value);
gboolean mtl_json_reader_read_null    (MtlJsonReader  *self);
gboolean mtl_json_reader_skip_value   (MtlJsonReader  *self);
gboolean mtl_json_reader_check_end    (MtlJsonReader  *self);

gboolean mtl_json_reader_fail         (MtlJsonReader  *self,
                                       MtlError        code,
                                       const char     *format,
                                       ...) G_GNUC_PRINTF (3, 4);
gboolean mtl_json_reader_finish       (MtlJsonReader  *self,
                                       GError        **error);

/* With words that the compiler knows. */
static inline gboolean
mtl_json_string_equal (MtlJsonString  self,
                       const char    *text)
{
  return self.size == strlen (text) && memcmp (self.text, text, self.size) == 0;
}

G_END_DECLS
