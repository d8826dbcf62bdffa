// Finds ONNX Runtime next to the provider that loaded this library, so that the CPU stand-in and
// the provider under test are always of one release.
#include "ort_library.h"

#include <dirent.h>
#include <dlfcn.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "settings.h"

namespace sim {
namespace {

constexpr int kLogFatalOnly = 4;
// Old enough for every wheel that has the provider.
constexpr uint32_t kApiVersion = 12;

struct ApiBase {
  const void* const* (*GetApi)(uint32_t version);
  const char* (*GetVersionString)();
};

// The folder of the provider that loaded this library, from the process's memory map.
std::string provider_folder() {
  FILE* maps = fopen("/proc/self/maps", "r");
  if (!maps)
    return "";
  std::string folder;
  char line[4096];
  while (folder.empty() && fgets(line, sizeof line, maps)) {
    const char* path = strchr(line, '/');
    if (!path)
      continue;
    if (strstr(path, "libonnxruntime_providers_") || strstr(path, "onnxruntime_pybind11_state"))
      folder.assign(path, strrchr(path, '/'));
  }
  fclose(maps);
  return folder;
}

std::string find_library() {
  const char* given = setting("ACLSIM_ORT_LIB", "");
  if (*given)
    return given;
  const std::string folder = provider_folder();
  DIR* entries = folder.empty() ? nullptr : opendir(folder.c_str());
  if (!entries)
    return "";
  std::string found;
  while (const dirent* entry = readdir(entries))
    if (std::string(entry->d_name).rfind("libonnxruntime.so", 0) == 0)
      found = folder + "/" + entry->d_name;
  closedir(entries);
  return found;
}

}  // namespace

bool OrtLibrary::load() {
  const std::string path = find_library();
  void* library = path.empty() ? nullptr : dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    error_ = "no ONNX Runtime library: " + path;
    return false;
  }
  const auto get_base = reinterpret_cast<const ApiBase* (*)()>(dlsym(library, "OrtGetApiBase"));
  functions_ = get_base ? get_base()->GetApi(kApiVersion) : nullptr;
  if (!functions_) {
    error_ = "no ONNX Runtime C API in " + path;
    return false;
  }
  const int arena_allocator = 0;
  const int default_memory = 0;
  return call(OrtFunction::CreateEnv, kLogFatalOnly, "aclsim", &environment_) &&
         call(OrtFunction::CreateCpuMemoryInfo, arena_allocator, default_memory, &cpu_memory_) &&
         call(OrtFunction::GetAllocatorWithDefaultOptions, &allocator_);
}

bool OrtLibrary::succeeded(void* status) {
  if (!status)
    return true;
  error_ = invoke<const char*>(OrtFunction::GetErrorMessage, status);
  release(OrtFunction::ReleaseStatus, status);
  return false;
}

OrtLibrary* OrtLibrary::instance() {
  static std::mutex mutex;
  static OrtLibrary* library = nullptr;
  static bool usable = false;
  static pid_t owner = 0;
  std::lock_guard<std::mutex> lock(mutex);
  // The threads of an environment do not survive a fork, so a child makes its own.
  if (!library || owner != getpid()) {
    library = new OrtLibrary;
    owner = getpid();
    usable = library->load();
    if (!usable)
      fprintf(stderr, "aclsim: %s\n", library->error().c_str());
  }
  return usable ? library : nullptr;
}

}  // namespace sim
