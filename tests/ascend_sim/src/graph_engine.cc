// Entry points in C++ (namespace ge): parsing an ONNX model, compiling it, saving what came out.
//
// Functions of the provider are compiled against the real classes, so these must have the same
// layout, and copies and destructors that are inlined there must fit: each is one shared_ptr.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "codes.h"
#include "faults.h"
#include "om_file.h"
#include "onnx_bytes.h"
#include "report.h"
#include "settings.h"

#define GE_API __attribute__((visibility("default")))

namespace ge {

using graphStatus = uint32_t;

class GE_API AscendString {
 public:
  AscendString(const char* text);
  bool operator<(const AscendString& other) const;

  const char* text() const { return text_ ? text_->c_str() : ""; }

 private:
  std::shared_ptr<std::string> text_;
};

AscendString::AscendString(const char* text) {
  if (text)
    text_ = std::make_shared<std::string>(text);
}

bool AscendString::operator<(const AscendString& other) const {
  if (!text_ || !other.text_)
    return !text_ && other.text_;
  return *text_ < *other.text_;
}

struct GraphImpl {
  std::string name;
  std::string onnx;
};

class GE_API Graph {
 public:
  explicit Graph(const char* name);

  std::shared_ptr<GraphImpl> impl;
};

Graph::Graph(const char* name) : impl(std::make_shared<GraphImpl>()) {
  impl->name = name ? name : "";
}

struct ModelBufferData {
  std::shared_ptr<uint8_t> data;
  uint64_t length;
};

using Options = std::map<AscendString, AscendString>;

namespace {

constexpr int kFailed = 1;  // in the trace, for a failure that no plan gave a code to

std::mutex mutex;
bool initialized = false;
std::string global_options;

std::string joined(const Options& options) {
  std::string text;
  for (const auto& [name, value] : options) {
    if (!text.empty())
      text += ' ';
    text += std::string(name.text()) + "=" + value.text();
  }
  return text;
}

std::string option(const Options& options, const char* name) {
  const auto found = options.find(name);
  return found == options.end() ? "" : found->second.text();
}

graphStatus status_of(int code) {
  return code ? sim::kGraphFailed : 0;
}

// An operator of ACLSIM_BUILD_REJECT that the model holds, or nothing. Stands for one that the
// provider's own list lets through and the real compiler cannot build.
std::string rejected_operator(const std::string& onnx) {
  const auto rejected = sim::split(sim::setting("ACLSIM_BUILD_REJECT", ""), ',');
  std::vector<std::string> operators;
  sim::read_operators(onnx, &operators);
  for (const std::string& op : operators)
    if (std::find(rejected.begin(), rejected.end(), op) != rejected.end())
      return op;
  return "";
}

// Why this model cannot be compiled; empty when it can.
std::string reason_to_refuse(const Graph& graph) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!initialized)
      return "not initialised";
  }
  const std::string op = rejected_operator(graph.impl->onnx);
  if (op.empty())
    return "";
  return "EZ3003: No supported Ops kernel and engine are found for [" + op + "]";
}

std::string compile(const Graph& graph, const std::string& input_shape) {
  sim::OmContents contents;
  contents.soc = sim::soc_name();
  contents.input_shape = input_shape;
  contents.onnx = sim::with_input_shapes(graph.impl->onnx, sim::parse_input_shapes(input_shape));
  std::lock_guard<std::mutex> lock(mutex);
  contents.compiler_options = global_options;
  return sim::pack_om(contents);
}

ModelBufferData buffer_of(const std::string& om) {
  std::shared_ptr<uint8_t> bytes(new uint8_t[om.size()], std::default_delete<uint8_t[]>());
  memcpy(bytes.get(), om.data(), om.size());
  return {bytes, om.size()};
}

// In place and, with ACLSIM_SAVE_MS, in ten slow pieces: another process can then read a file that
// is not whole, as it can with the real compiler.
bool write_slowly(const std::string& path, const ModelBufferData& model) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0)
    return false;
  const long long milliseconds = sim::setting_number("ACLSIM_SAVE_MS", 0);
  const uint64_t piece = milliseconds ? model.length / 10 + 1 : model.length;
  bool written = true;
  for (uint64_t done = 0; written && done < model.length; done += piece) {
    const uint64_t size = std::min(piece, model.length - done);
    written = write(file, model.data.get() + done, size) == static_cast<ssize_t>(size);
    sim::sleep_ms(milliseconds / 10);
  }
  close(file);
  return written;
}

}  // namespace

// Once per process, with the options of whichever session compiles first.
GE_API graphStatus aclgrphBuildInitialize(Options& options) {
  const int code = sim::planned_fault("aclgrphBuildInitialize");
  const std::string text = joined(options);
  if (!code) {
    std::lock_guard<std::mutex> lock(mutex);
    initialized = true;
    global_options = text;
  }
  sim::trace("aclgrphBuildInitialize", code, "\"options\":\"%s\"", sim::json_escaped(text).c_str());
  return status_of(code);
}

GE_API void aclgrphBuildFinalize() {
  std::lock_guard<std::mutex> lock(mutex);
  initialized = false;
  sim::trace("aclgrphBuildFinalize", 0);
}

GE_API graphStatus aclgrphParseONNXFromMem(const char* bytes, size_t size, const Options&,
                                           Graph& graph) {
  const std::string onnx(bytes, size);
  std::vector<std::string> operators;
  int code = sim::planned_fault("aclgrphParseONNXFromMem");
  if (!code && !sim::read_operators(onnx, &operators))
    code = kFailed;
  if (!code)
    graph.impl->onnx = onnx;
  sim::trace("aclgrphParseONNXFromMem", code, "\"graph\":\"%s\",\"bytes\":%zu,\"nodes\":%zu",
             sim::json_escaped(graph.impl->name).c_str(), size, operators.size());
  return status_of(code);
}

GE_API graphStatus aclgrphBuildModel(const Graph& graph, const Options& options,
                                     ModelBufferData& model) {
  int code = sim::planned_fault("aclgrphBuildModel");
  std::string reason = code ? "planned build failure" : "";
  sim::sleep_ms(sim::setting_number("ACLSIM_BUILD_MS", 0));
  if (!code) {
    reason = reason_to_refuse(graph);
    code = reason.empty() ? 0 : kFailed;
  }
  const std::string input_shape = option(options, "input_shape");
  std::string om;
  if (code) {
    sim::set_error_text("[aclsim] %s", reason.c_str());
  } else {
    om = compile(graph, input_shape);
    model = buffer_of(om);
  }
  sim::trace("aclgrphBuildModel", code,
             "\"graph\":\"%s\",\"input_shape\":\"%s\",\"options\":\"%s\",\"om_bytes\":%zu",
             sim::json_escaped(graph.impl->name).c_str(), sim::json_escaped(input_shape).c_str(),
             sim::json_escaped(joined(options)).c_str(), om.size());
  return status_of(code);
}

GE_API graphStatus aclgrphSaveModel(const char* file, const ModelBufferData& model) {
  const std::string path = std::string(file) + ".om";
  int code = sim::planned_fault("aclgrphSaveModel");
  if (!code && !write_slowly(path, model))
    code = kFailed;
  sim::trace("aclgrphSaveModel", code, "\"file\":\"%s\",\"bytes\":%llu",
             sim::json_escaped(path).c_str(), static_cast<unsigned long long>(model.length));
  return status_of(code);
}

}  // namespace ge
