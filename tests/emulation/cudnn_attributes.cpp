// The attributes that descriptors of the emulated cuDNN have.
#include <algorithm>
#include <iterator>

#include "tests/emulation/cudnn.h"

namespace emulation::cudnn {

namespace {

struct Rule {
  Kind kind;
  Attribute attribute;
  Type type;
  bool is_list = false;
};

constexpr Rule kRules[] = {
    {Kind::Tensor, Attribute::TensorDataType, Type::DataType},
    {Kind::Tensor, Attribute::TensorAlignment, Type::Int64},
    {Kind::Tensor, Attribute::TensorUniqueId, Type::Int64},
    {Kind::Tensor, Attribute::TensorIsVirtual, Type::Boolean},
    {Kind::Tensor, Attribute::TensorDimensions, Type::Int64, true},
    {Kind::Tensor, Attribute::TensorStrides, Type::Int64, true},

    {Kind::Convolution, Attribute::ConvolutionComputeType, Type::DataType},
    {Kind::Convolution, Attribute::ConvolutionMode, Type::ConvolutionMode},
    {Kind::Convolution, Attribute::ConvolutionSpatialDims, Type::Int64},
    {Kind::Convolution, Attribute::ConvolutionStrides, Type::Int64, true},
    {Kind::Convolution, Attribute::ConvolutionDilations, Type::Int64, true},
    {Kind::Convolution, Attribute::ConvolutionPaddingsBefore, Type::Int64, true},
    {Kind::Convolution, Attribute::ConvolutionPaddingsAfter, Type::Int64, true},

    {Kind::Forward, Attribute::ForwardConvolution, Type::Descriptor},
    {Kind::Forward, Attribute::ForwardX, Type::Descriptor},
    {Kind::Forward, Attribute::ForwardW, Type::Descriptor},
    {Kind::Forward, Attribute::ForwardY, Type::Descriptor},
    {Kind::BackwardData, Attribute::BackwardDataConvolution, Type::Descriptor},
    {Kind::BackwardData, Attribute::BackwardDataDx, Type::Descriptor},
    {Kind::BackwardData, Attribute::BackwardDataW, Type::Descriptor},
    {Kind::BackwardData, Attribute::BackwardDataDy, Type::Descriptor},
    {Kind::BackwardFilter, Attribute::BackwardFilterConvolution, Type::Descriptor},
    {Kind::BackwardFilter, Attribute::BackwardFilterX, Type::Descriptor},
    {Kind::BackwardFilter, Attribute::BackwardFilterDw, Type::Descriptor},
    {Kind::BackwardFilter, Attribute::BackwardFilterDy, Type::Descriptor},

    {Kind::Pointwise, Attribute::PointwiseMode, Type::PointwiseMode},
    {Kind::Pointwise, Attribute::PointwisePrecision, Type::DataType},
    {Kind::PointwiseOperation, Attribute::PointwiseOperationPointwise, Type::Descriptor},
    {Kind::PointwiseOperation, Attribute::PointwiseOperationX, Type::Descriptor},
    {Kind::PointwiseOperation, Attribute::PointwiseOperationB, Type::Descriptor},
    {Kind::PointwiseOperation, Attribute::PointwiseOperationY, Type::Descriptor},

    {Kind::Graph, Attribute::GraphHandle, Type::Handle},
    {Kind::Graph, Attribute::GraphOperations, Type::Descriptor, true},
    {Kind::EngineHeuristic, Attribute::HeuristicGraph, Type::Descriptor},
    {Kind::EngineHeuristic, Attribute::HeuristicMode, Type::HeuristicMode},
    {Kind::Plan, Attribute::PlanHandle, Type::Handle},
    {Kind::Plan, Attribute::PlanConfiguration, Type::Descriptor},
    {Kind::VariantPack, Attribute::PackUniqueIds, Type::Int64, true},
    {Kind::VariantPack, Attribute::PackPointers, Type::Pointer, true},
    {Kind::VariantPack, Attribute::PackWorkspace, Type::Pointer},
};

/// The attributes that scale an operation's sums and its former result.
bool is_scale(Kind kind, Attribute attribute) {
  switch (kind) {
    case Kind::Forward:
      return attribute == Attribute::ForwardAlpha || attribute == Attribute::ForwardBeta;
    case Kind::BackwardData:
      return attribute == Attribute::BackwardDataAlpha || attribute == Attribute::BackwardDataBeta;
    case Kind::BackwardFilter:
      return attribute == Attribute::BackwardFilterAlpha ||
             attribute == Attribute::BackwardFilterBeta;
    default: return false;
  }
}

size_t bytes_of(Type type) {
  switch (type) {
    case Type::Handle:
    case Type::Pointer:
    case Type::Descriptor: return sizeof(void*);
    case Type::Int64:
    case Type::Double: return 8;
    case Type::Boolean: return 1;
    default: return 4;
  }
}

}  // namespace

void set_checked(DescriptorObject& d, Attribute attribute, Type type, int64_t count,
                 const void* elements) {
  const std::string name = "attribute " + std::to_string(static_cast<int>(attribute));
  require(!d.is_finalized, kBadParameter, name + " is set after finalizing");
  require(count >= 1 && elements != nullptr, kBadParameter, name + " has no elements");

  if (is_scale(d.kind, attribute)) {
    require(count == 1 && (type == Type::Float || type == Type::Double), kWrongType,
            name + " is one float or double");
  } else {
    const Rule* const rule = std::find_if(std::begin(kRules), std::end(kRules), [&](const Rule& r) {
      return r.kind == d.kind && r.attribute == attribute;
    });
    require(rule != std::end(kRules), kBadParameter, name + " is of another descriptor");
    require(type == rule->type, kWrongType, name + " has another type");
    require(count == 1 || rule->is_list, kBadParameter, name + " is one element");
  }

  const auto* const bytes = static_cast<const char*>(elements);
  d.attributes[attribute] = {
      type, {bytes, bytes + bytes_of(type) * static_cast<size_t>(count)}, count};
}

}  // namespace emulation::cudnn
