// The extension module: a submodule for each version of the kernels that this processor can run.
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

void add_version(nb::module_ &module, const char *name, const Kernels &kernels) {
    nb::module_ version = module.def_submodule(name);
    bind_fields(version, kernels);
    bind_packing(version, kernels);
    bind_text(version, kernels);
    bind_evidence(version);
}

}  // namespace
}  // namespace flagstone

NB_MODULE(_native, module) {
    using namespace flagstone;
    nb::set_leak_warnings(false);  // caches of Python outlive the module
    module.doc() =
        "Kernels of flagstone: a submodule for each version that this processor can run.";
#ifdef FLAGSTONE_X86
    if (supports_ssse3()) add_version(module, "portable", portable::kernels());
    if (supports_avx2()) add_version(module, "avx2", avx2::kernels());
    if (supports_avx512()) add_version(module, "avx512", avx512::kernels());
#else
    add_version(module, "portable", portable::kernels());
#endif
}
