// Protobuf by hand, so that the simulator needs nothing but a C++ compiler: a message is a row of
// fields, each a key (number and wire type) and a payload. Unknown fields are copied untouched.
#include "onnx_bytes.h"

#include <cstdlib>
#include <functional>
#include <string_view>

#include "settings.h"

namespace sim {
namespace {

using Bytes = std::string_view;

// Field numbers from the public onnx.proto.
constexpr int kModelGraph = 7;
constexpr int kGraphNode = 1;
constexpr int kGraphInput = 11;
constexpr int kNodeOperator = 4;
constexpr int kValueName = 1;
constexpr int kValueType = 2;
constexpr int kTypeTensor = 1;
constexpr int kTensorShape = 2;
constexpr int kShapeDim = 1;
constexpr int kDimValue = 1;

enum WireType { kVarint = 0, kFixed64 = 1, kLengthDelimited = 2, kFixed32 = 5 };

struct Field {
  int number;
  int wire_type;
  Bytes whole;    // with its key
  Bytes payload;  // of a length-delimited field

  bool holds(int wanted) const { return number == wanted && wire_type == kLengthDelimited; }
};

class FieldReader {
 public:
  explicit FieldReader(Bytes message) : rest_(message) {}

  // False at the end of the message, and where it is damaged: see intact().
  bool next(Field* field) {
    if (!intact_ || rest_.empty())
      return false;
    const Bytes start = rest_;
    const uint64_t key = varint();
    field->number = static_cast<int>(key >> 3);
    field->wire_type = static_cast<int>(key & 7);
    field->payload = {};
    if (intact_)
      read_value(field);
    field->whole = start.substr(0, start.size() - rest_.size());
    return intact_;
  }

  bool intact() const { return intact_; }

 private:
  void read_value(Field* field) {
    switch (field->wire_type) {
      case kVarint:
        varint();
        break;
      case kFixed64:
        take(8);
        break;
      case kFixed32:
        take(4);
        break;
      case kLengthDelimited: {
        const uint64_t length = varint();
        field->payload = take(length);
        break;
      }
      default:
        intact_ = false;
    }
  }

  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const uint8_t byte = rest_.front();
      rest_.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (!(byte & 0x80))
        return value;
    }
    intact_ = false;
    return 0;
  }

  Bytes take(uint64_t length) {
    if (!intact_ || length > rest_.size()) {
      intact_ = false;
      return {};
    }
    const Bytes taken = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return taken;
  }

  Bytes rest_;
  bool intact_ = true;
};

void append_varint(std::string* message, uint64_t value) {
  while (value > 0x7f) {
    *message += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  *message += static_cast<char>(value);
}

void append_field(std::string* message, int number, Bytes payload) {
  append_varint(message, static_cast<uint64_t>(number) << 3 | kLengthDelimited);
  append_varint(message, payload.size());
  *message += payload;
}

void append_int_field(std::string* message, int number, int64_t value) {
  append_varint(message, static_cast<uint64_t>(number) << 3 | kVarint);
  append_varint(message, static_cast<uint64_t>(value));
}

// Copies a message and replaces the payload of its fields numbered `number`.
std::string with_fields_edited(Bytes message, int number,
                               const std::function<std::string(Bytes)>& edit) {
  std::string edited;
  FieldReader reader(message);
  for (Field field; reader.next(&field);) {
    if (field.holds(number))
      append_field(&edited, number, edit(field.payload));
    else
      edited += field.whole;
  }
  return edited;
}

void read_graph_operators(Bytes graph, std::vector<std::string>* operators) {
  FieldReader nodes(graph);
  for (Field node; nodes.next(&node);) {
    if (!node.holds(kGraphNode))
      continue;
    FieldReader reader(node.payload);
    for (Field field; reader.next(&field);)
      if (field.holds(kNodeOperator))
        operators->emplace_back(field.payload);
  }
}

std::string value_name(Bytes value_info) {
  std::string name;
  FieldReader reader(value_info);
  for (Field field; reader.next(&field);)
    if (field.holds(kValueName))
      name = field.payload;
  return name;
}

std::string shape_message(const std::vector<int64_t>& dims) {
  std::string shape;
  for (int64_t value : dims) {
    std::string dim;
    append_int_field(&dim, kDimValue, value);
    append_field(&shape, kShapeDim, dim);
  }
  return shape;
}

// Not an edit: a tensor type without any shape must get one too.
std::string tensor_type_with_shape(Bytes tensor_type, Bytes shape) {
  std::string edited;
  FieldReader reader(tensor_type);
  for (Field field; reader.next(&field);)
    if (field.number != kTensorShape)
      edited += field.whole;
  append_field(&edited, kTensorShape, shape);
  return edited;
}

std::string input_with_shape(Bytes value_info, const std::vector<NamedShape>& shapes) {
  const std::string name = value_name(value_info);
  for (const NamedShape& wanted : shapes) {
    if (wanted.name != name)
      continue;
    const std::string shape = shape_message(wanted.dims);
    return with_fields_edited(value_info, kValueType, [&](Bytes type) {
      return with_fields_edited(type, kTypeTensor, [&](Bytes tensor_type) {
        return tensor_type_with_shape(tensor_type, shape);
      });
    });
  }
  return std::string(value_info);
}

}  // namespace

bool read_operators(const std::string& model, std::vector<std::string>* operators) {
  bool has_graph = false;
  FieldReader reader(model);
  for (Field field; reader.next(&field);) {
    if (!field.holds(kModelGraph))
      continue;
    has_graph = true;
    read_graph_operators(field.payload, operators);
  }
  return has_graph && reader.intact();
}

std::vector<NamedShape> parse_input_shapes(const std::string& option) {
  std::vector<NamedShape> shapes;
  for (const std::string& item : split(option, ';')) {
    // A tensor's name may hold a colon itself, so the last one separates.
    const size_t colon = item.rfind(':');
    if (colon == std::string::npos)
      continue;
    NamedShape shape{item.substr(0, colon), {}};
    for (const std::string& dim : split(item.substr(colon + 1), ','))
      shape.dims.push_back(atoll(dim.c_str()));
    shapes.push_back(shape);
  }
  return shapes;
}

std::string with_input_shapes(const std::string& model, const std::vector<NamedShape>& shapes) {
  return with_fields_edited(model, kModelGraph, [&](Bytes graph) {
    return with_fields_edited(graph, kGraphInput, [&](Bytes input) {
      return input_with_shape(input, shapes);
    });
  });
}

}  // namespace sim
