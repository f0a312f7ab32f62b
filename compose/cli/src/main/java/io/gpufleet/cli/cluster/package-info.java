/** Operations of the command line on the Kubernetes API. */
@NullMarked
package io.gpufleet.cli.cluster;

import org.jspecify.annotations.NullMarked;
