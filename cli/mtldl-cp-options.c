/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The options of mtldl cp. */

#include "mtldl-cp.h"

#include <string.h>

static gboolean
dtype_rule_init (ToolDtypeRule *self,
                 const char    *text)
{
  const char *equals = strrchr (text, '=');

  *self = (ToolDtypeRule) {
    .pattern = equals != NULL ? g_strndup (text, equals - text) : NULL,
    .dtype = mtl_dtype_from_string (equals != NULL ? equals + 1 : text, NULL),
  };
  return self->dtype != MTL_DTYPE_OTHER;
}

static void
dtype_rule_clear (ToolDtypeRule *self)
{
  g_free (self->pattern);
}

void
tool_copy_options_init (ToolCopyOptions *self)
{
  *self = (ToolCopyOptions) {
    .rename_rules = g_array_new (FALSE, FALSE, sizeof (ToolRename)),
    .dtype_rules = g_array_new (FALSE, FALSE, sizeof (ToolDtypeRule)),
  };
  g_array_set_clear_func (self->rename_rules, (GDestroyNotify) tool_rename_clear);
  g_array_set_clear_func (self->dtype_rules, (GDestroyNotify) dtype_rule_clear);
}

void
tool_copy_options_clear (ToolCopyOptions *self)
{
  g_strfreev (self->select);
  g_strfreev (self->renames);
  g_strfreev (self->dtypes);
  g_strfreev (self->metadata);
  g_free (self->shard_size);
  g_free (self->format_text);
  g_array_unref (self->rename_rules);
  g_array_unref (self->dtype_rules);
}

/* Reads sizes as GNU's commands do: 5G and 5GiB are powers of 1024, 5GB is one of 1000. */
static gboolean
parse_size (const char *text,
            guint64    *size)
{
  static const char units[] = "KMGT";
  char *end;
  guint64 value = g_ascii_strtoull (text, &end, 10), factor = 1;
  const char *unit = *end != '\0' ? strchr (units, g_ascii_toupper (*end)) : NULL;
  guint64 base = unit != NULL && g_ascii_strcasecmp (end + 1, "B") == 0 ? 1000 : 1024;

  for (gssize i = 0; unit != NULL && i <= unit - units; i++)
    factor *= base;
  if (unit != NULL && (end[1] == '\0' || g_ascii_strcasecmp (end + 1, "B") == 0
                       || g_ascii_strcasecmp (end + 1, "iB") == 0))
    end = (char *) "";

  if (!g_ascii_isdigit (*text) || value == 0 || *end != '\0' || value > G_MAXINT64 / factor)
    return FALSE;

  *size = value * factor;
  return TRUE;
}

/* Guesses which element type was meant. */
static char *
guess_dtype (const char *text)
{
  g_autoptr (GEnumClass) klass = g_type_class_ref (MTL_TYPE_DTYPE);
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  const char *equals = strrchr (text, '=');

  for (guint i = 0; i < klass->n_values; i++)
    if (klass->values[i].value != MTL_DTYPE_OTHER)
      g_ptr_array_add (names, (char *) klass->values[i].value_nick);
  g_ptr_array_add (names, NULL);
  return tool_guess (equals != NULL ? equals + 1 : text, (const char *const *) names->pdata);
}

