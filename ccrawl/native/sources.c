/* Which sources the library was made from. */
#include "native.h"

#ifndef CCRAWL_SOURCES
#error "compiling.py defines CCRAWL_SOURCES"
#endif

EXPORTED uint32_t ccrawl_sources(void) { return CCRAWL_SOURCES; }
