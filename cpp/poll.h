// How long computations learn that they should stop.
#pragma once

namespace flagstone {

// Called now and then, without the GIL; true: stop.
using Poll = bool (*)();

}  // namespace flagstone
