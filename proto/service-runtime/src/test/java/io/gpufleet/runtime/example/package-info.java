/** The example of the README. */
@NullMarked
package io.gpufleet.runtime.example;

import org.jspecify.annotations.NullMarked;
