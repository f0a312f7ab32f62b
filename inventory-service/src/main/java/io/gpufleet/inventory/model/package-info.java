/** The fleet as an immutable image, what changes it, the labels that follow from it; JDK only, told the time. */
@NullMarked
package io.gpufleet.inventory.model;

import org.jspecify.annotations.NullMarked;
