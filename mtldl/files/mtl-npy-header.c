/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-npy-header-private.h"

#include <string.h>

#include "mtl-element-type-private.h"
#include "mtl-error-private.h"
#include "mtl-message-text-private.h"

#define MARK "\x93NUMPY"
#define MARK_SIZE 6
#define MAX_ITEM_SIZE 16

static guint32
load_le (const guint8 *bytes,
         gsize         n)
{
  guint32 value = 0;

  while (n-- > 0)
    value = value << 8 | bytes[n];

  return value;
}

/* The prefix holds the first bytes of a file or a member; fewer than 12 only if it has
 * no more. */
gboolean
mtl_npy_header_get_size (const guint8  *prefix,
                         gsize          n_available,
                         guint64        file_size,
                         gsize         *size,
                         GError       **error)
{
  gsize prefix_size = n_available > MARK_SIZE && prefix[MARK_SIZE] > 1 ? 12 : 10;
  guint32 header_size;

  if (n_available < prefix_size || memcmp (prefix, MARK, MARK_SIZE) != 0)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
                   "This is not a .npy file: it does not begin with the magic string");
      return FALSE;
    }
  if (prefix[6] < 1 || prefix[6] > 3 || prefix[7] != 0)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                   "Version %u.%u of .npy is not supported: only 1.0, 2.0 and 3.0 are",
                   prefix[6], prefix[7]);
      return FALSE;
    }

  header_size = load_le (prefix + 8, prefix_size - 8);
  if (header_size > MTL_NPY_MAX_HEADER_SIZE)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                   "A .npy header of %u bytes is larger than the limit of %d", header_size,
                   MTL_NPY_MAX_HEADER_SIZE);
      return FALSE;
    }
  if (header_size > file_size - prefix_size)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
                   "A .npy header of %u byte%s is larger than the rest, %" G_GUINT64_FORMAT
                   " byte%s: it is truncated", header_size, MTL_S (header_size),
                   file_size - prefix_size, MTL_S (file_size - prefix_size));
      return FALSE;
    }

  *size = prefix_size + header_size;
  return TRUE;
}

typedef struct
{
  const char *start;
  const char *at;
  const char *end;
  char *type_name; /* only set if elements cannot be loaded */
  GError *refusal; /* the reason for that */
  GError **error;
} Literal;

/* Always returns FALSE. */
static gboolean
refuse (Literal    *self,
        MtlError    code,
        const char *what)
{
  g_set_error (self->error, MTL_ERROR, code, "%s, at byte %" G_GSIZE_FORMAT " of the .npy header",
               what, (gsize) (self->at - self->start));
  return FALSE;
}

static void
skip_space (Literal *self)
{
  while (self->at < self->end && memchr (" \n\t\r", *self->at, 4) != NULL)
    self->at++;
}

static gboolean
skip_character (Literal *self,
                char     character)
{
  skip_space (self);
  if (self->at == self->end || *self->at != character)
    return FALSE;

  self->at++;
  return TRUE;
}

static gboolean
skip_word (Literal    *self,
           const char *word)
{
  gsize size = strlen (word);

  skip_space (self);
  if ((gsize) (self->end - self->at) < size || memcmp (self->at, word, size) != 0)
    return FALSE;

  self->at += size;
  return TRUE;
}

/* Escapes are not supported; no writer needs them. */
static gboolean
read_string (Literal     *self,
             const char **string,
             gsize       *size)
{
  char quote = skip_character (self, '\'') ? '\'' : '"';
  const char *close;

  if (quote == '"' && !skip_character (self, '"'))
    return refuse (self, MTL_ERROR_INVALID_DATA, "A string was expected");

  close = memchr (self->at, quote, self->end - self->at);
  if (close == NULL)
    return refuse (self, MTL_ERROR_INVALID_DATA, "A string does not end");
  if (memchr (self->at, '\\', close - self->at) != NULL)
    return refuse (self, MTL_ERROR_NOT_SUPPORTED, "A string with escapes is not supported");

  *string = self->at;
  *size = close - self->at;
  self->at = close + 1;
  return TRUE;
}

