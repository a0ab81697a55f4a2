// The kernels of selections. See Note [Selection].
#include "aten/native/cuda/Select.h"

#include "aten/native/cuda/ReduceBlock.cuh"
#include "aten/native/cuda/SelectLanes.cuh"
#include "aten/native/cuda/SortedLanes.cuh"

namespace at::native::cuda {

namespace {

/// The memory of a lane that several blocks share. All zero at first.
struct SharedLane {
  int64_t counts[kDigitValues];  // of the current digit
  int64_t numbers;               // elements that are not NaN
  uint64_t digits;
  int64_t rank;
  int64_t finished;  // pieces; its first half is used
};

/// A lane's part of equal length for each block.
struct Pieces {
  int64_t count;
  int64_t length;
  SharedLane* lanes;
  Compared* compared;  // of every piece
};

struct Selection {
  LaneTable lanes;
  SelectedRank rank;
  bool descending;
  SelectTarget target;

  template <class T>
  SIMT_DEVICE LaneKeys<T> keys(int64_t lane) const {
    return {lanes.find(0, lane), lanes.steps[0], descending};
  }
};

/// The piece of a block.
struct Piece {
  int64_t lane;
  int64_t number;
  int64_t begin;
  int64_t end;

  SIMT_DEVICE Piece(const Selection& selection, const Pieces& pieces) {
    lane = simt::block_x() / pieces.count;
    number = simt::block_x() - lane * pieces.count;
    begin = number * pieces.length;
    end = begin + pieces.length < selection.lanes.length ? begin + pieces.length
                                                         : selection.lanes.length;
  }
};

template <class T>
inline constexpr bool kHasNan = !is_integral(scalar_type_of<T>, true);

/// A block for each lane.
template <class T>
SIMT_KERNEL SIMT_LAUNCH_BOUNDS(kSelectThreads) select_lanes_kernel(Selection selection) {
  using Keys = LaneKeys<T>;
  SIMT_SHARED(counts, unsigned[kDigitValues]);
  const int64_t lane = simt::block_x();
  const int64_t length = selection.lanes.length;
  const Keys keys = selection.keys<T>(lane);

  int64_t numbers = length;
  if constexpr (kHasNan<T>) {
    if (selection.rank.kind != SelectedRank::Kind::Given) numbers = count_numbers(keys, 0, length);
  }

  Selected<typename Keys::Key> selected{0, selection.rank.in(numbers, length)};
  for (int digit = Keys::kDigits; digit-- > 0;) {
    count_digits(keys, 0, length, digit, selected.digits, counts);
    selected = choose_digit(selected, int64_t{counts[simt::thread_x()]});
  }
  take_selected(keys, lane, 0, length, selected, {0, 0}, selection.target);
}

template <class T>
SIMT_KERNEL count_numbers_kernel(Selection selection, Pieces pieces) {
  const Piece piece(selection, pieces);
  const int64_t numbers = count_numbers(selection.keys<T>(piece.lane), piece.begin, piece.end);
  if (simt::thread_x() == 0) simt::atomic_add(&pieces.lanes[piece.lane].numbers, numbers);
}

/// Finds one digit; the last block of a lane chooses it.
template <class T>
SIMT_KERNEL SIMT_LAUNCH_BOUNDS(kSelectThreads)
    select_digit_kernel(Selection selection, Pieces pieces, int digit) {
  using Keys = LaneKeys<T>;
  SIMT_SHARED(counts, unsigned[kDigitValues]);
  const Piece piece(selection, pieces);
  SharedLane& shared = pieces.lanes[piece.lane];
  const unsigned value = simt::thread_x();

  using Key = typename Keys::Key;
  Selected<Key> selected{static_cast<Key>(shared.digits), shared.rank};
  if (digit == Keys::kDigits - 1) {
    const int64_t length = selection.lanes.length;
    selected.rank = selection.rank.in(kHasNan<T> ? shared.numbers : length, length);
  }
  count_digits(selection.keys<T>(piece.lane), piece.begin, piece.end, digit, selected.digits,
               counts);
  if (counts[value] != 0) simt::atomic_add(&shared.counts[value], int64_t{counts[value]});

  auto* const finished = reinterpret_cast<unsigned*>(&shared.finished);
  if (!is_last_piece(finished, static_cast<unsigned>(pieces.count))) return;

  selected = choose_digit(selected, shared.counts[value]);
  shared.counts[value] = 0;
  if (value == 0) {
    shared.digits = selected.digits;
    shared.rank = selected.rank;
    *finished = 0;
  }
}

template <class T>
SIMT_KERNEL compare_pieces_kernel(Selection selection, Pieces pieces) {
  const Piece piece(selection, pieces);
  const auto selected = static_cast<typename LaneKeys<T>::Key>(pieces.lanes[piece.lane].digits);
  const Compared found = compare(selection.keys<T>(piece.lane), piece.begin, piece.end, selected);
  if (simt::thread_x() == 0) pieces.compared[simt::block_x()] = found;
}

template <class T>
SIMT_KERNEL take_pieces_kernel(Selection selection, Pieces pieces) {
  const Piece piece(selection, pieces);
  Compared mine{0, 0};
  for (int64_t p = simt::thread_x(); p < piece.number; p += kSelectThreads) {
    const Compared& other = pieces.compared[piece.lane * pieces.count + p];
    mine = {mine.less + other.less, mine.equal + other.equal};
  }
  const Compared before{detail::scan_block(Count{}, mine.less).total,
                        detail::scan_block(Count{}, mine.equal).total};

  using Key = typename LaneKeys<T>::Key;
  const SharedLane& shared = pieces.lanes[piece.lane];
  const Selected<Key> selected{static_cast<Key>(shared.digits), shared.rank};
  take_selected(selection.keys<T>(piece.lane), piece.lane, piece.begin, piece.end, selected, before,
                selection.target);
}

template <class T>
void select_in_pieces(const char* name, const Selection& selection, Pieces pieces) {
  const int64_t lanes = selection.lanes.count;
  const size_t shared_bytes = static_cast<size_t>(lanes) * sizeof(SharedLane);
  const size_t compared_bytes = static_cast<size_t>(lanes * pieces.count) * sizeof(Compared);
  const cudaStream_t stream = c10::cuda::current_stream();
  const c10::DataPtr memory = c10::cuda::device_allocator().allocate(shared_bytes + compared_bytes);
  C10_CUDA_CHECK(cudaMemsetAsync(memory.get(), 0, shared_bytes, stream));
  pieces.lanes = static_cast<SharedLane*>(memory.get());
  pieces.compared = reinterpret_cast<Compared*>(static_cast<char*>(memory.get()) + shared_bytes);

  const dim3 grid(static_cast<unsigned>(lanes * pieces.count));
  const dim3 threads(kSelectThreads);
  if constexpr (kHasNan<T>) {
    if (selection.rank.kind != SelectedRank::Kind::Given) {
      c10::cuda::launch(name, &count_numbers_kernel<T>, grid, threads, 0, stream, selection,
                        pieces);
    }
  }
  for (int digit = LaneKeys<T>::kDigits; digit-- > 0;) {
    c10::cuda::launch(name, &select_digit_kernel<T>, grid, threads, 0, stream, selection, pieces,
                      digit);
  }
  c10::cuda::launch(name, &compare_pieces_kernel<T>, grid, threads, 0, stream, selection, pieces);
  c10::cuda::launch(name, &take_pieces_kernel<T>, grid, threads, 0, stream, selection, pieces);
}

/// Pieces of at least 4096 elements, as many as give every multiprocessor work.
Pieces pieces_of(const LaneTable& lanes) {
  constexpr int64_t kBlocks = 1024;
  constexpr int64_t kShortest = 4096;
  int64_t count = kBlocks / lanes.count;
  if (count > lanes.length / kShortest) count = lanes.length / kShortest;
  if (count < 1) count = 1;
  const int64_t length = (lanes.length + count - 1) / count;
  return {(lanes.length + length - 1) / length, length, nullptr, nullptr};
}

void select(const char* name, ScalarType type, const Selection& selection) {
  if (selection.lanes.count == 0) return;
  const Pieces pieces = pieces_of(selection.lanes);

  dispatch_sortable(type, name, [&]<typename T>() {
    if (pieces.count > 1) return select_in_pieces<T>(name, selection, pieces);
    c10::cuda::launch(name, &select_lanes_kernel<T>,
                      dim3(static_cast<unsigned>(selection.lanes.count)), dim3(kSelectThreads), 0,
                      c10::cuda::current_stream(), selection);
  });
}

}  // namespace

void select_one(const char* name, const LaneTable& lanes, ScalarType type, SelectedRank rank,
                int64_t* indices) {
  select(name, type, {lanes, rank, /*descending=*/false, {indices, 1, /*only_last=*/true}});
}

void select_first(const char* name, const LaneTable& lanes, ScalarType type, bool descending,
                  int64_t count, int64_t* indices) {
  const SelectedRank last{SelectedRank::Kind::Given, count - 1};
  select(name, type, {lanes, last, descending, {indices, count, /*only_last=*/false}});
}

}  // namespace at::native::cuda
