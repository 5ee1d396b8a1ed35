# The formula for a tap.  Untried: no macOS could be had, and there is no release to fetch.
class Neardup < Formula
  desc "Finds near-duplicate documents, and shows why each one is removed"
  homepage "https://github.com/neardup/neardup"
  url "https://github.com/neardup/neardup/releases/download/v@VERSION@/neardup-@VERSION@-source.tar.gz"
  sha256 "@SHA256_SOURCE@"
  license "Apache-2.0"

  depends_on "cmake" => :build
  depends_on "ninja" => :build
  depends_on "pkgconf" => :build
  depends_on "xxhash" => :build
  depends_on "brotli"
  depends_on "gmime"
  depends_on "isa-l"
  depends_on "libarchive"
  depends_on "simdjson"
  depends_on "xz"
  depends_on "zstd"

  uses_from_macos "bzip2"
  uses_from_macos "libxml2"
  uses_from_macos "zlib"

  def install
    system "cmake", "-S", ".", "-B", "build", "-G", "Ninja",
           "-DNEARDUP_TESTS=OFF", "-DNEARDUP_BENCH=OFF", "-DNEARDUP_PYTHON=OFF", "-DNEARDUP_SERVER=OFF",
           *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
  end

  test do
    (testpath/"in.jsonl").write <<~JSONL
      {"id": 1, "text": "the ship left the harbour at noon"}
      {"id": 2, "text": "nobody saw it again after the storm"}
      {"id": 3, "text": "the ship left the harbour at noon"}
    JSONL
    assert_equal 2, shell_output("#{bin}/neardup dedup -q in.jsonl").lines.count
  end
end
