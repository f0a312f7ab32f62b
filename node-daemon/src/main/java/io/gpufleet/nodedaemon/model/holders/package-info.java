/** Containers that hold devices, and processes that use a GPU without an allocation. JDK only. */
@NullMarked
package io.gpufleet.nodedaemon.model.holders;

import org.jspecify.annotations.NullMarked;
