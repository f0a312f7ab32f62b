/** The local fleet: starts every part as a process, injects faults, shows events; test bench and benchmarks. */
@NullMarked
package io.gpufleet.compose;

import org.jspecify.annotations.NullMarked;
