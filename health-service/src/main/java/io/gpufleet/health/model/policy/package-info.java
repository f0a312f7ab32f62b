/** Policy packs: which rule applies to which fault. The {@code config} package reads a pack from YAML. */
@NullMarked
package io.gpufleet.health.model.policy;

import org.jspecify.annotations.NullMarked;
