/** Tests of the alerts and dashboards of {@code k8s/components/monitoring}. */
@NullMarked
package io.gpufleet.cli.monitoring;

import org.jspecify.annotations.NullMarked;
