/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* An extension as nanobind's users write them. */

#include <cstdint>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace nb = nanobind;
using namespace nb::literals;

/* An array of the same memory that nanobind makes. What it is given it would
 * hand back as the object that it was. */
template <typename... Options>
static nb::ndarray<nb::array_api, Options...>
share (nb::ndarray<Options...> array)
{
  auto *held = new nb::ndarray<Options...> (array);
  nb::capsule owner (held, [] (void *p) noexcept { delete (nb::ndarray<Options...> *) p; });
  std::vector<size_t> shape (array.shape_ptr (), array.shape_ptr () + array.ndim ());
  std::vector<int64_t> strides (array.stride_ptr (), array.stride_ptr () + array.ndim ());

  return nb::ndarray<nb::array_api, Options...> (array.data (), array.ndim (), shape.data (), owner,
                                                 strides.data (), array.dtype (),
                                                 array.device_type (), array.device_id ());
}

NB_MODULE (nanobind_peer, m)
{
  using Matrix = nb::ndarray<float, nb::ndim<2>>;
  using Rows = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

  m.def ("take", share<>);
  m.def ("take_constant", share<nb::ro>);
  m.def ("give_back", [] (nb::ndarray<> array) { return array; });
  m.def ("address", [] (nb::ndarray<nb::ro> array) { return (uintptr_t) array.data (); });
  m.def ("dtype", [] (nb::ndarray<nb::ro> array) {
    return nb::make_tuple (array.dtype ().code, array.dtype ().bits, array.dtype ().lanes);
  });
  m.def ("set", [] (Matrix array, size_t i, size_t j, float value) {
    array.view () (i, j) = value;
  });
  m.def ("sum", [] (Rows array) {
    double sum = 0;

    for (size_t i = 0; i < array.size (); i++)
      sum += array.data ()[i];
    return sum;
  }, "array"_a.noconvert ());
}
