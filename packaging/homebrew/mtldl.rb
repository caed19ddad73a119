# SPDX-License-Identifier: LGPL-2.1-or-later
class Mtldl < Formula
  desc "Tensors for GObject that share memory with array libraries"
  homepage "https://mtldl.org/"
  url "https://mtldl.org/releases/mtldl-1.0.0.tar.xz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "LGPL-2.1-or-later"

  depends_on "gobject-introspection" => :build
  depends_on "meson" => :build
  depends_on "ninja" => :build
  depends_on "pkgconf" => [:build, :test]
  depends_on "vala" => :build
  depends_on "adwaita-icon-theme" => :no_linkage
  depends_on "cairo"
  depends_on "gdk-pixbuf"
  depends_on "gettext"
  depends_on "glib"
  depends_on "gstreamer"
  depends_on "gtk4"
  depends_on "libdeflate"
  depends_on "pygobject3"
  depends_on "python@3.14"

  on_linux do
    depends_on "zlib-ng-compat"
  end

  def python3
    which("python3.14")
  end

  def install
    site_packages = prefix/Language::Python.site_packages(python3)
    args = %W[
      -Dtests=false
      -Dexamples=false
      -Dintrospection=enabled
      -Dvapi=enabled
      -Dpython=enabled
      -Dpython_interpreter=#{python3}
      -Dpython_overrides_dir=#{site_packages}/gi/overrides
      -Dgjs=enabled
      -Dgst=enabled
      -Dgtk=enabled
      -Dpixbuf=enabled
      -Dlibdeflate=enabled
      -Dviewer=enabled
      -Dnls=enabled
      -Ddocs=disabled
    ]

    # The programs that make the typelibs look for GIRs of other formulae here.
    ENV["XDG_DATA_DIRS"] = HOMEBREW_PREFIX/"share"
    # With it meson leaves the cache of icons alone, which all formulae share.
    ENV["DESTDIR"] = "/"

    system "meson", "setup", "build", *args, *std_meson_args
    system "meson", "compile", "-C", "build", "--verbose"
    system "meson", "install", "-C", "build"
    pkgshare.install "examples/c/tensor.c", "examples/python/tensor.py"
  end

  def post_install
    icons = HOMEBREW_PREFIX/"share/icons/hicolor"
    system Formula["gtk4"].opt_bin/"gtk4-update-icon-cache", "-f", "-t", icons
  end

  test do
    flags = shell_output("pkgconf --cflags --libs mtldl-1").chomp.split
    system ENV.cc, pkgshare/"tensor.c", "-o", "tensor", *flags
    printed = shell_output("./tensor")
    assert_match "[[1. 2. 3.]", printed
    assert_equal printed, shell_output("#{python3} #{pkgshare}/tensor.py")
    assert_match version.to_s, shell_output("#{bin}/mtldl --version")
  end
end
