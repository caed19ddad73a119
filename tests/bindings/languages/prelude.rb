# SPDX-License-Identifier: LGPL-2.1-or-later
# Makes the objects that functions.py names, and prints what functions return.

require 'gio2'

module Mtl
  loader = GObjectIntrospection::Loader.new(self)
  loader.version = '1'
  loader.load('Mtl')
end

PROGRESS = proc {}
RENAMED = { 'to_string' => 'to_s', 'equal' => '==' }

def write_value(value)
  case value
  when Array then value.map { |item| write_value(item) }.join(' ')
  when Numeric then format('%.10g', value)
  when true then '1'
  when nil, false then ''
  when GLib::Enum then value.nick
  when String then value
  else value.to_s.start_with?('#<') || value.is_a?(GLib::Bytes) ? 'object' : value.to_s
  end
end

def check(label)
  puts "#{label}: #{write_value(yield).gsub("\n", ';')}"
rescue GLib::ErrorInfo => error
  puts "#{label}: error #{error.message}"
rescue StandardError, NotImplementedError => error
  puts "#{label}: raised #{error.message.lines.first}"
end

# Calls a method by one of the names that ruby-gnome may have given it.
def call(object, name, *arguments, &block)
  object, name = Mtl, "dtype_#{name}" if object == Mtl::DType
  short = name.sub(/\A(get|is|has|list)_/, '')
  names = [RENAMED[name], name, short, "#{name}?", "#{short}?", "#{name.sub(/\Aset_/, '')}="]
  found = names.compact.find { |candidate| object.class.method_defined?(candidate, false) } \
    || names.compact.find { |candidate| object.respond_to?(candidate) }
  raise NoMethodError, "there is no #{name}" unless found

  object.public_send(found, *arguments, &block)
end

# Calls one particular constructor.
def construct(type, name, *arguments)
  type.allocate.tap { |object| object.send("initialize_#{name}", *arguments) }
end

def wait(label, object, name, finish, *arguments)
  check(label) do
    main_loop = GLib::MainLoop.new
    result = nil
    object.public_send(name, *arguments) do |*given|
      result = given[1]
      main_loop.quit unless result.is_a?(Integer)
    end
    main_loop.run
    next construct(object, finish, result) if finish.start_with?('new_')

    object.public_send(finish, result)
  end
end

BUFFER = Mtl::Buffer.new(nil, 24, :host)
def host = Mtl::Device.host
def view = Mtl::StridedView.new([1, 2, 3, 4, 5, 6], :int32, [2, 3])
def complex_view = Mtl::StridedView.new([1, 2], :complex64, [2])
def buffer = BUFFER
def builder
  Mtl::TensorFileBuilder.new.tap do |made|
    made.add('a', view)
    made.set_metadata('key', 'text')
  end
end
BYTES = GLib::Bytes.new([1, 2, 3, 4, 5, 6].pack('l6'))
ELEMENT = GLib::Bytes.new([7].pack('l'))
def bytes = BYTES
def element = ELEMENT
def new_file = Gio::File.open(path: 'new.safetensors')
def new_index = Gio::File.open(path: 'new.safetensors.index.json')
def saved = Gio::File.open(path: 'saved.safetensors')
builder.write(saved)
def file_of_tensors = Mtl::TensorFile.new(saved, nil, :auto)
def entry = file_of_tensors.lookup_entry('a')
def event = Mtl::Event.new(nil)
def layout = construct(Mtl::StridedLayout, 'new', [2, 3], nil, 32)
def other_buffer = Mtl::Buffer.new(nil, 24, :host)
def statistics = view.compute_statistics
def tensor = view.export_dlpack([], nil)
def variant = GLib::Variant.new([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 'ad')
def no_flags = 0
def usage = [:compute]
