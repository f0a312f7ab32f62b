/** The pages of the documentation against the files, programs and commands that they name. */
@NullMarked
package io.gpufleet.cli.pages;

import org.jspecify.annotations.NullMarked;
