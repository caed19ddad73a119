# SPDX-License-Identifier: LGPL-2.1-or-later
# Makes the objects that functions.py names, and prints what functions return.

use strict;
use warnings;
use Glib::Object::Introspection;

Glib::Object::Introspection->setup(basename => 'Gio', version => '2.0', package => 'Glib::IO');
Glib::Object::Introspection->setup(basename => 'Mtl', version => '1', package => 'Mtl');

sub write_value {
    my ($value) = @_;
    return '' unless defined $value;
    return join ' ', map { write_value($_) } @$value if ref $value eq 'ARRAY';
    return eval { $value->to_string } // 'object' if ref $value;
    return $value =~ /^-?\d+(\.\d+)?(e[-+]?\d+)?$/ ? sprintf '%.10g', $value : $value;
}

sub check {
    my ($label, $function) = @_;
    my @results = eval { $function->() };
    my $error = $@;
    my $text = $error ? "raised $error" : write_value(\@results);
    $text = 'error ' . $error->message if ref $error;
    $text =~ s/\n(?=.)/;/g;
    $text =~ s/\n//;
    print "$label: $text\n";
}

sub wait_for {
    my ($label, $object, $name, $finish, @arguments) = @_;
    check($label, sub {
        my $loop = Glib::MainLoop->new;
        my $result;
        push @arguments, sub { $result = $_[1]; $loop->quit };
        ref $object ? $object->$name(@arguments) : "Mtl$object"->can($name)->(@arguments);
        $loop->run;
        return $object->$finish($result) if ref $object;
        # Only constructors take the class.
        $finish =~ /^new_/ ? "Mtl$object"->$finish($result) : "Mtl$object"->can($finish)->($result);
    });
}

my $buffer = Mtl::Buffer->new(undef, 24, 'host');
my $progress = sub { };
sub host { Mtl::Device::get_host() }
sub view { Mtl::StridedView->new_from_doubles([1, 2, 3, 4, 5, 6], 'int32', [2, 3]) }
sub complex_view { Mtl::StridedView->new_from_doubles([1, 2], 'complex64', [2]) }
sub buffer { $buffer }
sub builder {
    my $made = Mtl::TensorFileBuilder->new;
    $made->add('a', view());
    $made->set_metadata('key', 'text');
    $made
}
sub bytes { Glib::Bytes->new(pack 'l6', 1 .. 6) }
sub element { Glib::Bytes->new(pack 'l', 7) }
sub new_file { Glib::IO::File::new_for_path('new.safetensors') }
sub new_index { Glib::IO::File::new_for_path('new.safetensors.index.json') }
sub saved { Glib::IO::File::new_for_path('saved.safetensors') }
builder()->write(saved());
sub file_of_tensors { Mtl::TensorFile->open(saved(), undef, 'auto', undef) }
sub entry { file_of_tensors()->lookup_entry('a') }
sub event { Mtl::Event->new }
sub layout { Mtl::StridedLayout->new([2, 3], undef, 32) }
sub other_buffer { Mtl::Buffer->new(undef, 24, 'host') }
sub statistics { view()->compute_statistics }
sub tensor { view()->export_dlpack([]) }
sub variant { Glib::Variant->new('ad', [1 .. 6]) }
sub no_flags { [] }
sub usage { ['compute'] }
