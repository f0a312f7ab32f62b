/** Environment and policy files to validated values. */
@NullMarked
package io.gpufleet.health.config;

import org.jspecify.annotations.NullMarked;
