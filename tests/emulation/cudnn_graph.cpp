// Checks graphs of the emulated cuDNN: their tensors, operations and how these fit each other.
#include <algorithm>
#include <array>
#include <iterator>

#include "tests/emulation/cudnn.h"

namespace emulation::cudnn {

namespace {

bool are_dense(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides,
               bool channels_last) {
  std::vector<size_t> order;  // from the innermost dimension
  if (channels_last) order.push_back(1);
  for (size_t d = sizes.size() - 1; d >= 2; --d) order.push_back(d);
  if (!channels_last) order.push_back(1);
  order.push_back(0);

  int64_t stride = 1;
  for (const size_t d : order) {
    if (strides[d] != stride) return false;
    stride *= sizes[d];
  }
  return true;
}

TensorDescription tensor_of(const DescriptorObject& d) {
  TensorDescription t{one_of<DataType>(d, Attribute::TensorDataType),
                      one_of<int64_t>(d, Attribute::TensorUniqueId),
                      one_of<int64_t>(d, Attribute::TensorAlignment),
                      d.attributes.contains(Attribute::TensorIsVirtual) &&
                          one_of<char>(d, Attribute::TensorIsVirtual) != 0,
                      list_of<int64_t>(d, Attribute::TensorDimensions),
                      list_of<int64_t>(d, Attribute::TensorStrides)};

  require(t.sizes.size() >= 3 && t.sizes.size() <= 5, kNotSupported, "3 to 5 dimensions");
  require(t.sizes.size() == t.strides.size(), kShapeMismatch, "a stride for each dimension");
  require(std::all_of(t.sizes.begin(), t.sizes.end(), [](int64_t size) { return size > 0; }),
          kBadParameter, "sizes are positive");
  require(are_dense(t.sizes, t.strides, false) || are_dense(t.sizes, t.strides, true),
          kNotSupported, "tensors are dense");
  require(t.alignment > 0 && (t.alignment & (t.alignment - 1)) == 0, kBadParameter,
          "alignments are powers of two");
  return t;
}

void check_convolution(const DescriptorObject& d) {
  const auto spatial = one_of<int64_t>(d, Attribute::ConvolutionSpatialDims);
  require(spatial == 2 || spatial == 3, kNotSupported, "two or three spatial dimensions");
  one_of<DataType>(d, Attribute::ConvolutionComputeType);
  require(one_of<ConvolutionMode>(d, Attribute::ConvolutionMode) ==
              ConvolutionMode::CrossCorrelation,
          kNotSupported, "filters are not turned around");

  const auto check_list = [&](Attribute attribute, int64_t least) {
    const auto list = list_of<int64_t>(d, attribute);
    require(static_cast<int64_t>(list.size()) == spatial, kShapeMismatch,
            "a number for each spatial dimension");
    for (const int64_t number : list) require(number >= least, kBadParameter, "a number is low");
  };
  check_list(Attribute::ConvolutionStrides, 1);
  check_list(Attribute::ConvolutionDilations, 1);
  check_list(Attribute::ConvolutionPaddingsBefore, 0);
  check_list(Attribute::ConvolutionPaddingsAfter, 0);
  require(list_of<int64_t>(d, Attribute::ConvolutionPaddingsBefore) ==
              list_of<int64_t>(d, Attribute::ConvolutionPaddingsAfter),
          kNotSupported, "padding is symmetric");
}

ConvolutionOperand operand_of(const TensorDescription& t) {
  ConvolutionOperand operand;
  for (size_t i = 0; i < t.sizes.size(); ++i) {
    const size_t d = i < 2 ? i : i + 5 - t.sizes.size();
    operand.sizes[d] = t.sizes[i];
    operand.strides[d] = t.strides[i];
  }
  return operand;
}

std::array<int64_t, 3> spatial_of(const DescriptorObject& d, Attribute attribute, int64_t missing) {
  std::array<int64_t, 3> numbers{missing, missing, missing};
  const auto list = list_of<int64_t>(d, attribute);
  std::copy(list.rbegin(), list.rend(), numbers.rbegin());
  return numbers;
}

void check_sizes(const EmulatedConvolution& c) {
  require(c.image.sizes[0] == c.result.sizes[0], kShapeMismatch, "batches differ");
  require(c.image.sizes[1] % c.weight.sizes[1] == 0, kShapeMismatch,
          "channels are not whole groups");
  require(c.weight.sizes[0] == c.result.sizes[1] && c.weight.sizes[0] % c.groups == 0,
          kShapeMismatch, "outputs differ");
  for (int d = 0; d < 3; ++d) {
    const int64_t window = c.dilations[d] * (c.weight.sizes[d + 2] - 1) + 1;
    const int64_t room = c.image.sizes[d + 2] + 2 * c.paddings[d] - window;
    require(room >= 0 && room / c.strides[d] + 1 == c.result.sizes[d + 2], kShapeMismatch,
            "the result has another size");
  }
}

/// The names of an operation's attributes.
struct OperationNames {
  Attribute alpha, beta, convolution, image, weight, result;
};

OperationNames names_of(Kind kind) {
  using enum Attribute;
  if (kind == Kind::Forward)
    return {ForwardAlpha, ForwardBeta, ForwardConvolution, ForwardX, ForwardW, ForwardY};
  if (kind == Kind::BackwardData)
    return {BackwardDataAlpha, BackwardDataBeta, BackwardDataConvolution,
            BackwardDataDx,    BackwardDataW,    BackwardDataDy};
  return {BackwardFilterAlpha, BackwardFilterBeta, BackwardFilterConvolution,
          BackwardFilterX,     BackwardFilterDw,   BackwardFilterDy};
}

template <class T>
void check_scales(const DescriptorObject& d, const OperationNames& names, Type type) {
  for (const Attribute attribute : {names.alpha, names.beta}) {
    one_of<T>(d, attribute);
    require(d.attributes.at(attribute).type == type, kWrongType, "scales have the type of sums");
  }
  require(one_of<T>(d, names.alpha) == T(1) && one_of<T>(d, names.beta) == T(0), kNotSupported,
          "never asked for");
}

Operation operation_of(const DescriptorObject& d) {
  const OperationNames names = names_of(d.kind);
  const DescriptorObject& convolution = part_of(d, names.convolution, Kind::Convolution);
  Operation o{{},
              tensor_of(part_of(d, names.image, Kind::Tensor)),
              tensor_of(part_of(d, names.weight, Kind::Tensor)),
              tensor_of(part_of(d, names.result, Kind::Tensor))};
  const TensorDescription* const tensors[] = {&o.image, &o.weight, &o.result};
  const auto spatial = one_of<int64_t>(convolution, Attribute::ConvolutionSpatialDims);
  const auto follow = [&](bool channels_last) {
    return std::all_of(std::begin(tensors), std::end(tensors), [&](const TensorDescription* t) {
      return are_dense(t->sizes, t->strides, channels_last);
    });
  };
  for (const TensorDescription* t : tensors) {
    const DataType type = t->is_virtual
                              ? one_of<DataType>(convolution, Attribute::ConvolutionComputeType)
                              : o.image.type;
    require(t->type == type, kNotSupported, "dtypes differ");
    require(static_cast<int64_t>(t->sizes.size()) == spatial + 2, kShapeMismatch,
            "tensors have two dimensions more than the convolution");
  }
  require(follow(false) || follow(true), kNotSupported, "memory formats differ");
  require(o.image.id != o.weight.id && o.image.id != o.result.id && o.weight.id != o.result.id,
          kDuplicates, "identifiers are unique");

  const bool is_double = o.image.type == DataType::Double;
  require(one_of<DataType>(convolution, Attribute::ConvolutionComputeType) ==
              (is_double ? DataType::Double : DataType::Float),
          kNotSupported, "sums are float, or double for doubles");
  if (is_double) check_scales<double>(d, names, Type::Double);
  else check_scales<float>(d, names, Type::Float);

  EmulatedConvolution& c = o.convolution;
  c.type = o.image.type;
  c.pass = d.kind;
  c.image = operand_of(o.image);
  c.weight = operand_of(o.weight);
  c.result = operand_of(o.result);
  c.strides = spatial_of(convolution, Attribute::ConvolutionStrides, 1);
  c.paddings = spatial_of(convolution, Attribute::ConvolutionPaddingsBefore, 0);
  c.dilations = spatial_of(convolution, Attribute::ConvolutionDilations, 1);
  c.groups = c.image.sizes[1] / c.weight.sizes[1];
  check_sizes(c);
  return o;
}

Addition addition_of(const DescriptorObject& d) {
  const DescriptorObject& function =
      part_of(d, Attribute::PointwiseOperationPointwise, Kind::Pointwise);
  require(one_of<PointwiseMode>(function, Attribute::PointwiseMode) == PointwiseMode::Add,
          kNotSupported, "only additions");
  Addition a{tensor_of(part_of(d, Attribute::PointwiseOperationX, Kind::Tensor)),
             tensor_of(part_of(d, Attribute::PointwiseOperationB, Kind::Tensor)),
             tensor_of(part_of(d, Attribute::PointwiseOperationY, Kind::Tensor))};

  require(a.sums.type == one_of<DataType>(function, Attribute::PointwisePrecision), kNotSupported,
          "numbers are added as they were summed");
  require(a.sums.sizes == a.result.sizes, kShapeMismatch, "the sizes of sums and results differ");
  std::vector<int64_t> per_channel(a.sums.sizes.size(), 1);
  per_channel[1] = a.sums.sizes[1];
  require(a.bias.sizes == per_channel, kShapeMismatch, "a bias has an element for each channel");
  require(a.bias.type == a.result.type && a.bias.id != a.result.id, kNotSupported,
          "a bias is another tensor of the result's dtype");
  return a;
}

/// The operations of a graph in one: a convolution, and perhaps the addition of a bias.
Operation joined(const DescriptorObject& graph) {
  const auto parts = list_of<Descriptor>(graph, Attribute::GraphOperations);
  for (const Descriptor part : parts)
    require(part->is_finalized, kNotFinalized, "an operation is not finalized");
  require(parts[0]->operation.has_value() && parts.size() <= 2, kNotSupported, "other operations");

  Operation o = *parts[0]->operation;
  if (parts.size() == 1) {
    require(!o.result.is_virtual, kBadParameter, "the result is nowhere");
    return o;
  }
  require(parts[1]->addition.has_value(), kNotSupported, "other operations");
  const Addition& a = *parts[1]->addition;
  require(o.convolution.pass == Kind::Forward && o.result.is_virtual && a.sums.id == o.result.id &&
              !a.result.is_virtual && a.result.strides == o.result.strides,
          kNotSupported, "sums of forward passes alone get a bias");
  require(a.result.type == o.image.type && a.bias.id != o.image.id && a.bias.id != o.weight.id,
          kNotSupported, "tensors are not those of the convolution");
  o.result = a.result;
  o.bias = a.bias;
  return o;
}

}  // namespace

bool finalize_part_of_graph(DescriptorObject& d) {
  switch (d.kind) {
    case Kind::Tensor: tensor_of(d); return true;
    case Kind::Convolution: check_convolution(d); return true;
    case Kind::Forward:
    case Kind::BackwardData:
    case Kind::BackwardFilter: d.operation = operation_of(d); return true;

    case Kind::PointwiseOperation: d.addition = addition_of(d); return true;
    case Kind::Pointwise:
      one_of<PointwiseMode>(d, Attribute::PointwiseMode);
      one_of<DataType>(d, Attribute::PointwisePrecision);
      return true;

    case Kind::Graph:
      require(one_of<Handle>(d, Attribute::GraphHandle) != nullptr, kBadParameter, "no handle");
      d.operation = joined(d);
      return true;
    default: return false;
  }
}

}  // namespace emulation::cudnn
