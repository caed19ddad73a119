#!/usr/bin/perl
# SPDX-License-Identifier: LGPL-2.1-or-later

# Shares a tensor through DLPack, reads its elements, and saves it.

use strict;
use warnings;
use Glib::Object::Introspection;

Glib::Object::Introspection->setup(basename => 'Gio', version => '2.0', package => 'Glib::IO');
Glib::Object::Introspection->setup(basename => 'Mtl', version => '1', package => 'Mtl');

my $view = Mtl::StridedView->new_from_doubles([1, 2, 3, 4, 5, 6], 'float32', [2, 3]);
my $column = $view->slice(':, -1');
my $tensor = $column->export_dlpack([]);
my $shared = Mtl::StridedView->new_from_dlpack($tensor);
$shared->fill_double(0);
print $view->to_string, "\n";

my ($n_rows, $n_columns) = @{$view->get_shape};
for my $i (0 .. $n_rows - 1) {
    my $sum = 0;
    $sum += $view->get_double([$i, $_]) for 0 .. $n_columns - 1;
    printf "sum of row %d: %g\n", $i, $sum;
}

# The bytes are a string, which is a copy.
my $row = $view->select(0, 1)->get_bytes->get_data;
printf "bytes of row 1: %g %g %g\n", unpack 'fff', $row;

my $file = Glib::IO::File::new_for_path('tensors.safetensors');
my $builder = Mtl::TensorFileBuilder->new;
$builder->add('view', $view);
$builder->write($file);

my $tensors = Mtl::TensorFile->open($file, undef, 'auto', undef);
for my $name (@{$tensors->list_names}) {
    my $entry = $tensors->lookup_entry($name);
    printf "%s: %s, %s\n", $name, $entry->get_dtype, join ' x ', @{$entry->get_shape};
}

if (!eval { $view->get_double([2, 0]); 1 }) {
    my $error = $@;
    die $error unless ref $error && $error->matches('Mtl::Error', 'out-of-bounds');
    print $error->message, "\n";
}

# Each callback is followed by the data that it is passed last, here none.
my $loop = Glib::MainLoop->new;
my $progress = sub { my ($done, $total) = @_; print "$done of $total bytes\n" };
$view->to_dtype_async('float16', 'k', undef, $progress, undef, sub {
    my ($source, $result) = @_;
    print $view->to_dtype_finish($result)->to_string, "\n";
    $loop->quit;
});
$loop->run;
