/** What the network policies of k8s/ let through, by their rules. */
@NullMarked
package io.gpufleet.cli.network;

import org.jspecify.annotations.NullMarked;
