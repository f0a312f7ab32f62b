/** Comparison of the records that tests produce with the published contract. */
@NullMarked
package io.gpufleet.testbed.testkit.contract;

import org.jspecify.annotations.NullMarked;
