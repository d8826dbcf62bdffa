// Reads and edits the bytes of an ONNX model, as far as a stand-in compiler needs it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace sim {

// The operator of every node, in order. Returns false when the bytes are not an ONNX model.
bool read_operators(const std::string& model, std::vector<std::string>* operators);

struct NamedShape {
  std::string name;
  std::vector<int64_t> dims;
};

// The shapes of a compiler option such as "a:1,4,768,768;b:2".
std::vector<NamedShape> parse_input_shapes(const std::string& option);

// The model with the shapes of its graph inputs fixed. A compiled model is made for one shape;
// with fixed inputs ONNX Runtime infers fixed output shapes, which the runtime is asked for.
std::string with_input_shapes(const std::string& model, const std::vector<NamedShape>& shapes);

}  // namespace sim
