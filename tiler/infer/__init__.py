"""The door to ONNX: models, the runtime that runs them, and sessions on devices."""
