#!/usr/bin/env -S gjs -m
/* SPDX-License-Identifier: LGPL-2.1-or-later */

// Shows a tensor's shape, slices and values.

import Mtl from 'gi://Mtl?version=1';

const {FLOAT32, INT32} = Mtl.DType;

// The nesting sets the shape. The default dtype is float64.
const view = Mtl.StridedView.from([[1, 2, 3], [4, 5, 6]], FLOAT32);
print(`shape ${view.shape.join(' x ')}, ${Mtl.DType.to_string(view.dtype)}:\n${view}`);

// A slice, written as in Python, is another view of the same memory: writing to
// it changes the first one, too. A negative index counts from the end.
const columns = view.slice(':, 1:');
columns.set(-1, -1, 60);
print(`last element: ${view.get(1, 2)}`);

// Transposing exchanges the strides, the distances to the next element along
// each axis. It moves no elements.
const transposed = view.transpose();
print(`transposed, strides ${transposed.strides.join(' and ')}:\n${transposed}`);
print(`same memory: ${transposed.get_address() === view.get_address()}`);

// Copying repeats a row to fit a matrix, and converts the elements.
const tens = Mtl.StridedView.new_zeros(null, INT32, [2, 3]);
tens.copy_from(Mtl.StridedView.from([10, 20, 30]));
print(`broadcast:\n${tens}`);

// Iterating over a view returns its rows, and iterating over a row its numbers.
for (const row of view)
    print(`sum of a row: ${[...row].reduce((sum, value) => sum + value)}`);

// Errors are in the domain Mtl.Error.
try {
    view.get(2, 0);
} catch (error) {
    if (!error.matches(Mtl.Error, Mtl.Error.OUT_OF_BOUNDS))
        throw error;
    print(error.message);
}