/* Moves past a list or a tuple. Counts the tuples right in it. */
static gboolean
skip_structure (Literal *self,
                gsize   *n_tuples)
{
  gsize depth = 0;
  char quote = 0;

  *n_tuples = 0;
  for (; self->at < self->end; self->at++)
    {
      char character = *self->at;

      if (quote != 0)
        {
          if (character == '\\' && self->at + 1 < self->end)
            self->at++;
          else if (character == quote)
            quote = 0;
        }
      else if (character == '\'' || character == '"')
        quote = character;
      else if (character == '[' || character == '(')
        *n_tuples += depth++ == 1 && character == '(';
      else if ((character == ']' || character == ')') && --depth == 0)
        {
          self->at++;
          return TRUE;
        }
    }

  return refuse (self, MTL_ERROR_INVALID_DATA, "A list or a tuple does not end");
}

static gboolean
read_extent (Literal *self,
             gint64  *extent)
{
  const char *first = self->at;

  *extent = 0;
  for (; self->at < self->end && g_ascii_isdigit (*self->at); self->at++)
    if (__builtin_mul_overflow (*extent, 10, extent)
        || __builtin_add_overflow (*extent, *self->at - '0', extent))
      return refuse (self, MTL_ERROR_OVERFLOW,
                     "shape: An extent is larger than 9223372036854775807");

  if (self->at == first || (*first == '0' && self->at - first > 1))
    return refuse (self, MTL_ERROR_INVALID_DATA,
                   "shape: A whole number from 0 to 9223372036854775807 was expected");

  /* Python 2 wrote long numbers with an L. */
  if (self->at < self->end && *self->at == 'L')
    self->at++;
  return TRUE;
}

static gboolean
read_shape (Literal        *self,
            gint64         *shape,
            MtlTensorEntry *entry)
{
  gboolean has_comma = TRUE;

  entry->n_dims = 0;
  if (!skip_character (self, '('))
    return refuse (self, MTL_ERROR_INVALID_DATA, "shape: “(” was expected");

  while (!skip_character (self, ')'))
    {
      if (!has_comma)
        return refuse (self, MTL_ERROR_INVALID_DATA, "shape: “,” or “)” was expected");
      if (entry->n_dims == MTL_LAYOUT_MAX_DIMS)
        return refuse (self, MTL_ERROR_NOT_SUPPORTED, "shape: There are more than 64 dimensions");
      if (!read_extent (self, &shape[entry->n_dims]))
        return FALSE;

      entry->n_dims++;
      has_comma = skip_character (self, ',');
    }

  return entry->n_dims != 1 || has_comma
         || refuse (self, MTL_ERROR_INVALID_DATA, "shape: A number is not a tuple");
}

/* The header can be read further. Always returns TRUE. */
static gboolean
refuse_descr (Literal    *self,
              const char *descr,
              gsize       size,
              MtlError    code,
              const char *why)
{
  g_autofree char *quoted = mtl_quote_text (descr, size);

  self->type_name = mtl_shorten_text (descr, size);
  self->refusal = g_error_new (MTL_ERROR, code, "The element type %s of the .npy header %s", quoted,
                               why);
  return TRUE;
}

/* A list describes a record, a tuple elements that are arrays themselves. */
static gboolean
refuse_structure (Literal *self)
{
  const char *opened = self->at;
  gsize n_fields;

  if (!skip_structure (self, &n_fields))
    return FALSE;

  if (*opened == '(')
    return refuse_descr (self, opened, self->at - opened, MTL_ERROR_NOT_SUPPORTED,
                         "has elements that are arrays, which are not supported");

  self->type_name = g_strdup ("record");
  self->refusal = g_error_new (MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                               "Records are not supported: the elements have %" G_GSIZE_FORMAT
                               " field%s, at byte %" G_GSIZE_FORMAT " of the .npy header",
                               n_fields, MTL_S (n_fields), (gsize) (opened - self->start));
  return TRUE;
}

/* Refuses strings of variable width, too, which NumPy pickles. */
static gboolean
refuse_objects (Literal    *self,
                const char *descr,
                gsize       size)
{
  refuse_descr (self, descr, size, MTL_ERROR_NOT_SUPPORTED,
                "means Python objects, which are never loaded");
  g_free (self->type_name);
  self->type_name = g_strdup ("object");
  return TRUE;
}

