// The extension module: the kernels, in each version that this processor can run.
#include "bindings.h"

namespace flagstone {

namespace {

#ifdef FLAGSTONE_X86

// Of every x86-64 processor since 2011; NumPy and pyarrow need newer ones.
bool supports_ssse3() { return __builtin_cpu_supports("ssse3"); }

bool supports_avx2() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
}

bool supports_avx512() {
    return supports_avx2() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") &&
           __builtin_cpu_supports("gfni");
}

#endif

}  // namespace
}  // namespace flagstone

NB_MODULE(_native, module) {
    using namespace flagstone;
    nb::set_leak_warnings(false);  // caches of Python outlive the module
    module.doc() = "Kernels of flagstone, in each version that this processor can run.";
    nb::class_<Kernels> type(module, "Kernels");
    bind_fields(module, type);
    bind_packing(type);
    bind_text(type);
    bind_evidence(type);
#ifdef FLAGSTONE_X86
    if (supports_ssse3()) module.attr("portable") = portable::kernels();
    if (supports_avx2()) module.attr("avx2") = avx2::kernels();
    if (supports_avx512()) module.attr("avx512") = avx512::kernels();
#else
    module.attr("portable") = portable::kernels();
#endif
}
