/** Mirror of nvml.h through jnr-ffi: its names, constants and layouts, without logic. */
@NullUnmarked
package io.gpufleet.nodedaemon.nvml.binding;

import org.jspecify.annotations.NullUnmarked;
