// Checks of c10/util, run by tests/c10/test_util.py. Each check that fails prints its line; the
// exit status is their number.
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "c10/util/ArrayRef.h"
#include "c10/util/BFloat16.h"
#include "c10/util/Exception.h"
#include "c10/util/Half.h"
#include "c10/util/SmallVector.h"
#include "c10/util/complex.h"
#include "c10/util/complex_math.h"
#include "c10/util/intrusive_ptr.h"
#include "tests/c10/expect.h"

namespace shapes {
struct Point {
  int x, y;
};

void append_to(std::string& text, const Point& point) {
  text += c10::str("Point(", point.x, ", ", point.y, ")");
}

enum class Color { Red, Green };
}  // namespace shapes

template <class Function>
static std::string message_of(Function function) {
  try {
    function();
  } catch (const c10::Error& error) {
    return error.what();
  }
  return "no error";
}

static void test_exceptions() {
  const std::vector<int64_t> sizes{2, 3};
  EXPECT(message_of([&] {
           TORCH_CHECK(false, "add(): sizes ", sizes, " and ", shapes::Point{1, 2});
         }) == "add(): sizes [2, 3] and Point(1, 2)");
  EXPECT(message_of([] { TORCH_CHECK(1 == 2); }) == "Expected 1 == 2 to be true, but got false.");
  EXPECT(c10::str(true, ' ', int8_t{-5}, ' ', uint64_t(-1), ' ', 0.1f, ' ', 2.0, ' ',
                  std::string("s"),
                  std::string_view("v")) == "True -5 18446744073709551615 0.1 2.0 sv");
  EXPECT(c10::str(std::vector<std::vector<int>>{{1}, {}}, shapes::Color::Green) == "[[1], []]1");

  bool index_error = false;
  try {
    TORCH_CHECK_INDEX(false, "index ", 5, " is out of range");
  } catch (const c10::IndexError& error) {
    index_error = error.line() > 0 && std::string(error.what()) == "index 5 is out of range";
  }
  EXPECT(index_error);

  EXPECT(message_of([] {
           TORCH_INTERNAL_ASSERT(false, "value ", 3);
         }).find("INTERNAL ASSERT FAILED: false at ") == 0);
  EXPECT(message_of([] { TORCH_CHECK(true, "not built"); }) == "no error");
}

struct Counted : c10::intrusive_ptr_target {
  static std::atomic<int> alive;
  bool* released = nullptr;
  explicit Counted(bool* flag = nullptr) : released(flag) { ++alive; }
  ~Counted() override { --alive; }
  void release_resources() override {
    if (released) *released = true;
  }
};
struct Derived : Counted {};

std::atomic<int> Counted::alive{0};

static void test_intrusive_ptr() {
  bool released = false;
  {
    auto a = c10::make_intrusive<Counted>(&released);
    EXPECT(a.use_count() == 1 && a.unique() && a.weak_use_count() == 1);

    c10::intrusive_ptr<Counted> b = a;
    EXPECT(a.use_count() == 2 && a == b);
    c10::weak_intrusive_ptr<Counted> weak(a);
    EXPECT(weak.lock() == a);

    // Without strong owners the object releases its resources and stays for the weak one.
    a.reset();
    EXPECT(!weak.expired() && !released && b.use_count() == 1);
    Counted* raw = b.unsafe_release();
    EXPECT(!b && raw->use_count() == 1);
    b = c10::intrusive_ptr<Counted>::reclaim(raw);
    b = nullptr;
    EXPECT(released && weak.expired() && !weak.lock() && Counted::alive == 1);
  }
  EXPECT(Counted::alive == 0);

  // Owners on several threads.
  c10::intrusive_ptr<Counted> base = c10::make_intrusive<Derived>();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([base] {
      for (int i = 0; i < 20000; ++i) {
        c10::weak_intrusive_ptr<Counted> weak(base);
        c10::intrusive_ptr<Counted> copy = weak.lock();
      }
    });
  }

  for (auto& thread : threads) thread.join();
  threads.clear();
  EXPECT(base.use_count() == 1 && base.weak_use_count() == 1);

  base = base;
  base.reset();
  EXPECT(Counted::alive == 0);
}

