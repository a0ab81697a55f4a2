// Cudnn.h: what is called of cuDNN, NVIDIA's convolutions: its graph interface, from version 9 on.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <string>

// Declared here as Note [Declared libraries] says; tests/cuda/test_cudnn.py compares the
// enumerators with the headers where these are installed.

namespace c10::cuda::cudnn {

using Handle = struct HandleObject*;
using Descriptor = struct DescriptorObject*;
using Status = int;

inline constexpr Status kSuccess = 0;
inline constexpr size_t kOldestVersion = 90000;

/// cudnnBackendDescriptorType_t
enum class Kind : int {
  Pointwise = 0,
  Convolution = 1,
  Engine = 2,
  EngineConfiguration = 3,
  EngineHeuristic = 4,
  Plan = 5,
  Forward = 10,
  BackwardFilter = 11,
  BackwardData = 12,
  PointwiseOperation = 13,
  Graph = 15,
  VariantPack = 16,
  Tensor = 17,
};

/// cudnnBackendAttributeName_t
enum class Attribute : int {
  PointwiseMode = 0,
  PointwisePrecision = 1,
  ConvolutionComputeType = 100,
  ConvolutionMode = 101,
  ConvolutionDilations = 102,
  ConvolutionStrides = 103,
  ConvolutionPaddingsAfter = 104,
  ConvolutionPaddingsBefore = 105,
  ConvolutionSpatialDims = 106,

  HeuristicMode = 200,
  HeuristicGraph = 201,
  HeuristicResults = 202,
  ConfigurationEngine = 300,
  PlanHandle = 400,
  PlanConfiguration = 401,
  PlanWorkspaceSize = 402,

  ForwardAlpha = 700,
  ForwardBeta = 701,
  ForwardConvolution = 702,
  ForwardW = 703,
  ForwardX = 704,
  ForwardY = 705,
  BackwardDataAlpha = 706,
  BackwardDataBeta = 707,
  BackwardDataConvolution = 708,
  BackwardDataW = 709,
  BackwardDataDx = 710,
  BackwardDataDy = 711,
  BackwardFilterAlpha = 712,
  BackwardFilterBeta = 713,
  BackwardFilterConvolution = 714,
  BackwardFilterDw = 715,
  BackwardFilterX = 716,
  BackwardFilterDy = 717,
  PointwiseOperationPointwise = 750,
  PointwiseOperationX = 751,
  PointwiseOperationB = 752,
  PointwiseOperationY = 753,

  GraphHandle = 800,
  GraphOperations = 801,
  TensorAlignment = 900,
  TensorDataType = 901,
  TensorDimensions = 902,
  TensorStrides = 903,
  TensorUniqueId = 906,
  TensorIsVirtual = 907,
  PackUniqueIds = 1000,
  PackPointers = 1001,
  PackWorkspace = 1003,
  EngineIndex = 1301,
  EngineNumericalNotes = 1303,
};

/// What an attribute's elements are; cudnnBackendAttributeType_t.
enum class Type : int {
  Handle = 0,
  DataType = 1,
  Boolean = 2,
  Int64 = 3,
  Float = 4,
  Double = 5,
  Pointer = 6,
  ConvolutionMode = 7,
  HeuristicMode = 8,
  NumericalNote = 11,
  PointwiseMode = 14,
  Descriptor = 15,
};

/// The type of a tensor's elements, or of sums; cudnnDataType_t.
enum class DataType : int { Float = 0, Double = 1, Half = 2, BFloat16 = 9 };

/// Neural networks do not turn filters around; cudnnConvolutionMode_t.
enum class ConvolutionMode : int { CrossCorrelation = 1 };

/// A function of elements; cudnnPointwiseMode_t.
enum class PointwiseMode : int { Add = 0 };

/// How engines are ranked; cudnnBackendHeurMode_t.
enum class HeuristicMode : int { B = 1, A = 3 };

/// What an engine does to numbers; cudnnBackendNumericalNote_t.
enum class Note : int {
  TensorCore = 0,
  DownConvertInputs = 1,
  ReducedPrecisionReduction = 2,
  Fft = 3,
  Nondeterministic = 4,
  Winograd = 5,
  WinogradTile4x4 = 6,
  WinogradTile6x6 = 7,
  WinogradTile13x13 = 8,
};

/// More notes than any version knows.
inline constexpr int64_t kMostNotes = 32;

/// The functions, with the names of the library without `cudnn` and `cudnnBackend`.
struct Functions {
  size_t (*version)();
  const char* (*error_string)(Status);
  void (*last_error_string)(char* message, size_t size);
  Status (*create)(Handle*);
  Status (*set_stream)(Handle, cudaStream_t);

  Status (*create_descriptor)(Kind, Descriptor*);
  Status (*destroy_descriptor)(Descriptor);
  Status (*set_attribute)(Descriptor, Attribute, Type, int64_t count, const void* elements);
  Status (*get_attribute)(Descriptor, Attribute, Type, int64_t wanted, int64_t* count,
                          void* elements);
  Status (*finalize)(Descriptor);
  Status (*execute)(Handle, Descriptor plan, Descriptor pack);
};

/// Opens the library when it is called first. Null if it is not installed or too old.
const Functions* functions();
/// Why functions() is null; empty otherwise.
const std::string& absence();

/// The calling thread's handle for the current device, with the device's current stream. Handles
/// are not shared between threads.
Handle handle();

/// Throws c10::Error with the library's name for the status and its message, unless it is success.
void check(Status status, const char* call);

}  // namespace c10::cuda::cudnn
