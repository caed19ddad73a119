/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* PTX: its head, and the entries with the sizes of their parameters. */

#include "cuda-double-private.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct
{
  const char *at;
  char token[256];
} Reader;

static bool
skip_comment (Reader *reader)
{
  const char *mark, *end;

  if (reader->at[0] != '/' || (reader->at[1] != '/' && reader->at[1] != '*'))
    return false;
  mark = reader->at[1] == '/' ? "\n" : "*/";
  end = strstr (reader->at + 2, mark);
  reader->at = end == NULL ? reader->at + strlen (reader->at) : end + strlen (mark);

  return true;
}

static bool
is_word (char c)
{
  return isalnum ((unsigned char) c) || c == '_' || c == '$' || c == '%' || c == '.';
}

static void
read_string (Reader *reader)
{
  for (reader->at++; *reader->at != 0 && *reader->at != '"'; reader->at++)
    ;
  if (*reader->at == '"')
    reader->at++;
}

/* Tokens are words with their dots, strings, and single characters. False: the text has ended. */
static bool
next (Reader *reader)
{
  size_t n = 0;

  while (isspace ((unsigned char) *reader->at) || skip_comment (reader))
    if (isspace ((unsigned char) *reader->at))
      reader->at++;
  if (*reader->at == 0)
    return false;

  if (*reader->at == '"')
    {
      read_string (reader);
      strcpy (reader->token, "\"");
      return true;
    }
  do
    {
      if (n < sizeof reader->token - 1)
        reader->token[n++] = *reader->at;
      reader->at++;
    }
  while (is_word (reader->token[n - 1]) && is_word (*reader->at)
         && !(*reader->at == '.' && !isdigit ((unsigned char) reader->token[n - 1])));
  reader->token[n] = 0;

  return true;
}

static bool
next_is (Reader     *reader,
         const char *token)
{
  return next (reader) && strcmp (reader->token, token) == 0;
}

/* The version of PTX that came with a version of CUDA, as 10 times major + minor */
static int
ptx_version (int cuda)
{
  int major = cuda / 1000, minor = cuda % 1000 / 10;

  if (major == 11)
    return 70 + minor;
  if (major == 12)
    return 80 + (minor <= 5 ? minor : minor - 1);

  return 90 + 10 * (major - 13) + minor;
}

static CuResult
read_version (Reader *reader)
{
  int major, minor;
  char *end;

  if (!next (reader))
    return CU_INVALID_PTX;
  major = (int) strtol (reader->token, &end, 10);
  if (end == reader->token || *end != '.')
    return CU_INVALID_PTX;
  minor = (int) strtol (end + 1, &end, 10);
  if (*end != 0)
    return CU_INVALID_PTX;

  return 10 * major + minor > ptx_version (cd_version) ? CU_UNSUPPORTED_PTX_VERSION : CU_SUCCESS;
}

/* A suffix, as in sm_90a, is for this capability alone. */
static CuResult
read_target (Reader  *reader,
             unsigned capability)
{
  unsigned target;
  char *end;

  if (!next_is (reader, ".target") || !next (reader) || strncmp (reader->token, "sm_", 3) != 0)
    return CU_INVALID_PTX;
  target = (unsigned) strtoul (reader->token + 3, &end, 10);
  if (end == reader->token + 3)
    return CU_INVALID_PTX;

  return target > capability || (*end != 0 && target != capability) ? CU_NO_BINARY_FOR_GPU
                                                                    : CU_SUCCESS;
}

static unsigned
type_size (const char *type)
{
  unsigned bits = (unsigned) strtoul (type + 2, NULL, 10);

  return type[0] == '.' && strchr ("usbf", type[1]) != NULL && bits % 8 == 0 ? bits / 8 : 0;
}

/* .param .align 8 .b8 name[64]: the type is the last word of the kind, but in .ptr. */
static bool
read_param (Reader   *reader,
            unsigned *size)
{
  *size = 0;
  while (next (reader))
    {
      unsigned found = type_size (reader->token);

      if (found > 0)
        *size = found;
      else if (strcmp (reader->token, "[") == 0)
        {
          if (!next (reader))
            return false;
          *size *= (unsigned) strtoul (reader->token, NULL, 10);
        }
      else if (strcmp (reader->token, ",") == 0 || strcmp (reader->token, ")") == 0)
        return *size > 0;
    }

  return false;
}

static struct CdKernel *
add_kernel (CdModule   *module,
            const char *name)
{
  struct CdKernel *kernel;

  module->kernels = realloc (module->kernels, (module->n_kernels + 1) * sizeof *kernel);
  if (module->kernels == NULL)
    abort ();
  kernel = &module->kernels[module->n_kernels++];
  memset (kernel, 0, sizeof *kernel);
  kernel->name = strdup (name);

  return kernel;
}

static bool
read_entry (Reader   *reader,
            CdModule *module)
{
  struct CdKernel *kernel;

  if (!next (reader))
    return false;
  kernel = add_kernel (module, reader->token);
  if (!next_is (reader, "(") || !next (reader))
    return false;
  while (strcmp (reader->token, ")") != 0)
    {
      unsigned size;

      if ((strcmp (reader->token, ".param") != 0 && !next_is (reader, ".param"))
          || !read_param (reader, &size))
        return false;
      kernel->param_sizes = realloc (kernel->param_sizes,
                                     (kernel->n_params + 1) * sizeof *kernel->param_sizes);
      if (kernel->param_sizes == NULL)
        abort ();
      kernel->param_sizes[kernel->n_params++] = size;
    }

  return true;
}

/* Only entries that are visible can be found. */
static bool
read_body (Reader   *reader,
           CdModule *module)
{
  bool visible = false;
  int depth = 0;

  while (next (reader))
    {
      if (strcmp (reader->token, "{") == 0)
        depth++;
      else if (strcmp (reader->token, "}") == 0)
        depth--;
      else if (depth == 0 && visible && strcmp (reader->token, ".entry") == 0
               && !read_entry (reader, module))
        return false;
      if (depth < 0)
        return false;
      visible = strcmp (reader->token, ".visible") == 0;
    }

  return depth == 0;
}

CuResult
cd_read_ptx (CdModule   *module,
             const char *text,
             unsigned    capability)
{
  Reader reader = { text, "" };
  CuResult result;

  if (!next_is (&reader, ".version"))
    return CU_INVALID_IMAGE;
  if (cd_jit_result != CU_SUCCESS)
    return cd_jit_result;
  result = read_version (&reader);
  if (result == CU_SUCCESS)
    result = read_target (&reader, capability);
  if (result != CU_SUCCESS)
    return result;
  if (!next_is (&reader, ".address_size") || !next_is (&reader, "64"))
    return CU_INVALID_PTX;

  return read_body (&reader, module) ? CU_SUCCESS : CU_INVALID_PTX;
}
