/** What an installation from the manifests consists of, for the tests that make one on a real cluster; what they do with it stands elsewhere. */
@NullMarked
package io.gpufleet.cli.install;

import org.jspecify.annotations.NullMarked;
