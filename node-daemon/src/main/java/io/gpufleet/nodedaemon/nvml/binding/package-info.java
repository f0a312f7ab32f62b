/** Bare mirror of nvml.h through jnr-ffi: its names, constants and layouts; nullness is the library's to state. */
@NullUnmarked
package io.gpufleet.nodedaemon.nvml.binding;

import org.jspecify.annotations.NullUnmarked;
