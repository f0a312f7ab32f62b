/** The way from NVIDIA's plugin and feature discovery to an installation and back, by the commands of k8s/docs/migration.md. */
@NullMarked
package io.gpufleet.cli.migration;

import org.jspecify.annotations.NullMarked;
