/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-statistics-private.h"

#include <math.h>
#include <string.h>

#include "mtl-enum-types.h"
#include "mtl-number-private.h"
#include "mtl-strided-format-private.h"
#include "mtl-text-private.h"

/**
 * MtlStatistics:
 *
 * The results of [method@Mtl.StridedView.compute_statistics]: the number of
 * elements of a view, the least and the greatest, their mean and their
 * deviation from it, and the numbers of NaNs, infinities and zeros.
 *
 * NaN and infinities are counted, and left out of everything else. If there is
 * no other element, for example in an empty view, the minimum, the maximum, the
 * mean and the deviation are NaN.
 *
 * The minimum and the maximum are exact. As some integers of 64 bits do not fit
 * a double, there are getters for integers too.
 *
 * ```c
 * const gint64 shape[] = { 2, 3 };
 * g_autoptr (MtlStridedView) view =
 *   mtl_strided_view_new_from_doubles ((double[]) { 1, 2, 3, 4, 5, 6 }, 6, MTL_DTYPE_FLOAT32,
 *                                      shape, 2, error);
 * g_autoptr (MtlStatistics) statistics = NULL;
 *
 * if (view == NULL)
 *   return FALSE;
 *
 * statistics = mtl_strided_view_compute_statistics (view, NULL, NULL, NULL, error);
 * if (statistics == NULL)
 *   return FALSE;
 *
 * if (mtl_statistics_get_n_nans (statistics) > 0)
 *   g_warning ("%" G_GUINT64_FORMAT " elements are NaN", mtl_statistics_get_n_nans (statistics));
 *
 * g_print ("%g to %g, on average %g ± %g\n", mtl_statistics_get_minimum (statistics),
 *          mtl_statistics_get_maximum (statistics), mtl_statistics_get_mean (statistics),
 *          mtl_statistics_get_deviation (statistics));
 * ```
 *
 * Since: 1.0
 */

struct _MtlStatistics
{
  GObject parent_instance;

  MtlElementType type;
  MtlDType dtype;
  guint64 count;
  MtlTally tally;
};

enum
{
  PROP_0,
  PROP_DTYPE,
  PROP_COUNT,
  PROP_N_NANS,
  PROP_N_INFINITIES,
  PROP_N_ZEROS,
  PROP_MINIMUM,
  PROP_MAXIMUM,
  PROP_MEAN,
  PROP_DEVIATION,
  N_PROPS
};

static GParamSpec *props[N_PROPS];

G_DEFINE_FINAL_TYPE (MtlStatistics, mtl_statistics, G_TYPE_OBJECT)