static gboolean
check_rules (ToolCopyOptions  *self,
             char            **wrong)
{
  for (gsize i = 0; self->renames != NULL && self->renames[i] != NULL; i++)
    {
      ToolRename rule = { NULL };
      gboolean is_right = tool_rename_init (&rule, self->renames[i]);

      g_array_append_val (self->rename_rules, rule);
      if (!is_right)
        {
          *wrong = g_strdup_printf (_("--rename=%s is not FROM=TO with at most one * in FROM, and "
                                      "one in TO only if FROM has one"), self->renames[i]);
          return FALSE;
        }
    }

  for (gsize i = 0; self->dtypes != NULL && self->dtypes[i] != NULL; i++)
    {
      ToolDtypeRule rule;
      gboolean is_right = dtype_rule_init (&rule, self->dtypes[i]);

      g_array_append_val (self->dtype_rules, rule);
      if (!is_right)
        {
          g_autofree char *guess = guess_dtype (self->dtypes[i]);

          *wrong = g_strdup_printf (_("--dtype=%s has no element type%s"), self->dtypes[i],
                                    *guess != '\0' ? guess
                                    : _(": valid names are float32, bfloat16, float8_e4m3fn, "
                                        "int8 and so on"));
          return FALSE;
        }
    }

  for (gsize i = 0; self->metadata != NULL && self->metadata[i] != NULL; i++)
    if (strchr (self->metadata[i], '=') == NULL)
      {
        *wrong = g_strdup_printf (_("--metadata=%s is not KEY=VALUE"), self->metadata[i]);
        return FALSE;
      }

  return TRUE;
}

static int
get_most_alignment (void)
{
  g_autoptr (GTypeClass) klass = g_type_class_ref (MTL_TYPE_TENSOR_FILE_BUILDER);
  GParamSpec *spec = g_object_class_find_property (G_OBJECT_CLASS (klass), "alignment");

  return G_PARAM_SPEC_UINT (spec)->maximum;
}

static gboolean
parse_format (ToolCopyOptions *self)
{
  if (self->format_text == NULL)
    self->format = MTL_TENSOR_FILE_FORMAT_AUTO;
  else if (g_ascii_strcasecmp (self->format_text, "safetensors") == 0)
    self->format = MTL_TENSOR_FILE_FORMAT_SAFETENSORS;
  else if (g_ascii_strcasecmp (self->format_text, "npy") == 0)
    self->format = MTL_TENSOR_FILE_FORMAT_NPY;
  else
    return FALSE;

  return TRUE;
}

/* Only a .npy file has no metadata; the builder judges other endings. */
static void
choose_format (ToolCopyOptions *self,
               const char      *destination)
{
  g_autofree char *lower = g_ascii_strdown (destination, -1);

  if (self->format == MTL_TENSOR_FILE_FORMAT_AUTO && g_str_has_suffix (lower, ".npy"))
    self->format = MTL_TENSOR_FILE_FORMAT_NPY;
}

gboolean
tool_copy_options_parse (ToolCopyOptions  *self,
                         const char       *destination,
                         char            **wrong)
{
  const int most_alignment = get_most_alignment ();

  if (self->alignment < 0 || self->alignment > most_alignment
      || (self->alignment & (self->alignment - 1)) != 0)
    *wrong = g_strdup_printf (_("--align=%d is not a power of two up to %d"), self->alignment,
                              most_alignment);
  else if (self->shard_size != NULL && !parse_size (self->shard_size, &self->max_shard))
    *wrong = g_strdup_printf (_("--shard-size=%s is not a size such as 500M or 5G"),
                              self->shard_size);
  else if (self->shard_size != NULL && !g_str_has_suffix (destination, ".safetensors.index.json"))
    *wrong = g_strdup_printf (_("with --shard-size the destination is the index, named "
                                "NAME.safetensors.index.json, not %s; did you mean “%s%s”?"),
                              destination, destination,
                              g_str_has_suffix (destination, ".safetensors")
                              ? ".index.json" : ".safetensors.index.json");
  else if (self->shard_size == NULL && g_str_has_suffix (destination, ".index.json"))
    *wrong = g_strdup_printf (_("%s would be the index of several files, which needs "
                                "--shard-size=SIZE"), destination);
  else if (!parse_format (self))
    *wrong = g_strdup_printf (_("--format=%s is not safetensors or npy"), self->format_text);
  else if (self->shard_size != NULL && self->format == MTL_TENSOR_FILE_FORMAT_NPY)
    *wrong = g_strdup (_("--shard-size writes safetensors files, not --format=npy"));

  if (*wrong != NULL)
    return FALSE;

  choose_format (self, destination);
  return check_rules (self, wrong);
}
