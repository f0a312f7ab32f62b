/** What the manifests of k8s/ have in common, without a cluster. */
@NullMarked
package io.gpufleet.cli.manifests;

import org.jspecify.annotations.NullMarked;
