// Failures on purpose: the plans of ACLSIM_FAULT and the devices that ACLSIM_LOST_FILE names.
#pragma once

namespace sim {

// Counts this call of `function` and does what ACLSIM_FAULT plans for it: may sleep, hang or end
// the process. Returns the planned code, or 0. `device` is the number of the real device.
//
// Besides the entry points these names can be planned for: task.exec and task.memcpy (work queued
// in a stream, so the code shows up at the next synchronise, as on hardware) and device.lost
// (from there on every call on that device fails).
int planned_fault(const char* function, int device = -1);

// Whether $ACLSIM_LOST_FILE exists and holds this device's number, or nothing, which means all.
bool marked_lost(int device);

}  // namespace sim
