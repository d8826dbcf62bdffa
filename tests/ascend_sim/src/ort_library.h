// The ONNX Runtime that ships in the same wheel as the provider, through its C API.
#pragma once
#include <string>
#include <utility>

namespace sim {

// The C API is a table of functions that only ever grows at its end, so a number stands for the
// same function in every release and no header is needed. All of these are in the first version.
enum class OrtFunction : int {
  GetErrorMessage = 2,
  CreateEnv = 3,
  CreateSessionFromArray = 8,
  Run = 9,
  CreateSessionOptions = 10,
  SetSessionGraphOptimizationLevel = 23,
  SetIntraOpNumThreads = 24,
  SessionGetInputCount = 30,
  SessionGetOutputCount = 31,
  SessionGetInputTypeInfo = 33,
  SessionGetOutputTypeInfo = 34,
  SessionGetInputName = 36,
  SessionGetOutputName = 37,
  CreateTensorWithDataAsOrtValue = 49,
  GetTensorMutableData = 51,
  CastTypeInfoToTensorInfo = 55,
  GetTensorElementType = 60,
  GetDimensionsCount = 61,
  GetDimensions = 62,
  GetTensorTypeAndShape = 65,
  CreateCpuMemoryInfo = 69,
  AllocatorFree = 76,
  GetAllocatorWithDefaultOptions = 78,
  ReleaseStatus = 93,
  ReleaseSession = 95,
  ReleaseValue = 96,
  ReleaseTypeInfo = 98,
  ReleaseTensorTypeAndShapeInfo = 99,
  ReleaseSessionOptions = 100,
};

class OrtLibrary {
 public:
  // The library of this process, made at first use; nullptr where it cannot be loaded.
  static OrtLibrary* instance();

  // Calls a function that answers a status (nearly all do). False when it failed: see error().
  template <class... Arguments>
  bool call(OrtFunction function, Arguments... arguments) {
    return succeeded(invoke<void*>(function, arguments...));
  }

  // Calls a function that answers nothing.
  template <class... Arguments>
  void release(OrtFunction function, Arguments... arguments) {
    invoke<void>(function, arguments...);
  }

  void* environment() const { return environment_; }
  void* cpu_memory() const { return cpu_memory_; }
  void* allocator() const { return allocator_; }
  const std::string& error() const { return error_; }

 private:
  bool load();
  bool succeeded(void* status);

  // The argument types given are the function's own: nothing checks them.
  template <class Result, class... Arguments>
  Result invoke(OrtFunction function, Arguments... arguments) {
    using Pointer = Result (*)(Arguments...);
    void* address = const_cast<void*>(functions_[static_cast<int>(function)]);
    return reinterpret_cast<Pointer>(address)(arguments...);
  }

  const void* const* functions_ = nullptr;
  void* environment_ = nullptr;
  void* cpu_memory_ = nullptr;
  void* allocator_ = nullptr;
  std::string error_;
};

}  // namespace sim