// Rounds to nearest even by definition: compares the distances to the two neighbours in double.
template <class R>
static uint16_t reference_rounding(float value) {
  if (std::isnan(value)) return R(value).x;
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(static_cast<double>(value));
  const uint16_t infinity = std::numeric_limits<R>::infinity().x;

  // The largest number that is not above the value, by bisection.
  uint16_t low = 0;
  uint16_t high = infinity;
  while (high - low > 1) {
    const uint16_t middle = (low + high) / 2;
    (static_cast<double>(static_cast<float>(R::from_bits(middle))) <= magnitude ? low : high) =
        middle;
  }

  const double below = static_cast<float>(R::from_bits(low));
  const double above = high == infinity
                           ? std::ldexp(1.0, std::numeric_limits<R>::max_exponent)
                           : static_cast<double>(static_cast<float>(R::from_bits(high)));

  const double to_low = magnitude - below;
  const double to_high = above - magnitude;
  const bool up = to_high < to_low || (to_high == to_low && (low & 1));
  return sign | (std::isinf(value) || up ? high : low);
}

template <class R>
static void test_reduced_float() {
  // Every number survives the way to float and back.
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const R r = R::from_bits(static_cast<uint16_t>(bits));
    const float value = r;
    if (std::isnan(value)) {
      EXPECT(std::isnan(static_cast<float>(R(value))));
    } else if (R(value).x != bits) {
      EXPECT(R(value).x == bits);
    }
  }

  // Random floats, many of them halfway between two numbers.
  uint32_t state = 1;
  for (int i = 0; i < 300000; ++i) {
    state = state * 1664525u + 1013904223u;
    uint32_t bits = i % 3 ? state : (state & 0x8fffffffu) | 0x30000000u;
    if (i % 5 == 0) bits &= 0xfffff000u;  // exact ties
    const float value = c10::detail::float_of_bits(bits);
    if (R(value).x != reference_rounding<R>(value)) {
      EXPECT(R(value).x == reference_rounding<R>(value));
      return;
    }
  }

  // Arithmetic.
  R a = 1.5f;
  R b = 2.0f;
  EXPECT(float(a + b) == 3.5f && float(a * 2) == 3.0f && (a + 0.25f) == 1.75f && (a / 3.0) == 0.5 &&
         float(-a) == -1.5f);
  a += b;
  a *= 2;
  EXPECT(a == R(7.0f) && b < a && std::isinf(float(std::numeric_limits<R>::max() * 4)));
  static_assert(std::is_same_v<decltype(a + 1), R> && std::is_same_v<decltype(a + 1.0f), float>);
  EXPECT(1.0f + float(std::numeric_limits<R>::epsilon()) == float(R::from_bits(R(1.0f).x + 1)));
}

#ifdef __F16C__
#include <immintrin.h>
static void test_half_against_hardware() {
  int different = 0;
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    different += c10::detail::bits_of_float(c10::Half::from_bits(bits)) !=
                 c10::detail::bits_of_float(_cvtsh_ss(bits));
  }
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 1021) {
    const float value = c10::detail::float_of_bits(static_cast<uint32_t>(bits));
    different +=
        c10::Half(value).x != static_cast<uint16_t>(_cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT));
  }
  EXPECT(different == 0);
}
#else
static void test_half_against_hardware() {}
#endif

