/** Architecture rules that every module checks over its own classes. */
@NullMarked
package io.gpufleet.architecture;

import org.jspecify.annotations.NullMarked;
