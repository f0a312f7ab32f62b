/** Tests of the manifests and of an installation from them. */
@NullMarked
package io.gpufleet.cli.install;

import org.jspecify.annotations.NullMarked;
