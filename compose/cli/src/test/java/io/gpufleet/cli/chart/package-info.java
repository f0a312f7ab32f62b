/** The Helm chart, which is made from the kustomize base and compared with it. */
@NullMarked
package io.gpufleet.cli.chart;

import org.jspecify.annotations.NullMarked;