static const struct
{
  char kind;
  guint8 code;
} kinds[] = {
  { 'b', kDLBool }, { 'i', kDLInt }, { 'u', kDLUInt },
  { 'f', kDLFloat }, { 'c', kDLComplex },
  { 'V', kDLOpaqueHandle },
};

char
mtl_npy_dtype_get_kind (MtlDType dtype)
{
  MtlElementType type = mtl_element_type_new (dtype);

  if (dtype == MTL_DTYPE_COMPLEX32 || type.bits < 8)
    return 0;

  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (kinds[i].code == type.code)
      return kinds[i].kind;

  return 0;
}

/* Finds a type by NumPy's letter and the size of an element; %MTL_DTYPE_OTHER if there
 * is none. One of ml_dtypes' types has its own code, which NumPy cannot read back.
 * NumPy stores the others as bytes without a meaning. */
static MtlDType
find_dtype (char  kind,
            guint n_bytes)
{
  if (kind == 'f' && n_bytes == 1)
    return MTL_DTYPE_FLOAT8_E5M2;

  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (kinds[i].kind == kind)
      {
        MtlDType dtype = mtl_element_type_get_dtype ((MtlElementType) {
          .code = kinds[i].code, .bits = n_bytes * 8, .lanes = 1,
        });

        return mtl_npy_dtype_get_kind (dtype) == kind ? dtype : MTL_DTYPE_OTHER;
      }

  return MTL_DTYPE_OTHER;
}

/* Reads text such as “<f4”: the byte order, the kind, and the size of an element in
 * bytes. */
static gboolean
read_descr (Literal        *self,
            MtlTensorEntry *entry)
{
  const char *descr;
  gsize size;
  guint n_bytes = 0;

  skip_space (self);
  if (self->at < self->end && (*self->at == '[' || *self->at == '('))
    return refuse_structure (self);
  if (!read_string (self, &descr, &size))
    return FALSE;
  if (size >= 2 && descr[1] == 'O')
    return refuse_objects (self, descr, size);

  if (size >= 3 && size <= 4 && memchr ("<>|", descr[0], 3) != NULL && descr[2] != '0')
    for (gsize i = 2; i < size && g_ascii_isdigit (descr[i]); i++)
      n_bytes = n_bytes * 10 + descr[i] - '0';
  if (n_bytes > 0 && n_bytes <= MAX_ITEM_SIZE && (n_bytes > 9) == (size == 4))
    entry->dtype = find_dtype (descr[1], n_bytes);
  if (entry->dtype == MTL_DTYPE_OTHER)
    return refuse_descr (self, descr, size, MTL_ERROR_NOT_SUPPORTED, "is not supported");
  if (descr[0] == '|' && n_bytes > 1 && descr[1] != 'V')
    {
      entry->dtype = MTL_DTYPE_OTHER;
      return refuse_descr (self, descr, size, MTL_ERROR_INVALID_DATA, "has no byte order");
    }

  entry->is_big_endian = descr[0] == '>' && n_bytes > 1 && descr[1] != 'V';
  return TRUE;
}

static gboolean
read_order (Literal        *self,
            MtlTensorEntry *entry)
{
  if (skip_word (self, "True"))
    entry->order = MTL_ORDER_F;
  else if (skip_word (self, "False"))
    entry->order = MTL_ORDER_C;
  else
    return refuse (self, MTL_ERROR_INVALID_DATA, "fortran_order: True or False was expected");

  return TRUE;
}

typedef enum
{
  KEY_DESCR,
  KEY_ORDER,
  KEY_SHAPE,
  N_KEYS,
} Key;

static const char *const key_names[] = { "descr", "fortran_order", "shape" };

/* Each key may occur once. */
static gboolean
read_key (Literal *self,
          guint    seen,
          Key     *key)
{
  g_autofree char *quoted = NULL, *why = NULL;
  const char *name;
  gsize size;

  if (!read_string (self, &name, &size))
    return FALSE;

  for (*key = KEY_DESCR; *key < N_KEYS; (*key)++)
    if (strlen (key_names[*key]) == size && memcmp (key_names[*key], name, size) == 0)
      break;
  if (*key < N_KEYS && !(seen >> *key & 1))
    return TRUE;

  quoted = mtl_quote_text (name, size);
  why = g_strdup_printf ("The key %s is %s", quoted, *key < N_KEYS ? "given twice" : "not known");
  return refuse (self, MTL_ERROR_INVALID_DATA, why);
}

