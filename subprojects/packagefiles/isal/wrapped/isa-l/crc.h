#include "../../src/isal/isa-l/include/crc.h"
