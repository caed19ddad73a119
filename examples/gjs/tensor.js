#!/usr/bin/env -S gjs -m
/* SPDX-License-Identifier: LGPL-2.1-or-later */

// A tensor's shape, slices and values.

import Mtl from 'gi://Mtl?version=1';

const {FLOAT32, INT32} = Mtl.DType;

// Nested arrays give the shape. Without a dtype the elements were float64.
const view = Mtl.StridedView.from([[1, 2, 3], [4, 5, 6]], FLOAT32);
print(`shape ${view.shape.join(' x ')}, ${Mtl.DType.to_string(view.dtype)}:\n${view}`);

// A slice, written as in Python, is another view of the same memory: what is
// written to it shows in the first one. A negative index counts from the end.
const columns = view.slice(':, 1:');
columns.set(60, -1, -1);
print(`last element: ${view.get(1, 2)}`);

// Transposing exchanges the strides, which say how far it is to the next
// element along each axis, and moves nothing.
const transposed = view.transpose();
print(`transposed, strides ${transposed.strides.join(' and ')}:\n${transposed}`);
print(`same memory: ${transposed.get_address() === view.get_address()}`);

// A row is repeated to fit a matrix; copies convert the elements.
const tens = Mtl.StridedView.new_zeros(null, INT32, [2, 3]);
tens.copy_from(Mtl.StridedView.from([10, 20, 30]));
print(`broadcast:\n${tens}`);

// Going through a view gives its rows, and going through a row its numbers.
for (const row of view)
    print(`sum of a row: ${[...row].reduce((sum, value) => sum + value)}`);

// What does not work is an error of the domain Mtl.Error.
try {
    view.get(2, 0);
} catch (error) {
    if (!error.matches(Mtl.Error, Mtl.Error.OUT_OF_BOUNDS))
        throw error;
    print(error.message);
}
