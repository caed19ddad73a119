/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-json-reader-private.h"

#include <string.h>

#include "mtl-error-private.h"
#include "mtl-message-text-private.h"

#define NO_CHARACTER (-1) /* the end of the text */

/* A word with 1 in each byte. */
#define EACH_BYTE G_GUINT64_CONSTANT (0x0101010101010101)
#define HIGH_BITS (EACH_BYTE * 0x80)

void
mtl_json_reader_init (MtlJsonReader *self,
                      const char    *what,
                      const char    *text,
                      gsize          size)
{
  /* The text may be NULL. */
  if (size == 0)
    text = "";
  *self = (MtlJsonReader) { .what = what, .start = text, .at = text, .end = text + size };
}

void
mtl_json_reader_clear (MtlJsonReader *self)
{
  g_clear_pointer (&self->decoded, g_free);
  g_clear_error (&self->error);
}

/* Always returns FALSE. Keeps the first error. */
gboolean
mtl_json_reader_fail (MtlJsonReader *self,
                      MtlError       code,
                      const char    *format,
                      ...)
{
  g_autofree char *message = NULL;
  va_list arguments;

  if (self->error != NULL)
    return FALSE;

  va_start (arguments, format);
  message = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (&self->error, MTL_ERROR, code, "%s, at byte %" G_GSIZE_FORMAT " of the %s",
               message, (gsize) (self->at - self->start), self->what);
  return FALSE;
}

/* The unexpected word, number or character, for messages. */
static char *
quote_next (MtlJsonReader *self)
{
  gsize size = 0, rest = self->end - self->at;

  while (size < rest && (g_ascii_isalnum (self->at[size])
                         || memchr ("+-._", self->at[size], 4) != NULL))
    size++;
  if (size == 0)
    while (++size < rest && ((guchar) self->at[size] & 0xc0) == 0x80)
      continue;

  return mtl_quote_text (self->at, size);
}

static gboolean
fail_expected (MtlJsonReader *self,
               const char    *expected)
{
  g_autofree char *found = NULL;

  if (self->at == self->end)
    return mtl_json_reader_fail (self, MTL_ERROR_INVALID_DATA, "Expected %s, but the %s ends",
                                 expected, self->what);

  found = quote_next (self);
  return mtl_json_reader_fail (self, MTL_ERROR_INVALID_DATA, "Expected %s, but found %s", expected,
                               found);
}

/* The next character after white space. */
static inline int
peek (MtlJsonReader *self)
{
  while (self->at < self->end
         && (*self->at == ' ' || *self->at == '\n' || *self->at == '\r' || *self->at == '\t'))
    self->at++;

  return self->at < self->end ? (guchar) *self->at : NO_CHARACTER;
}

static inline gboolean
skip_character (MtlJsonReader *self,
                char           character)
{
  if (peek (self) != character)
    return FALSE;

  self->at++;
  return TRUE;
}

static gboolean
enter (MtlJsonReader *self,
       char           bracket,
       const char    *expected)
{
  if (self->error != NULL)
    return FALSE;
  if (peek (self) != bracket)
    return fail_expected (self, expected);
  if (self->depth == MTL_JSON_MAX_DEPTH)
    return mtl_json_reader_fail (self, MTL_ERROR_INVALID_DATA,
                                 "More than %d objects and arrays are nested",
                                 MTL_JSON_MAX_DEPTH);

  self->at++;
  self->depth++;
  self->is_entered = TRUE;
  return TRUE;
}

/* Moves to the next member of an object or item of an array. */
static gboolean
advance (MtlJsonReader *self,
         char           bracket,
         const char    *expected)
{
  gboolean is_first = self->is_entered;

  if (self->error != NULL)
    return FALSE;

  self->is_entered = FALSE;
  if (skip_character (self, bracket))
    {
      self->depth--;
      return FALSE;
    }

  return is_first || skip_character (self, ',') || fail_expected (self, expected);
}

