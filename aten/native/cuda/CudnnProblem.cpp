// Sizes of problems for cuDNN, and their forms as a key and as text.
#include "aten/native/cuda/CudnnProblem.h"

#include <iterator>
#include <vector>

namespace at::native::cuda {

namespace {

DimVector sizes_of(const CudnnProblem& p, int64_t outer, int64_t channels,
                   const int64_t (&plane)[3]) {
  DimVector sizes;
  sizes.push_back(outer);
  sizes.push_back(channels);
  for (const int64_t size : p.last_of(plane)) sizes.push_back(size);
  return sizes;
}

std::string numbers_text(const DimVector& numbers) {
  std::string text = "(";
  for (const int64_t number : numbers)
    text += (text.size() > 1 ? ", " : "") + std::to_string(number);
  return text + ")";
}

}  // namespace

DimVector CudnnProblem::last_of(const int64_t (&numbers)[3]) const {
  return DimVector(IntArrayRef(numbers + 3 - spatial, static_cast<size_t>(spatial)));
}

DimVector CudnnProblem::image_sizes() const {
  return sizes_of(*this, geometry.batch, geometry.channels, geometry.input);
}

DimVector CudnnProblem::weight_sizes() const {
  return sizes_of(*this, geometry.outputs, geometry.group_channels(), geometry.kernel);
}

DimVector CudnnProblem::result_sizes() const {
  return sizes_of(*this, geometry.batch, geometry.outputs, geometry.output);
}

std::string CudnnProblem::bytes() const {
  const ConvolutionGeometry& g = geometry;
  const int64_t sizes[] = {g.batch, g.groups, g.channels, g.outputs};
  const int64_t others[] = {static_cast<int64_t>(pass),
                            static_cast<int64_t>(dtype),
                            spatial,
                            channels_last,
                            adds_bias,
                            tf32,
                            deterministic,
                            alignment};

  std::vector<int64_t> numbers(std::begin(sizes), std::end(sizes));
  numbers.insert(numbers.end(), std::begin(others), std::end(others));
  for (const auto* triple : {&g.input, &g.output, &g.kernel, &g.stride, &g.padding, &g.dilation})
    numbers.insert(numbers.end(), std::begin(*triple), std::end(*triple));
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(int64_t)};
}

std::string CudnnProblem::text() const {
  static const char* const passes[] = {"forward", "gradient of the image",
                                       "gradient of the weight"};
  std::string text = passes[static_cast<int>(pass)];
  text += std::string(" of ") + c10::scalar_type_name(dtype) + ", " + numbers_text(image_sizes()) +
          " by " + numbers_text(weight_sizes()) + ", stride " +
          numbers_text(last_of(geometry.stride)) + ", padding " +
          numbers_text(last_of(geometry.padding)) + ", dilation " +
          numbers_text(last_of(geometry.dilation)) + ", groups " + std::to_string(geometry.groups);

  if (adds_bias) text += ", with bias";
  if (channels_last) text += ", channels last";
  if (tf32) text += ", TF32";
  if (deterministic) text += ", deterministic";
  return text;
}

}  // namespace at::native::cuda