static void test_complex() {
  using c = c10::complex<double>;
  const c a(1, 2), b(3, -4);
  EXPECT(a * b == c(11, 2) && a + b == c(4, -2) && a - 1 == c(0, 2) && 2.0 * a == c(2, 4) &&
         conj(a) == c(1, -2));

  EXPECT(c10::abs((a * b) / b - a) < 1e-15 && c10::abs(c(3, 4)) == 5);
  const c huge = c(1e300, 1e300) / c(1e300, 1e300);
  EXPECT(huge == c(1, 0));

  EXPECT(std::isinf((a / c(0, 0)).real()) && c10::abs(exp(log(a)) - a) < 1e-15 &&
         c10::abs(pow(a, c(2)) - a * a) < 1e-14);
  EXPECT(static_cast<bool>(c(0, 1)) && !static_cast<bool>(c(0)));

  const c10::complex<float> f(a);
  EXPECT(c(f) == a && c10::abs(sqrt(c(-4)) - c(0, 2)) < 1e-15);
}

static int64_t total(c10::IntArrayRef values) {
  int64_t sum = 0;
  for (int64_t value : values) sum += value;
  return sum;
}
static size_t optional_size(c10::OptionalIntArrayRef values) {
  return values ? values->size() : 99;
}

static void test_containers() {
  const std::vector<int64_t> vector{1, 2, 3};
  c10::DimVector dims{4, 5, 6};
  EXPECT(total(vector) == 6 && total({7, 8}) == 15 && total(dims) == 15 && total(9) == 9 &&
         total({}) == 0);
  EXPECT(optional_size(std::nullopt) == 99 && optional_size(vector) == 3 &&
         optional_size(dims) == 3);
  // A single integer is owned: by the time of the call the temporary that an IntArrayRef would
  // refer to is gone.
  const c10::OptionalIntArrayRef single = -1, again = single;
  EXPECT(single->front() == -1 && again->front() == -1 && again->data() != single->data());
  EXPECT(optional_size(-1) == 1 && optional_size({3, 4}) == 2 && optional_size({}) == 99);
  EXPECT(c10::IntArrayRef(vector).slice(1) == c10::IntArrayRef({2, 3}));
  EXPECT(c10::IntArrayRef(dims).to<std::vector<int64_t>>() == (std::vector<int64_t>{4, 5, 6}));
  EXPECT(c10::str(dims, c10::IntArrayRef(vector)) == "[4, 5, 6][1, 2, 3]");

  for (int i = 0; i < 20; ++i) dims.push_back(dims.back() + 1);
  EXPECT(dims.size() == 23 && dims[22] == 26);
  c10::DimVector copy = dims, moved = std::move(dims);
  EXPECT(copy == moved && dims.empty());
  dims = {1, 2};
  dims.insert(dims.begin() + 1, 9);
  EXPECT(dims == c10::DimVector({1, 9, 2}));
  dims.insert(dims.begin(), vector.begin(), vector.end());
  EXPECT(dims == c10::DimVector({1, 2, 3, 1, 9, 2}));
  dims.erase(dims.begin() + 1, dims.begin() + 4);
  EXPECT(dims == c10::DimVector({1, 9, 2}));
  dims.resize(5);
  EXPECT(dims[4] == 0);
  dims.resize(40, 7);
  EXPECT(dims[39] == 7 && dims.size() == 40);

  c10::SmallVector<std::string, 2> strings;
  for (int i = 0; i < 9; ++i)
    strings.push_back(strings.empty() ? std::string(30, 'a') : strings.front());
  strings.insert(strings.begin(), "first");
  strings.erase(strings.begin() + 2, strings.end() - 1);
  c10::SmallVector<std::string, 2> other = strings;
  strings = std::move(other);
  EXPECT(strings.size() == 3 && strings[0] == "first" && strings[2] == std::string(30, 'a'));
}

int main() {
  test_exceptions();
  test_intrusive_ptr();
  test_reduced_float<c10::Half>();
  test_reduced_float<c10::BFloat16>();
  test_half_against_hardware();
  test_complex();
  test_containers();
  if (failures == 0) std::puts("ok");
  return failures;
}