gboolean
mtl_json_reader_enter_object (MtlJsonReader *self)
{
  return enter (self, '{', "“{”");
}

gboolean
mtl_json_reader_next_member (MtlJsonReader *self,
                             MtlJsonString *key)
{
  return advance (self, '}', "“,” or “}”")
         && mtl_json_reader_read_string (self, key)
         && (skip_character (self, ':') || fail_expected (self, "“:”"));
}

gboolean
mtl_json_reader_enter_array (MtlJsonReader *self)
{
  return enter (self, '[', "“[”");
}

gboolean
mtl_json_reader_next_item (MtlJsonReader *self)
{
  return advance (self, ']', "“,” or “]”");
}

/* Finds the end of the plain characters in a string. Sets whether all of them are
 * ASCII. */
static const char *
find_special (const char *at,
              const char *end,
              gboolean   *is_ascii)
{
  guint64 word, all = 0;

  for (; end - at >= (gssize) sizeof word; at += sizeof word)
    {
      guint64 quotes, slashes;

      memcpy (&word, at, sizeof word);
      quotes = word ^ EACH_BYTE * '"';
      slashes = word ^ EACH_BYTE * '\\';
      if ((((quotes - EACH_BYTE) & ~quotes) | ((slashes - EACH_BYTE) & ~slashes)
           | ((word - EACH_BYTE * ' ') & ~word)) & HIGH_BITS)
        break;
      all |= word;
    }
  *is_ascii = (all & HIGH_BITS) == 0;

  for (; at < end && *at != '"' && *at != '\\' && (guchar) *at >= ' '; at++)
    *is_ascii &= (guchar) *at < 0x80;

  return at;
}

/* Skips plain characters. */
static gboolean
read_plain (MtlJsonReader *self)
{
  gboolean is_ascii;
  const char *special = find_special (self->at, self->end, &is_ascii);

  if (!is_ascii && !g_utf8_validate_len (self->at, special - self->at, &self->at))
    return mtl_json_reader_fail (self, MTL_ERROR_INVALID_DATA, "A string is not UTF-8");

  self->at = special;
  if (special == self->end)
    return mtl_json_reader_fail (self, MTL_ERROR_INVALID_DATA, "A string does not end");
  if ((guchar) *special < ' ')
    return mtl_json_reader_fail (self, MTL_ERROR_INVALID_DATA,
                                 "The control character 0x%02x in a string is not escaped",
                                 (guchar) *special);

  return TRUE;
}

/* The four digits after \u. */
static gboolean
read_code_unit (MtlJsonReader *self,
                gunichar      *unit)
{
  *unit = 0;
  for (int i = 0; i < 4; i++, self->at++)
    {
      int digit = self->at < self->end ? g_ascii_xdigit_value (*self->at) : -1;

      if (digit < 0)
        return mtl_json_reader_fail (self, MTL_ERROR_INVALID_DATA,
                                     "\\u is not followed by four hexadecimal digits");
      *unit = *unit << 4 | (guint) digit;
    }

  return TRUE;
}

static gboolean
read_code_point (MtlJsonReader *self,
                 gunichar      *character)
{
  gunichar low = 0;

  if (!read_code_unit (self, character))
    return FALSE;
  if (*character == 0)
    return mtl_json_reader_fail (self, MTL_ERROR_NOT_SUPPORTED,
                                 "A string has the character U+0000");
  if (*character < 0xd800 || *character > 0xdfff)
    return TRUE;

  if (*character < 0xdc00 && self->end - self->at >= 2 && memcmp (self->at, "\\u", 2) == 0)
    {
      self->at += 2;
      if (!read_code_unit (self, &low))
        return FALSE;
    }
  if (low < 0xdc00 || low > 0xdfff)
    return mtl_json_reader_fail (self, MTL_ERROR_INVALID_DATA,
                                 "A string has half of a surrogate pair, U+%04X", *character);

  *character = 0x10000 + ((*character - 0xd800) << 10) + (low - 0xdc00);
  return TRUE;
}

