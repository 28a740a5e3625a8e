// Runs a request (backends/runner/runner.h) on a GPU: checks the outputs of its kernels, then times them, one sample of
// each kernel after the other.
//
//   CudaDevice gpu;
//   RunResult result = RunOnGpu(gpu, request);
//
// Checks. Each kernel runs once on buffers between guards, with outputs that hold a pattern. Guards and inputs must be
// as before, and outputs those of RunRequest::reference or of the field kWantedElementsField (wanted_elements.h). A
// kernel with the field kRepeatedRunsField runs more often, with other inputs, and one with kBlocksPerSmField must have
// that occupancy. Outputs are compared again after the timing. Stress inputs (RunRequest::stress) come last. They are
// left out if a stop rule ended the timing.
//
// Times, if TimingPolicy::runs is above 0. A sample is the time between two events, divided by the number of runs
// between them: as many as take 200 microseconds, but at most about 1000. Runs use copies of the buffers in turn, which
// together are three times the L2 cache if the memory limit and 64 copies allow it. The reference kernel runs before
// the first sample and after the last one; the larger of its two times, divided by ReferenceKernel::seconds, is
// RunResult::slowdown. Samples are not divided by the slowdown. They are quiet if the slowdown is at most 1.1.
// TimingPolicy: warmups, runs, stop_rules, enough_seconds, target_error, max_samples and max_seconds are used. Sampling
// ends after max_seconds even if there are fewer than `runs` samples.
//
// Errors: RunStatus::kCrashed after a fault on the GPU, after which the process must end (CudaDevice::sticky). Requests
// for profiles, and for files of the outputs of stress inputs, are refused. One thread.
#pragma once

#include "backends/gpu/driver/cuda_device.h"
#include "backends/runner/runner.h"

namespace kiln {

RunResult RunOnGpu(CudaDevice& gpu, const RunRequest& request);

}  // namespace kiln