static void
mtl_statistics_get_property (GObject    *object,
                             guint       prop_id,
                             GValue     *value,
                             GParamSpec *pspec)
{
  MtlStatistics *self = MTL_STATISTICS (object);

  switch (prop_id)
    {
    case PROP_DTYPE:
      g_value_set_enum (value, self->dtype);
      break;
    case PROP_COUNT:
      g_value_set_uint64 (value, self->count);
      break;
    case PROP_N_NANS:
      g_value_set_uint64 (value, self->tally.n_nans);
      break;
    case PROP_N_INFINITIES:
      g_value_set_uint64 (value, self->tally.n_infinities);
      break;
    case PROP_N_ZEROS:
      g_value_set_uint64 (value, self->tally.n_zeros);
      break;
    case PROP_MINIMUM:
      g_value_set_double (value, mtl_statistics_get_minimum (self));
      break;
    case PROP_MAXIMUM:
      g_value_set_double (value, mtl_statistics_get_maximum (self));
      break;
    case PROP_MEAN:
      g_value_set_double (value, mtl_statistics_get_mean (self));
      break;
    case PROP_DEVIATION:
      g_value_set_double (value, mtl_statistics_get_deviation (self));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static GParamSpec *
new_count_spec (const char *name)
{
  return g_param_spec_uint64 (name, NULL, NULL, 0, G_MAXUINT64, 0,
                              G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
}

static GParamSpec *
new_number_spec (const char *name)
{
  return g_param_spec_double (name, NULL, NULL, -G_MAXDOUBLE, G_MAXDOUBLE, 0,
                              G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
}

static void
mtl_statistics_class_init (MtlStatisticsClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->get_property = mtl_statistics_get_property;

  /**
   * MtlStatistics:dtype: (getter get_dtype)
   *
   * The type of the elements.
   *
   * Since: 1.0
   */
  props[PROP_DTYPE] = g_param_spec_enum ("dtype", NULL, NULL, MTL_TYPE_DTYPE, MTL_DTYPE_OTHER,
                                         G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);

  /**
   * MtlStatistics:count: (getter get_count)
   *
   * The number of elements.
   *
   * Since: 1.0
   */
  props[PROP_COUNT] = new_count_spec ("count");

  /**
   * MtlStatistics:n-nans: (getter get_n_nans)
   *
   * The number of elements that are NaN.
   *
   * Since: 1.0
   */
  props[PROP_N_NANS] = new_count_spec ("n-nans");

  /**
   * MtlStatistics:n-infinities: (getter get_n_infinities)
   *
   * The number of elements that are infinite, of either sign.
   *
   * Since: 1.0
   */
  props[PROP_N_INFINITIES] = new_count_spec ("n-infinities");

  /**
   * MtlStatistics:n-zeros: (getter get_n_zeros)
   *
   * The number of elements that are 0, of either sign.
   *
   * Since: 1.0
   */
  props[PROP_N_ZEROS] = new_count_spec ("n-zeros");

  /**
   * MtlStatistics:minimum: (getter get_minimum)
   *
   * The least finite element.
   *
   * Since: 1.0
   */
  props[PROP_MINIMUM] = new_number_spec ("minimum");

  /**
   * MtlStatistics:maximum: (getter get_maximum)
   *
   * The greatest finite element.
   *
   * Since: 1.0
   */
  props[PROP_MAXIMUM] = new_number_spec ("maximum");

  /**
   * MtlStatistics:mean: (getter get_mean)
   *
   * The mean of the finite elements.
   *
   * Since: 1.0
   */
  props[PROP_MEAN] = new_number_spec ("mean");

  /**
   * MtlStatistics:deviation: (getter get_deviation)
   *
   * The standard deviation of the finite elements.
   *
   * Since: 1.0
   */
  props[PROP_DEVIATION] = new_number_spec ("deviation");

  g_object_class_install_properties (object_class, N_PROPS, props);
}

static void
mtl_statistics_init (MtlStatistics *self)
{
}

MtlStatistics *
mtl_statistics_new (MtlElementType  type,
                    guint64         n,
                    const MtlTally *tally)
{
  MtlStatistics *self = g_object_new (MTL_TYPE_STATISTICS, NULL);

  self->type = type;
  self->dtype = mtl_element_type_get_dtype (type);
  self->count = n;
  self->tally = *tally;
  return self;
}

/* NaN if there is none. */
static MtlNumber
get_number (MtlStatistics *self,
            gint64         key)
{
  return self->tally.least > self->tally.most ? mtl_number_from_double (NAN)
                                              : mtl_tally_key_to_number (key, self->type);
}

static MtlNumber
get_minimum (MtlStatistics *self)
{
  return get_number (self, self->tally.least);
}

static MtlNumber
get_maximum (MtlStatistics *self)
{
  return get_number (self, self->tally.most);
}

/**
 * mtl_statistics_get_dtype:
 * @self: statistics
 *
 * Gets the type of the elements. If they have several lanes, it is that of a
 * lane.
 *
 * Returns: the element type
 *
 * Since: 1.0
 */
MtlDType
mtl_statistics_get_dtype (MtlStatistics *self)
{
  g_return_val_if_fail (MTL_IS_STATISTICS (self), MTL_DTYPE_OTHER);

  return self->dtype;
}

/**
 * mtl_statistics_get_count:
 * @self: statistics
 *
 * Gets the number of elements, including NaN and infinities. Each lane counts.
 *
 * Returns: the number of elements
 *
 * Since: 1.0
 */
guint64
mtl_statistics_get_count (MtlStatistics *self)
{
  g_return_val_if_fail (MTL_IS_STATISTICS (self), 0);

  return self->count;
}

/**
 * mtl_statistics_get_n_nans:
 * @self: statistics
 *
 * Gets the number of elements that are NaN. A complex number is NaN if either
 * part is.
 *
 * Returns: the number of elements
 *
 * Since: 1.0
 */
guint64
mtl_statistics_get_n_nans (MtlStatistics *self)
{
  g_return_val_if_fail (MTL_IS_STATISTICS (self), 0);

  return self->tally.n_nans;
}

/**
 * mtl_statistics_get_n_infinities:
 * @self: statistics
 *
 * Gets the number of elements that are infinite, of either sign. A complex
 * number is infinite if either part is, and neither is NaN.
 *
 * Returns: the number of elements
 *
 * Since: 1.0
 */
guint64
mtl_statistics_get_n_infinities (MtlStatistics *self)
{
  g_return_val_if_fail (MTL_IS_STATISTICS (self), 0);

  return self->tally.n_infinities;
}

/**
 * mtl_statistics_get_n_zeros:
 * @self: statistics
 *
 * Gets the number of elements that are 0, of either sign, or false.
 *
 * Returns: the number of elements
 *
 * Since: 1.0
 */
guint64
mtl_statistics_get_n_zeros (MtlStatistics *self)
{
  g_return_val_if_fail (MTL_IS_STATISTICS (self), 0);

  return self->tally.n_zeros;
}

/**
 * mtl_statistics_get_minimum:
 * @self: statistics
 *
 * Gets the least finite element. An integer of 64 bits is rounded to the
 * nearest double; [method@Mtl.Statistics.get_minimum_int64] and
 * [method@Mtl.Statistics.get_minimum_uint64] are exact.
 *
 * Returns: the minimum; NaN if there is no finite element, or if the elements
 *   are complex numbers, which have no order
 *
 * Since: 1.0
 */
double
mtl_statistics_get_minimum (MtlStatistics *self)
{
  g_return_val_if_fail (MTL_IS_STATISTICS (self), NAN);

  return mtl_number_to_double (get_minimum (self));
}

/**
 * mtl_statistics_get_maximum:
 * @self: statistics
 *
 * Gets the greatest finite element, as [method@Mtl.Statistics.get_minimum] does
 * the least.
 *
 * Returns: the maximum; NaN if there is no finite element, or if the elements
 *   are complex numbers, which have no order
 *
 * Since: 1.0
 */
double
mtl_statistics_get_maximum (MtlStatistics *self)
{
  g_return_val_if_fail (MTL_IS_STATISTICS (self), NAN);

  return mtl_number_to_double (get_maximum (self));
}

/**
 * mtl_statistics_get_minimum_int64:
 * @self: statistics
 * @error: return location for a [error@Mtl.Error]
 *
 * Gets the least finite element as a signed integer. Floats are truncated
 * towards zero.
 *
 * Errors:
 *
 * - %MTL_ERROR_OVERFLOW: the minimum does not fit in a signed integer of 64
 *   bits, or there is none
 *
 * Returns: the minimum; on error, 0
 *
 * Since: 1.0
 */
gint64
mtl_statistics_get_minimum_int64 (MtlStatistics  *self,
                                  GError        **error)
{
  gint64 value = 0;

  g_return_val_if_fail (MTL_IS_STATISTICS (self), 0);

  mtl_number_to_int64 (get_minimum (self), &value, error);
  return value;
}

/**
 * mtl_statistics_get_maximum_int64:
 * @self: statistics
 * @error: return location for a [error@Mtl.Error]
 *
 * Gets the greatest finite element as a signed integer. Floats are truncated
 * towards zero.
 *
 * Errors:
 *
 * - the errors of [method@Mtl.Statistics.get_minimum_int64]
 *
 * Returns: the maximum; on error, 0
 *
 * Since: 1.0
 */
gint64
mtl_statistics_get_maximum_int64 (MtlStatistics  *self,
                                  GError        **error)
{
  gint64 value = 0;

  g_return_val_if_fail (MTL_IS_STATISTICS (self), 0);

  mtl_number_to_int64 (get_maximum (self), &value, error);
  return value;
}

/**
 * mtl_statistics_get_minimum_uint64:
 * @self: statistics
 * @error: return location for a [error@Mtl.Error]
 *
 * Gets the least finite element as an unsigned integer. Floats are truncated
 * towards zero.
 *
 * Errors:
 *
 * - %MTL_ERROR_OVERFLOW: the minimum does not fit in an unsigned integer of 64
 *   bits, or there is none
 *
 * Returns: the minimum; on error, 0
 *
 * Since: 1.0
 */
guint64
mtl_statistics_get_minimum_uint64 (MtlStatistics  *self,
                                   GError        **error)
{
  guint64 value = 0;

  g_return_val_if_fail (MTL_IS_STATISTICS (self), 0);

  mtl_number_to_uint64 (get_minimum (self), &value, error);
  return value;
}

/**
 * mtl_statistics_get_maximum_uint64:
 * @self: statistics
 * @error: return location for a [error@Mtl.Error]
 *
 * Gets the greatest finite element as an unsigned integer. Floats are truncated
 * towards zero.
 *
 * Errors:
 *
 * - the errors of [method@Mtl.Statistics.get_minimum_uint64]
 *
 * Returns: the maximum; on error, 0
 *
 * Since: 1.0
 */
guint64
mtl_statistics_get_maximum_uint64 (MtlStatistics  *self,
                                   GError        **error)
{
  guint64 value = 0;

  g_return_val_if_fail (MTL_IS_STATISTICS (self), 0);

  mtl_number_to_uint64 (get_maximum (self), &value, error);
  return value;
}

static char *
format_number (MtlStatistics *self,
               MtlNumber      number)
{
  MtlElementType type = self->type;
  guint8 item[16] = { 0 };
  MtlLayout layout;

  if (self->tally.least > self->tally.most)
    return g_strdup ("nan");

  type.padded = type.bits < 8;
  mtl_number_store (number, type, item, 0);
  mtl_layout_init (&layout, 0, mtl_element_type_get_item_bits (type), 0);
  return mtl_strided_format (&(MtlStrided) { type, &layout, item }, 1);
}

/**
 * mtl_statistics_format_minimum:
 * @self: statistics
 *
 * Formats the least finite element as [method@Mtl.StridedView.to_string]
 * formats a view of that element. All digits of integers are there.
 *
 * Returns: (transfer full): the text; `nan` if there is no minimum
 *
 * Since: 1.0
 */
char *
mtl_statistics_format_minimum (MtlStatistics *self)
{
  g_return_val_if_fail (MTL_IS_STATISTICS (self), NULL);

  return format_number (self, get_minimum (self));
}

/**
 * mtl_statistics_format_maximum:
 * @self: statistics
 *
 * Formats the greatest finite element as
 * [method@Mtl.Statistics.format_minimum] does the least.
 *
 * Returns: (transfer full): the text; `nan` if there is no maximum
 *
 * Since: 1.0
 */
char *
mtl_statistics_format_maximum (MtlStatistics *self)
{
  g_return_val_if_fail (MTL_IS_STATISTICS (self), NULL);

  return format_number (self, get_maximum (self));
}

static double
get_mean (MtlStatistics *self,
          guint          part)
{
  const MtlMoments *moments = &self->tally.parts[part];

  return self->tally.parts[0].n > 0 ? moments->mean + moments->rest : NAN;
}

/**
 * mtl_statistics_get_mean:
 * @self: statistics
 *
 * Gets the mean of the finite elements. It is computed with doubles, and
 * integers are added up without rounding them first.
 *
 * Returns: the mean, of the real parts if the elements are complex; NaN if
 *   there is no finite element
 *
 * Since: 1.0
 */
double
mtl_statistics_get_mean (MtlStatistics *self)
{
  g_return_val_if_fail (MTL_IS_STATISTICS (self), NAN);

  return get_mean (self, 0);
}

/**
 * mtl_statistics_get_complex_mean:
 * @self: statistics
 * @re: (out) (optional): the real part
 * @im: (out) (optional): the imaginary part, 0 if the elements are not complex
 *
 * Gets the mean of the finite elements, as a complex number.
 *
 * Since: 1.0
 */
void
mtl_statistics_get_complex_mean (MtlStatistics *self,
                                 double        *re,
                                 double        *im)
{
  g_return_if_fail (MTL_IS_STATISTICS (self));

  if (re != NULL)
    *re = get_mean (self, 0);
  if (im != NULL)
    *im = self->type.code == kDLComplex ? get_mean (self, 1) : 0;
}

/**
 * mtl_statistics_get_deviation:
 * @self: statistics
 *
 * Gets the standard deviation of the finite elements: that of the population,
 * like NumPy's `std`. It is the square root of the mean of the squared
 * distances from the mean, |x - mean|², and infinity if these are too large for
 * doubles.
 *
 * Returns: the deviation; NaN if there is no finite element
 *
 * Since: 1.0
 */
double
mtl_statistics_get_deviation (MtlStatistics *self)
{
  const MtlMoments *parts;

  g_return_val_if_fail (MTL_IS_STATISTICS (self), NAN);

  parts = self->tally.parts;
  if (parts[0].n == 0)
    return NAN;

  /* Rounding may make the sum of squares of equal numbers negative. */
  return sqrt (MAX (parts[0].squares + parts[1].squares, 0) / (double) parts[0].n);
}

/* Appends the fewest digits that are enough. */
static void
append_double (MtlText *self,
               double   value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE], format[16];

  for (int digits = 1; digits <= 17; digits++)
    {
      g_snprintf (format, sizeof format, "%%.%dg", digits);
      g_ascii_formatd (text, sizeof text, format, value);
      if (g_ascii_strtod (text, NULL) == value)
        break;
    }

  mtl_text_append (self, text);
}

/* Appends text such as ", 2 NaNs"; nothing if there are none. */
static void
append_count (MtlText    *self,
              guint64     n,
              const char *one,
              const char *several)
{
  if (n > 0)
    mtl_text_append_printf (self, ", %" G_GUINT64_FORMAT " %s", n, n == 1 ? one : several);
}

static void
append_extremes (MtlText       *self,
                 MtlStatistics *statistics)
{
  g_autofree char *minimum = mtl_statistics_format_minimum (statistics);
  g_autofree char *maximum = mtl_statistics_format_maximum (statistics);

  mtl_text_append_printf (self, ", minimum %s, maximum %s", minimum, maximum);
}

static void
append_mean (MtlText       *self,
             MtlStatistics *statistics)
{
  double im = get_mean (statistics, 1);

  mtl_text_append (self, ", mean ");
  append_double (self, get_mean (statistics, 0));
  if (statistics->type.code == kDLComplex)
    {
      if (!signbit (im))
        mtl_text_append_c (self, '+');
      append_double (self, im);
      mtl_text_append_c (self, 'j');
    }
  mtl_text_append (self, ", deviation ");
  append_double (self, mtl_statistics_get_deviation (statistics));
}

/**
 * mtl_statistics_to_string:
 * @self: statistics
 *
 * Formats the statistics in one line, such as `6 elements of float32, minimum
 * 0.0, maximum 5.0, mean 2.5, deviation 1.707825127659933, 1 zero`. NaNs,
 * infinities and zeros are only named if there are any. If there is not enough
 * memory for the text, it only has the number of elements.
 *
 * Returns: (transfer full): the text
 *
 * Since: 1.0
 */
char *
mtl_statistics_to_string (MtlStatistics *self)
{
  g_autofree char *dtype = NULL;
  g_auto (MtlText) text = { 0 };
  const MtlTally *tally;
  char *string;

  g_return_val_if_fail (MTL_IS_STATISTICS (self), NULL);

  tally = &self->tally;
  dtype = mtl_dtype_to_string (self->dtype);
  mtl_text_append_printf (&text, "%" G_GUINT64_FORMAT " element%s of %s", self->count,
                          self->count == 1 ? "" : "s", dtype);
  if (tally->least <= tally->most)
    append_extremes (&text, self);
  if (tally->parts[0].n > 0)
    append_mean (&text, self);
  append_count (&text, tally->n_nans, "NaN", "NaNs");
  append_count (&text, tally->n_infinities, "infinity", "infinities");
  append_count (&text, tally->n_zeros, "zero", "zeros");
  string = mtl_text_steal (&text, NULL);
  return string != NULL ? string
                        : g_strdup_printf ("%" G_GUINT64_FORMAT " elements", self->count);
}