static gboolean
read_value (Literal        *self,
            Key             key,
            gint64         *shape,
            MtlTensorEntry *entry)
{
  switch (key)
    {
    case KEY_DESCR:
      return read_descr (self, entry);
    case KEY_ORDER:
      return read_order (self, entry);
    default:
      return read_shape (self, shape, entry);
    }
}

static gboolean
check_seen (Literal *self,
            guint    seen)
{
  for (Key key = KEY_DESCR; key < N_KEYS; key++)
    if (!(seen >> key & 1))
      {
        g_autofree char *why = g_strdup_printf ("%s is missing", key_names[key]);

        return refuse (self, MTL_ERROR_INVALID_DATA, why);
      }

  return TRUE;
}

static gboolean
read_dict (Literal        *self,
           gint64         *shape,
           MtlTensorEntry *entry)
{
  gboolean has_comma = TRUE;
  guint seen = 0;

  if (!skip_character (self, '{'))
    return refuse (self, MTL_ERROR_INVALID_DATA, "“{” was expected");

  while (!skip_character (self, '}'))
    {
      Key key;

      if (!has_comma)
        return refuse (self, MTL_ERROR_INVALID_DATA, "“,” or “}” was expected");
      if (!read_key (self, seen, &key))
        return FALSE;
      if (!skip_character (self, ':'))
        return refuse (self, MTL_ERROR_INVALID_DATA, "“:” was expected");
      if (!read_value (self, key, shape, entry))
        return FALSE;

      seen |= 1u << key;
      has_comma = skip_character (self, ',');
    }

  if (!check_seen (self, seen))
    return FALSE;

  skip_space (self);
  return self->at == self->end
         || refuse (self, MTL_ERROR_INVALID_DATA, "Something follows the dict");
}

/* The rest of the file or member is large enough. */
static gboolean
check_rest (const MtlTensorEntry  *entry,
            guint64                n_bytes,
            guint64                rest,
            GError               **error)
{
  g_autofree char *dims = NULL;

  if (n_bytes <= rest)
    return TRUE;

  dims = mtl_dims_to_string (entry->shape, entry->n_dims);
  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
               "Shape %s of %s takes %" G_GUINT64_FORMAT " byte%s, but %" G_GUINT64_FORMAT
               " follow%s the .npy header: it is truncated",
               dims, mtl_dtype_get_name (entry->dtype), n_bytes, MTL_S (n_bytes), rest,
               rest == 1 ? "s" : "");
  return FALSE;
}

/* The size is that of mtl_npy_header_get_size(). If the elements can be loaded, bytes after
 * them are ignored. */
gboolean
mtl_npy_header_parse (const guint8    *header,
                      gsize            size,
                      guint64          file_size,
                      gint64           shape[MTL_LAYOUT_MAX_DIMS],
                      MtlTensorEntry  *entry,
                      char           **type_name,
                      GError         **error)
{
  gsize prefix_size = header[MARK_SIZE] > 1 ? 12 : 10;
  g_autoptr (GError) why = NULL;
  Literal literal = { .start = (const char *) header, .at = (const char *) header + prefix_size,
                      .end = (const char *) header + size, .error = &why };
  guint64 n_bytes;

  *entry = (MtlTensorEntry) { .begin = size, .end = file_size };
  if (read_dict (&literal, shape, entry))
    entry->shape = shape;
  else
    entry->n_dims = 0;

  *type_name = literal.type_name;
  if (literal.refusal != NULL)
    {
      g_propagate_error (error, literal.refusal);
      return FALSE;
    }

  if (why != NULL || !mtl_dtype_count_bytes (entry->dtype, shape, entry->n_dims, &n_bytes, &why)
      || !check_rest (entry, n_bytes, file_size - size, &why))
    {
      g_propagate_error (error, g_steal_pointer (&why));
      return FALSE;
    }

  entry->end = size + n_bytes;
  return TRUE;
}
