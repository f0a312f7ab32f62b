/** The life of one installation from the manifests on a real cluster, step by step; what an installation is stands in {@code install}. */
@NullMarked
package io.gpufleet.cli.lifecycle;

import org.jspecify.annotations.NullMarked;
