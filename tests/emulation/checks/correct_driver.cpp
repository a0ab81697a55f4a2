// Kernels without faults give the same results in every order of threads and blocks.
#include <cstdio>
#include <numeric>
#include <vector>

#include "c10/util/BFloat16.h"
#include "c10/util/Half.h"
#include "tests/emulation/checks/check.h"
#include "tests/emulation/checks/sample_kernels.h"
#include "tests/emulation/grid.h"

using c10::cuda::launch;

namespace {

std::vector<float> counted(size_t n) {
  std::vector<float> values(n);
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

void check_elementwise() {
  const std::vector<float> a = counted(1000);
  std::vector<float> out(1000);
  launch("add", checks::add, 4, 256, 0, nullptr, out.data(), a.data(), a.data(), int64_t{1000});
  for (size_t i = 0; i < 1000; ++i) CHECK(out[i] == 2 * a[i]);

  launch("add", checks::add_packs, 1, 64, 0, nullptr, out.data(), a.data(), out.data(), 1000);
  for (size_t i = 0; i < 1000; ++i) CHECK(out[i] == 3 * a[i]);
}

template <class T>
void check_sums() {
  std::vector<T> in(4 * 256, T(1));
  std::vector<T> out(4);
  launch("sum", checks::sum_blocks<T, true>, 4, 256, 0, nullptr, out.data(), in.data());
  for (const T& sum : out) CHECK(sum == T(256));
}

void check_one_pass() {
  std::vector<float> in(50 * 32, 1.0f);
  std::vector<float> parts(50);
  float out = 0;
  unsigned finished = 0;
  launch("sum", checks::sum_in_one_pass<true>, 50, 32, 0, nullptr, &out, parts.data(), &finished,
         in.data());
  CHECK(out == 1600);
}

void check_shared_memory() {
  const std::vector<float> in = counted(32 * 48);
  std::vector<float> out(32 * 48);
  launch("transpose", checks::transpose, dim3(3, 2), dim3(16, 16), 0, nullptr, out.data(),
         in.data());
  for (size_t y = 0; y < 32; ++y)
    for (size_t x = 0; x < 48; ++x) CHECK(out[x * 32 + y] == in[y * 48 + x]);

  const std::vector<int> ones(300, 1);
  std::vector<int> sums(300);
  launch("scan", checks::scan_block, 1, 300, 300 * sizeof(int), nullptr, sums.data(), ones.data());
  for (int i = 0; i < 300; ++i) CHECK(sums[static_cast<size_t>(i)] == i + 1);

  std::vector<int> numbers(1024), reversed(1024);
  std::iota(numbers.begin(), numbers.end(), 0);
  launch("reverse", checks::reverse_warps<true>, 1, 1024, 0, nullptr, reversed.data(),
         numbers.data());
  for (int i = 0; i < 1024; ++i) CHECK(reversed[static_cast<size_t>(i)] == (i ^ 31));

  std::vector<float> doubled(256);
  launch("double", checks::double_copied<true>, 1, 64, 0, nullptr, doubled.data(), in.data());
  for (size_t i = 0; i < 256; ++i) CHECK(doubled[i] == 2 * in[i]);
}

void check_atomics() {
  std::vector<int> in(2048), counts(7);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i * i % 7);
  std::vector<int> expected(7);
  for (const int value : in) ++expected[static_cast<size_t>(value)];
  launch("histogram", checks::histogram, 8, 256, 0, nullptr, counts.data(), in.data());
  CHECK(counts == expected);

  std::vector<int> out(9), sums(9);
  std::vector<unsigned> ready(9);
  unsigned tickets = 0;
  launch("chain", checks::chained_sum, 9, 32, 0, nullptr, out.data(), sums.data(), ready.data(),
         &tickets);
  for (int i = 0; i < 9; ++i) CHECK(out[static_cast<size_t>(i)] == i + 1);
}

SIMT_KERNEL use_all_atomics(c10::Half* half, c10::BFloat16* bfloat, double* high, float* low,
                            int64_t* swapped, int8_t* small) {
  simt::atomic_add(half, c10::Half(1.0f));
  simt::atomic_add(bfloat, c10::BFloat16(1.0f));
  simt::atomic_max(high, static_cast<double>(simt::thread_x()));
  simt::atomic_min(low, simt::thread_x() == 40 ? NAN : static_cast<float>(simt::thread_x()));
  simt::atomic_cas(swapped, int64_t{0}, int64_t{1} + simt::thread_x());
  simt::atomic_update(small, [](int8_t old) { return static_cast<int8_t>(old ^ 5); });
}

void check_atomic_types() {
  c10::Half half(0.0f);
  c10::BFloat16 bfloat(0.0f);
  double high = -1;
  float low = 1;
  int64_t swapped = 0;
  int8_t small = 0;
  launch("atomics", use_all_atomics, 1, 65, 0, nullptr, &half, &bfloat, &high, &low, &swapped,
         &small);
  CHECK(float(half) == 65 && float(bfloat) == 65 && high == 64);
  CHECK(low != low);
  CHECK(swapped >= 1 && swapped <= 65 && small == 5);
}

struct Wide {
  double value;
  int64_t place;
};

SIMT_KERNEL use_all_shuffles(int* wrong) {
  const unsigned lane = simt::lane();
  const auto expect = [&](bool holds) {
    if (!holds) simt::atomic_add(wrong, 1);
  };

  expect(simt::shuffle_up(simt::kFullMask, lane, 3) == (lane >= 3 ? lane - 3 : lane));
  expect(simt::shuffle_down(simt::kFullMask, lane, 3, 8) == (lane % 8 < 5 ? lane + 3 : lane));
  expect(simt::shuffle_xor(simt::kFullMask, static_cast<int8_t>(lane), 5) == int8_t(lane ^ 5));
  expect(simt::shuffle_index(simt::kFullMask, lane, 1, 4) == lane / 4 * 4 + 1);

  const Wide wide{0.5 * lane, lane};
  const Wide other = simt::shuffle_xor(simt::kFullMask, wide, 16);
  expect(other.value == 0.5 * (lane ^ 16) && other.place == (lane ^ 16));

  expect(simt::ballot(simt::kFullMask, lane % 2 == 1) == 0xaaaaaaaau);
  expect(simt::any(simt::kFullMask, lane == 9) && !simt::all(simt::kFullMask, lane == 9));
  expect(simt::sync_block_count(simt::thread_x() < 40) == 40);

  // Halves of a warp meet by themselves.
  const unsigned half = lane < 16 ? 0x0000ffffu : 0xffff0000u;
  if (lane < 16) expect(simt::ballot(half, true) == half);
  else expect(simt::all(half, true));
}

void check_shuffles() {
  int wrong = 0;
  launch("shuffles", use_all_shuffles, 2, 96, 0, nullptr, &wrong);
  CHECK(wrong == 0);
}

template <class T>
void check_matrices() {
  std::vector<T> a, b;
  for (int i = 0; i < 256; ++i) a.push_back(T(static_cast<float>(i * 7 % 23 - 11)));
  for (int i = 0; i < 128; ++i) b.push_back(T(static_cast<float>(i * 5 % 19 - 9)));
  std::vector<float> out(128);
  launch("multiply", checks::multiply_tile<T>, 1, 32, 0, nullptr, out.data(), a.data(), b.data());

  for (size_t row = 0; row < 16; ++row)
    for (size_t column = 0; column < 8; ++column) {
      float expected = 0;
      for (size_t k = 0; k < 16; ++k)
        expected += static_cast<float>(a[row * 16 + k]) * static_cast<float>(b[k * 8 + column]);
      CHECK(out[row * 8 + column] == expected);
    }
}

void check_reports() {
  const std::vector<int64_t> indices = {0, 3, -3, 4, -4, 2};
  launch("index", checks::check_indices, 1, 6, 0, nullptr, simt::Reporter{}, indices.data(),
         int64_t{3});

  c10::cuda::Mailbox& mailbox = *c10::cuda::current_mailbox();
  CHECK(mailbox.taken == 3);
  int64_t sum = 0;
  for (unsigned i = 0; i < 3; ++i) {
    const c10::cuda::MailboxRecord& record = mailbox.records[i];
    CHECK(record.complete == 1 && record.argument == 1 && record.bound == 3);
    CHECK(std::string(c10::cuda::find_launch(record.sequence).name) == "index");
    sum += record.value * record.value;
  }
  CHECK(sum == 9 + 16 + 16);
  mailbox.taken = 0;
}

void check_all() {
  check_elementwise();
  check_sums<float>();
  check_sums<double>();
  check_sums<int64_t>();
  check_one_pass();
  check_shared_memory();
  check_atomics();
  check_atomic_types();
  check_shuffles();
  check_matrices<c10::Half>();
  check_matrices<c10::BFloat16>();
  check_reports();
}

}  // namespace

int main() {
  for (const char* order : {"ascending", "descending", "shuffled:1", "shuffled:2", "shuffled:99"})
    for (const unsigned os_threads : {1u, 3u}) {
      emulation::Schedule schedule;
      emulation::parse_order(order, schedule);
      schedule.os_threads = os_threads;
      emulation::set_schedule(schedule);
      check_all();
    }
  std::printf("ok\n");
}