/* Reads an escape, after the backslash. */
static gboolean
read_escape (MtlJsonReader *self,
             gunichar      *character)
{
  static const char letters[] = "\"\\/bfnrt";
  static const char meanings[] = "\"\\/\b\f\n\r\t";
  const char *letter;

  if (self->at == self->end)
    return fail_expected (self, "an escape");
  if (*self->at == 'u')
    {
      self->at++;
      return read_code_point (self, character);
    }

  letter = memchr (letters, *self->at, sizeof letters - 1);
  if (letter == NULL)
    return fail_expected (self, "an escape");

  self->at++;
  *character = meanings[letter - letters];
  return TRUE;
}

/* Makes room for the rest of the string. Escapes are longer than the characters that
 * they stand for. */
static gboolean
reserve_decoded (MtlJsonReader *self,
                 const char    *begin)
{
  const char *close = self->at;
  gsize size;
  char *decoded;

  while (close < self->end && *close != '"')
    close += *close == '\\' ? 2 : 1;
  size = MIN (close, self->end) - begin;
  if (size <= self->decoded_size)
    return TRUE;

  decoded = g_try_realloc (self->decoded, size);
  if (decoded == NULL)
    return mtl_set_no_memory (size, &self->error);

  self->decoded = decoded;
  self->decoded_size = size;
  return TRUE;
}

static gboolean
decode_string (MtlJsonReader *self,
               const char    *begin,
               MtlJsonString *string)
{
  char *out;

  if (!reserve_decoded (self, begin))
    return FALSE;

  out = self->decoded;
  for (;;)
    {
      gunichar character = 0;

      memcpy (out, begin, self->at - begin);
      out += self->at - begin;
      if (*self->at++ == '"')
        break;
      if (!read_escape (self, &character))
        return FALSE;

      out += g_unichar_to_utf8 (character, out);
      begin = self->at;
      if (!read_plain (self))
        return FALSE;
    }

  *string = (MtlJsonString) { self->decoded, out - self->decoded };
  return TRUE;
}

/* A string without escapes is not copied. */
gboolean
mtl_json_reader_read_string (MtlJsonReader *self,
                             MtlJsonString *string)
{
  const char *begin;

  if (self->error != NULL)
    return FALSE;
  if (!skip_character (self, '"'))
    return fail_expected (self, "a string");

  begin = self->at;
  if (!read_plain (self))
    return FALSE;
  if (*self->at == '\\')
    return decode_string (self, begin, string);

  *string = (MtlJsonString) { begin, self->at - begin };
  self->at++;
  return TRUE;
}

static const char *
skip_digits (const char *at,
             const char *end)
{
  while (at < end && g_ascii_isdigit (*at))
    at++;

  return at;
}

static gboolean
read_number (MtlJsonReader *self,
             guint64        largest,
             guint64       *value)
{
  const char *at, *end;
  guint64 read = 0;

  if (self->error != NULL)
    return FALSE;

  peek (self);
  end = skip_digits (self->at, self->end);
  if (end == self->at || (*self->at == '0' && end - self->at > 1)
      || (end < self->end && memchr (".eE", *end, 3) != NULL))
    return fail_expected (self, largest == G_MAXINT64
                                  ? "a whole number from 0 to 9223372036854775807"
                                  : "a whole number from 0 to 18446744073709551615");

  for (at = self->at; at < end; at++)
    if (__builtin_mul_overflow (read, 10, &read) || __builtin_add_overflow (read, *at - '0', &read)
        || read > largest)
      {
        g_autofree char *digits = mtl_quote_text (self->at, end - self->at);

        return mtl_json_reader_fail (self, MTL_ERROR_OVERFLOW,
                                     "The number %s is larger than %" G_GUINT64_FORMAT, digits,
                                     largest);
      }

  self->at = end;
  *value = read;
  return TRUE;
}

