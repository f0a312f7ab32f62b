/** Start of a process with one-line errors, shutdown in reverse order, and the version of the build. */
@NullMarked
package io.gpufleet.kit.lifecycle;

import org.jspecify.annotations.NullMarked;
