// Applies functions of aten/vec to arrays in a loop, as kernels do.
//
// Usage: driver FUNCTION float|double|packs INPUT OUTPUT reads raw numbers from the file INPUT and
// writes to OUTPUT; functions of two arguments take pairs. `packs` are floats, in packs. "driver
// packs" prints whether there are packs, "driver speed" ns per element.
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "aten/vec/airy.h"
#include "aten/vec/bessel.h"
#include "aten/vec/incomplete_gamma.h"
#include "aten/vec/logaddexp2.h"
#include "aten/vec/math.h"
#include "aten/vec/modified_bessel.h"
#include "aten/vec/normal_distribution.h"
#include "aten/vec/polygamma.h"
#include "aten/vec/representation.h"

namespace vec = at::vec;

template <class T>
using Loop = void (*)(const T* in, T* out, size_t count);

#define UNARY(NAME)                                                 \
  if (name == #NAME)                                                \
    return [](const T* in, T* out, size_t count) {                  \
      for (size_t i = 0; i < count; ++i) out[i] = vec::NAME(in[i]); \
    };
#define BINARY(NAME)                                                                   \
  if (name == #NAME)                                                                   \
    return [](const T* in, T* out, size_t count) {                                     \
      for (size_t i = 0; i < count; ++i) out[i] = vec::NAME(in[2 * i], in[2 * i + 1]); \
    };

#ifdef AT_VEC_HAS_PACKS
#define PACKED(NAME)                                                 \
  if (name == #NAME)                                                 \
    return [](const float* in, float* out, size_t count) {           \
      for (size_t i = 0; i < count; i += vec::kPack)                 \
        vec::store_pack(out + i, vec::NAME(vec::load_pack(in + i))); \
    };
#else
#define PACKED(NAME)
#endif

/// `count` is rounded up to whole packs.
static Loop<float> find_pack_loop([[maybe_unused]] const std::string& name) {
  // clang-format off
  PACKED(exp) PACKED(exp2) PACKED(sigmoid) PACKED(softplus) PACKED(tanh) PACKED(sin) PACKED(cos)
  PACKED(erf) PACKED(sqrt) PACKED(rsqrt) PACKED(reciprocal) PACKED(square) PACKED(relu) PACKED(abs)
  PACKED(floor) PACKED(ceil) PACKED(trunc) PACKED(round)
      // clang-format on
      return nullptr;
}

static bool is_binary(const std::string& name) {
  return name == "pow" || name == "atan2" || name == "hypot" || name == "fmod" ||
         name == "logaddexp" || name == "maximum" || name == "minimum" || name == "zeta" ||
         name == "polygamma" || name == "gammainc" || name == "gammaincc" || name == "logaddexp2";
}

template <class T>
static Loop<T> find_loop(const std::string& name) {
  // clang-format off
  UNARY(exp) UNARY(exp2) UNARY(expm1) UNARY(log) UNARY(log2) UNARY(log10) UNARY(log1p) UNARY(tanh)
  UNARY(sigmoid) UNARY(softplus)
  UNARY(sin) UNARY(cos) UNARY(tan) UNARY(asin) UNARY(acos) UNARY(atan) UNARY(sinh) UNARY(cosh)
  UNARY(asinh) UNARY(acosh) UNARY(atanh)
  UNARY(erf) UNARY(erfc) UNARY(lgamma) UNARY(digamma) UNARY(sqrt) UNARY(rsqrt) UNARY(floor)
  UNARY(ceil) UNARY(trunc) UNARY(round)
  UNARY(abs) UNARY(sign) UNARY(relu) UNARY(square) UNARY(reciprocal) UNARY(isnan) UNARY(isinf)
  UNARY(isfinite)
  BINARY(pow) BINARY(atan2) BINARY(hypot) BINARY(fmod) BINARY(logaddexp) BINARY(maximum)
  BINARY(minimum)
  UNARY(erfcx) UNARY(erfinv) UNARY(ndtri) UNARY(i0) UNARY(i0e) UNARY(i1) UNARY(i1e)
  UNARY(frexp_mantissa) UNARY(frexp_exponent)
  UNARY(bessel_j0) UNARY(bessel_j1) UNARY(bessel_y0) UNARY(bessel_y1) UNARY(modified_bessel_k0)
  UNARY(modified_bessel_k1)
  UNARY(scaled_modified_bessel_k0) UNARY(scaled_modified_bessel_k1) UNARY(airy_ai)
  BINARY(zeta) BINARY(polygamma) BINARY(gammainc) BINARY(gammaincc) BINARY(logaddexp2)
      // clang-format on
      return nullptr;
}

template <class T>
static std::vector<T> read_numbers(const char* path) {
  std::FILE* file = std::fopen(path, "rb");
  std::fseek(file, 0, SEEK_END);
  std::vector<T> numbers(static_cast<size_t>(std::ftell(file)) / sizeof(T));
  std::rewind(file);
  const size_t read = std::fread(numbers.data(), sizeof(T), numbers.size(), file);
  std::fclose(file);

  numbers.resize(read);
  return numbers;
}

template <class T>
static int apply(const std::string& name, Loop<T> loop, const char* input, const char* output) {
  if (!loop) return 1;

  std::vector<T> in = read_numbers<T>(input);
  const size_t size = is_binary(name) ? in.size() / 2 : in.size();
  in.resize(in.size() + vec::kPack);
  std::vector<T> out(size + vec::kPack);
  loop(in.data(), out.data(), size);

  out.resize(size);
  std::FILE* file = std::fopen(output, "wb");
  const size_t written = std::fwrite(out.data(), sizeof(T), out.size(), file);
  std::fclose(file);
  return written == out.size() ? 0 : 1;
}

/// Nanoseconds for each element.
static double nanoseconds(Loop<float> loop, const std::vector<float>& in, std::vector<float>& out) {
  loop(in.data(), out.data(), out.size());  // not measured

  constexpr int kRepetitions = 200;
  const auto start = std::chrono::steady_clock::now();
  for (int repetition = 0; repetition < kRepetitions; ++repetition)
    loop(in.data(), out.data(), out.size());
  const std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - start;
  return elapsed.count() / kRepetitions / static_cast<double>(out.size());
}

/// Prints the time of a loop over numbers and, where there is one, of a loop over packs.
static void measure() {
  std::vector<float> in(8192);
  std::vector<float> out(4096);
  for (size_t i = 0; i < in.size(); ++i) in[i] = 0.05f + static_cast<float>(i % 1000) * 0.9e-3f;

  for (const std::string name :
       {"exp", "exp2",  "expm1", "log",       "log2",  "log1p", "tanh",  "sigmoid", "softplus",
        "sin", "tan",   "asin",  "atan",      "sinh",  "asinh", "atanh", "erf",     "erfc",
        "pow", "atan2", "hypot", "logaddexp", "round", "floor", "sqrt"}) {
    std::printf("%-10s %.2f", name.c_str(), nanoseconds(find_loop<float>(name), in, out));
    const Loop<float> packs = find_pack_loop(name);
    if (packs) std::printf(" %.2f", nanoseconds(packs, in, out));
    std::puts("");
  }
}

int main(int, char** argv) {
  const std::string name = argv[1];
  if (name == "speed") return measure(), 0;
  if (name == "packs") return std::puts(vec::kHasPacks ? "yes" : "no"), 0;

  const std::string kind = argv[2];
  if (kind == "double") return apply<double>(name, find_loop<double>(name), argv[3], argv[4]);
  return apply<float>(name, kind == "packs" ? find_pack_loop(name) : find_loop<float>(name),
                      argv[3], argv[4]);
}