/* Reads an integer from 0 to 2⁶³ − 1, with digits only. */
gboolean
mtl_json_reader_read_integer (MtlJsonReader *self,
                              gint64        *value)
{
  guint64 read;

  if (!read_number (self, G_MAXINT64, &read))
    return FALSE;

  *value = read;
  return TRUE;
}

gboolean
mtl_json_reader_read_unsigned (MtlJsonReader *self,
                               guint64       *value)
{
  return read_number (self, G_MAXUINT64, value);
}

static gboolean
skip_word (MtlJsonReader *self,
           const char    *word)
{
  gsize size = strlen (word);

  if ((gsize) (self->end - self->at) < size || memcmp (self->at, word, size) != 0)
    return FALSE;

  self->at += size;
  return TRUE;
}

/* Returns whether there was a null. */
gboolean
mtl_json_reader_read_null (MtlJsonReader *self)
{
  if (self->error != NULL)
    return FALSE;

  peek (self);
  return skip_word (self, "null");
}

/* Skips at least one digit; NULL if there is none. */
static const char *
skip_some_digits (const char *at,
                  const char *end)
{
  const char *after = skip_digits (at, end);

  return after > at ? after : NULL;
}

/* Skips any number that the grammar allows. */
static gboolean
skip_number (MtlJsonReader *self)
{
  const char *at = self->at, *first;

  if (at < self->end && *at == '-')
    at++;
  first = at;
  at = skip_some_digits (at, self->end);
  if (at == NULL || (*first == '0' && at - first > 1))
    return fail_expected (self, "a value");

  if (at < self->end && *at == '.')
    at = skip_some_digits (at + 1, self->end);
  if (at != NULL && at < self->end && (*at == 'e' || *at == 'E'))
    {
      at++;
      if (at < self->end && (*at == '+' || *at == '-'))
        at++;
      at = skip_some_digits (at, self->end);
    }
  if (at == NULL)
    return fail_expected (self, "a number");

  self->at = at;
  return TRUE;
}

/* Skips a value, or enters it if it is an object or an array. */
static gboolean
skip_or_enter (MtlJsonReader *self)
{
  MtlJsonString ignored;

  switch (peek (self))
    {
    case '{':
      return mtl_json_reader_enter_object (self);
    case '[':
      return mtl_json_reader_enter_array (self);
    case '"':
      return mtl_json_reader_read_string (self, &ignored);
    default:
      return skip_word (self, "true") || skip_word (self, "false") || skip_word (self, "null")
             || skip_number (self);
    }
}

gboolean
mtl_json_reader_skip_value (MtlJsonReader *self)
{
  gboolean is_object[MTL_JSON_MAX_DEPTH + 1];
  guint outer = self->depth;
  MtlJsonString ignored;

  if (self->error != NULL)
    return FALSE;

  do
    {
      int bracket = peek (self);

      if (!skip_or_enter (self))
        return FALSE;
      if (bracket == '{' || bracket == '[')
        is_object[self->depth] = bracket == '{';

      /* Leaves everything that ends here. */
      while (self->depth > outer
             && !(is_object[self->depth] ? mtl_json_reader_next_member (self, &ignored)
                                         : mtl_json_reader_next_item (self)))
        if (self->error != NULL)
          return FALSE;
    }
  while (self->depth > outer);

  return TRUE;
}

gboolean
mtl_json_reader_check_end (MtlJsonReader *self)
{
  if (self->error != NULL)
    return FALSE;

  return peek (self) == NO_CHARACTER || fail_expected (self, "its end");
}

gboolean
mtl_json_reader_finish (MtlJsonReader  *self,
                        GError        **error)
{
  gboolean succeeded = self->error == NULL;

  if (!succeeded)
    g_propagate_error (error, g_steal_pointer (&self->error));

  return succeeded;
}
