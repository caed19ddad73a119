-- SPDX-License-Identifier: LGPL-2.1-or-later
-- Makes the objects that functions.py names, and prints what functions return.

local lgi = require 'lgi'
local Mtl = lgi.require('Mtl', '1')
local Gio, GLib = lgi.Gio, lgi.GLib

local function write(value)
  if type(value) == 'table' then
    local items = {}
    for i = 1, value.n or #value do items[i] = write(value[i]) end
    return table.concat(items, ' ')
  elseif type(value) == 'number' then
    return ('%.10g'):format(value)
  elseif type(value) == 'userdata' then
    local known, text = pcall(function () return value:to_string() end)
    return known and text or 'object'
  end
  return value == true and '1' or value and tostring(value) or ''
end

local function check(label, func)
  local results = table.pack(pcall(func))
  local last = results[results.n]
  if not results[1] then
    print(label .. ': raised ' .. tostring(last))
  elseif GLib.Error:is_type_of(last) then
    print(label .. ': error ' .. last.message)
  else
    print(label .. ': ' .. write(table.pack(table.unpack(results, 2, results.n))):gsub('\n', ';'))
  end
end

-- The object is '.Class' for a function of a class. The last argument is the callback; those before
-- may be nil.
local function wait(label, object, name, finish, ...)
  local arguments, n = {...}, select('#', ...)
  check(label, function ()
    local loop = GLib.MainLoop()
    local result
    arguments[n + 1] = function (_, given)
      result = given
      loop:quit()
    end
    if type(object) == 'string' then
      local class = Mtl[object:sub(2)]
      class[name](table.unpack(arguments, 1, n + 1))
      loop:run()
      return class[finish](result)
    end
    object[name](object, table.unpack(arguments, 1, n + 1))
    loop:run()
    return object[finish](object, result)
  end)
end

local shared_buffer = Mtl.Buffer.new(nil, 24, 'HOST')
local function host () return Mtl.Device.get_host() end
local function view ()
  return Mtl.StridedView.new_from_doubles({1, 2, 3, 4, 5, 6}, 'INT32', {2, 3})
end
local function complex_view ()
  return Mtl.StridedView.new_from_doubles({1, 2}, 'COMPLEX64', {2})
end
local function buffer () return shared_buffer end
local function builder ()
  local made = Mtl.TensorFileBuilder.new()
  made:add('a', view())
  made:set_metadata('key', 'text')
  return made
end
local function bytes () return GLib.Bytes.new(string.pack('i4i4i4i4i4i4', 1, 2, 3, 4, 5, 6)) end
local function element () return GLib.Bytes.new(string.pack('i4', 7)) end
local function new_file () return Gio.File.new_for_path('new.safetensors') end
local function new_index () return Gio.File.new_for_path('new.safetensors.index.json') end
local function saved () return Gio.File.new_for_path('saved.safetensors') end
builder():write(saved())
local function file_of_tensors () return Mtl.TensorFile.open(saved(), nil, 'AUTO') end
local function entry () return file_of_tensors():lookup_entry('a') end
local function event () return Mtl.Event.new(nil) end
local function layout () return Mtl.StridedLayout.new({2, 3}, nil, 32) end
local function other_buffer () return Mtl.Buffer.new(nil, 24, 'HOST') end
local function statistics () return view():compute_statistics() end
local function tensor () return view():export_dlpack({}) end
local function variant () return GLib.Variant('ad', {1, 2, 3, 4, 5, 6}) end
local function no_flags () return {} end
local function usage () return {'COMPUTE'} end
local function progress () end
