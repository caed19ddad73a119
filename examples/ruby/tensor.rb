#!/usr/bin/env ruby
# SPDX-License-Identifier: LGPL-2.1-or-later

# Shares a tensor through DLPack, reads its elements, and saves it.

require 'gio2'

module Mtl
  loader = GObjectIntrospection::Loader.new(self)
  loader.version = '1'
  loader.load('Mtl')
end

view = Mtl::StridedView.new([1, 2, 3, 4, 5, 6], :float32, [2, 3])
column = view.slice(':, -1')
tensor = column.export_dlpack([], nil)
shared = Mtl::StridedView.new(tensor)
shared.fill_double(0)
puts view

n_rows, n_columns = view.shape
n_rows.times do |i|
  sum = n_columns.times.sum { |j| view.get_double([i, j]) }
  puts format('sum of row %d: %g', i, sum)
end

# The bytes are a frozen string of the same memory.
row = view.select(0, 1).bytes.to_s
puts format('bytes of row 1: %g %g %g', *row.unpack('fff'))

file = Gio::File.open(path: 'tensors.safetensors')
builder = Mtl::TensorFileBuilder.new
builder.add('view', view)
builder.write(file)

tensors = Mtl::TensorFile.new(file, nil, :auto)
tensors.names.each do |name|
  entry = tensors.lookup_entry(name)
  puts "#{name}: #{entry.dtype.nick}, #{entry.shape.join(' x ')}"
end

begin
  view.get_double([2, 0])
rescue Mtl::Error::OutOfBounds => error
  puts error.message
end

# An asynchronous method has one block, for the progress and for the end.
main_loop = GLib::MainLoop.new
view.to_dtype_async(:float16, :k) do |source, result|
  if source == view
    puts view.to_dtype_finish(result)
    main_loop.quit
  else
    puts "#{source} of #{result} bytes"
  end
end
main_loop.run
