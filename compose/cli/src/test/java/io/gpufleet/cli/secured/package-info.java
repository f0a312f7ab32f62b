/** Installations with the secrets, users and rights of production. */
@NullMarked
package io.gpufleet.cli.secured;

import org.jspecify.annotations.NullMarked;
