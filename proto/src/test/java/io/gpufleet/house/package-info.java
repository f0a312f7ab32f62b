/** The walls of the house, run by every module over its own classes. */
@NullMarked
package io.gpufleet.house;

import org.jspecify.annotations.NullMarked;
