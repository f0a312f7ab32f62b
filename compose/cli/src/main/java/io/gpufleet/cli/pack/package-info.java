/** The installable daemon: Java runtime, jars and AOT cache, as a directory and an archive. */
@NullMarked
package io.gpufleet.cli.pack;

import org.jspecify.annotations.NullMarked;
