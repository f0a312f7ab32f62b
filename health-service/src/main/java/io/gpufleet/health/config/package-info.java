/** Environment variables and policy files as validated values. */
@NullMarked
package io.gpufleet.health.config;

import org.jspecify.annotations.NullMarked;
