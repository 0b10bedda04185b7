#include "../../src/isal/isa-l/include/igzip_lib.h"
