/** The manifests of k8s/ and the schemas of Kubernetes. */
@NullMarked
package io.gpufleet.cli.schema;

import org.jspecify.annotations.NullMarked;
