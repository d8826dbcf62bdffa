// Devices, the device of a thread, and the checks that stand before nearly every call.
#pragma once
#include <cstdint>

namespace sim {

// Devices this process sees. They are numbered from 0; real_device tells which one it is, and
// that number is the one that faults and lost marks name.
int device_count();
int real_device(int device);

// The device of the calling thread, set by aclrtSetDevice in this thread; kNoDevice before.
constexpr int kNoDevice = -1;
int current_device();
void set_current_device(int device);

bool is_lost(int device);

// aclInit and aclFinalize: both answer a code. `calls` counts the initialisations.
int begin_runtime(int* calls);
int end_runtime();
bool runtime_has_begun();

// The code with which this call of an entry point fails before it does anything, or 0: not
// initialised, no device in this thread, device lost or unusable, or a planned fault.
int refusal(const char* function);

// Called for a task that failed in a stream. Under ACLSIM_STICKY=1 the device is then unusable for
// this process, as real devices often are after an AI core exception.
void note_failed_task(int device, int code);

}  // namespace sim
