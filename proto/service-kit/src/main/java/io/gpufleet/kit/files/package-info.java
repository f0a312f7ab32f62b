/** Notification of changes in a directory, and atomic replacement of a file. */
@NullMarked
package io.gpufleet.kit.files;

import org.jspecify.annotations.NullMarked;
