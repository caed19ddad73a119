#!/usr/bin/env lua5.3
-- SPDX-License-Identifier: LGPL-2.1-or-later

-- Shares a tensor through DLPack, reads its elements, and saves it.

local lgi = require 'lgi'
local Mtl = lgi.require('Mtl', '1')
local Gio = lgi.Gio

local view = Mtl.StridedView.new_from_doubles({1, 2, 3, 4, 5, 6}, 'FLOAT32', {2, 3})
local column = view:slice(':, -1')
local tensor = column:export_dlpack({})
local shared = Mtl.StridedView.new_from_dlpack(tensor)
shared:fill_double(0)
print(view:to_string())

-- Indices begin at 0, as in all other languages.
for i = 0, view:get_extent(0) - 1 do
  local sum = 0
  for j = 0, view:get_extent(1) - 1 do
    sum = sum + view:get_double({i, j})
  end
  print(('sum of row %d: %g'):format(i, sum))
end

-- The bytes are a string, which is a copy.
local row = view:select(0, 1):get_bytes().data
print(('bytes of row 1: %g %g %g'):format(string.unpack('fff', row)))

-- Where it fails, a function returns nil and an error, so assert() raises it.
local file = Gio.File.new_for_path('tensors.safetensors')
local builder = Mtl.TensorFileBuilder.new()
assert(builder:add('view', view))
assert(builder:write(file))

local tensors = assert(Mtl.TensorFile.open(file, nil, 'AUTO'))
for _, name in ipairs(tensors:list_names()) do
  local entry = tensors:lookup_entry(name)
  print(('%s: %s, %d x %d'):format(name, Mtl.DType.to_string(entry.dtype),
                                   table.unpack(entry:get_shape())))
end

-- A number is returned even so, and is then 0: ask for the error.
local _, failure = view:get_double({2, 0})
if failure and failure:matches(Mtl.Error, 'OUT_OF_BOUNDS') then
  print(failure.message)
end

-- In a coroutine, an asynchronous method waits while the main loop runs.
local convert = Gio.Async.call(function()
  return assert(view:async_to_dtype('FLOAT16', 'K', function(done, total)
    print(('%d of %d bytes'):format(done, total))
  end))
end)
print(convert():to_string())
